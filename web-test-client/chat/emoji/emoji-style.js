/** The style of the emoji and of the suggestions. */
export const EMOJI_STYLE = `
.emoji-panel {
  inset: auto;
  margin: 0;
  width: min(22em, calc(100vw - 12px));
  max-height: min(24em, calc(100vh - 12px));
  border: 1px solid var(--line);
  border-radius: 12px;
  padding: 0;
  overflow: hidden;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
}

.emoji-panel:popover-open {
  display: flex;
  flex-direction: column;
}

.emoji-top {
  display: grid;
  flex: none;
  gap: 0.4em;
  padding: 0.6em;
  border-bottom: 1px solid var(--line);
}

.emoji-search {
  width: 100%;
  border: 1px solid var(--line);
  border-radius: 8px;
  padding: 0.45em 0.7em;
  background: var(--raised);
  color: inherit;
  font: inherit;
}

.emoji-tones {
  display: flex;
  gap: 0.15em;
}

.emoji-tones button {
  border-radius: 8px;
  padding: 0.1em 0.35em;
  background: none;
  font-size: 1.1em;
}

.emoji-tones [aria-checked="true"] {
  border-color: var(--accent);
}

.emoji-list {
  display: grid;
  gap: 0.5em;
  min-height: 4em;
  padding: 0.5em 0.6em 0.6em;
  overflow-y: auto;
  overscroll-behavior: contain;
}

.emoji-group {
  position: static;
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(2.1em, 1fr));
}

.emoji-group [role="option"] {
  display: grid;
  place-items: center;
  height: 1.55em;
  border-radius: 8px;
  font-size: 1.4em;
  line-height: 1;
  cursor: pointer;
  user-select: none;
}

.emoji-group [role="option"]:hover {
  background: var(--other);
}

.emoji-group [role="option"]:focus-visible {
  outline-offset: -2px;
}

.emoji-none:not(:empty) {
  padding: 1.2em;
  color: var(--ink-soft);
  text-align: center;
}

.composer {
  position: relative;
}

.emoji-suggestions {
  position: absolute;
  z-index: 3;
  inset-inline: 1em auto;
  bottom: calc(100% + 0.2em);
  min-width: 12em;
  max-width: calc(100% - 2em);
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.25em;
  background: var(--surface);
  box-shadow: var(--shadow);
}

.emoji-suggestions [role="option"] {
  overflow: hidden;
  border-radius: 7px;
  padding: 0.3em 0.6em;
  text-overflow: ellipsis;
  white-space: nowrap;
  cursor: pointer;
}

.emoji-suggestions [aria-selected="true"] {
  background: var(--own);
}
`;
