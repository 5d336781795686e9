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
  padding: 1rem;
  overscroll-behavior: contain;
}

.messages-scroll:focus-visible {
  outline-offset: -3px;
  border-radius: var(--radius);
}

.messages {
  margin-top: auto;
}

/* The list scrolls itself to its end. The browser would keep a row above the end in its place. */
.messages-scroll.pinned {
  overflow-anchor: none;
}

/* Messages are inserted above the view, and the list keeps its place by itself. */
.messages-scroll.loads {
  overflow-anchor: none;
}

.earlier-line {
  font-size: 0.8125rem;
  text-align: center;
}

.earlier-line .link:not([hidden]) {
  display: inline-block;
  padding: 0.4rem 0.8rem;
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
  margin: 0 auto 1rem;
  padding: 0.3rem 0.8rem;
  border-radius: 1rem;
  background: var(--raised);
  color: var(--ink-soft);
  font-size: 0.8125rem;
  text-align: center;
}

.empty {
  display: grid;
  gap: 0.25rem;
  margin: auto;
  padding: 1rem;
  color: var(--ink-soft);
  text-align: center;
}
`;
