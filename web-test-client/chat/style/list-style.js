/** The style of the list of the messages. */
export const LIST_STYLE = `
/* The chat */

.messages-frame {
  position: relative;
  flex: 1;
  min-height: 0;
}

.messages-scroll {
  position: relative;
  display: flex;
  flex-direction: column;
  height: 100%;
  overflow-y: auto;
  padding: 1em;
  overscroll-behavior: contain;
  /* The list keeps its place by itself. */
  overflow-anchor: none;
}

/* Where the newest message is while the list is at its end. */
.list-end {
  position: absolute;
  inset: auto 0 0;
  height: 2em;
  max-height: 100%;
  pointer-events: none;
}

.messages-scroll:focus-visible {
  outline-offset: -3px;
  border-radius: var(--radius);
}

.messages {
  margin-top: auto;
}

.earlier-line {
  font-size: max(11px, 0.813em);
  text-align: center;
}

.earlier-line .link:not([hidden]) {
  display: inline-block;
  padding: 0.492em 0.985em;
}

.earlier-line [aria-disabled="true"] {
  color: var(--ink-soft);
  cursor: default;
  text-decoration: none;
}

/* The browser skips a block outside the view: its layout, its style, and its painting. */
.block.sealed {
  content-visibility: auto;
}

.dropped {
  margin: 0 auto 1.23em;
  padding: 0.369em 0.985em;
  border-radius: 1.23em;
  background: var(--raised);
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
  text-align: center;
}

.empty {
  display: grid;
  gap: 0.25em;
  margin: auto;
  padding: 1em;
  color: var(--ink-soft);
  text-align: center;
}
`;
