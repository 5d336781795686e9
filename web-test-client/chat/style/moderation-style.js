/** The style of guests, restrictions, menus and questions. */
export const MODERATION_STYLE = `
.name-mark {
  flex: none;
  border: 1px solid var(--line);
  border-radius: 1em;
  padding: 0 0.6em;
  color: var(--ink-soft);
  font-size: max(11px, 0.857em);
  line-height: 1.35;
}

.short .name-mark {
  display: none;
}

.restriction {
  grid-column: 1 / -1;
  border-radius: 10px;
  padding: 0.571em 0.857em;
  background: var(--raised);
  color: var(--ink);
  font-size: max(11px, 0.875em);
  overflow-wrap: anywhere;
}

.restriction:empty {
  display: none;
}

button.plain {
  background: var(--raised);
  border-color: var(--line);
}

button.plain:hover:enabled {
  border-color: var(--ink-soft);
}

button.primary.danger {
  background: var(--danger);
  color: var(--surface);
}

button.primary.danger:hover:enabled {
  background: color-mix(in srgb, var(--danger) 85%, var(--ink));
}

/*
 * The buttons at a message show where the pointer or the keyboard is. They give way to the text, and lie over it where
 * there is no space beside it.
 */
.toolbar {
  position: relative;
  display: flex;
  flex: 0 1000 auto;
  justify-content: flex-end;
  align-self: flex-start;
  min-width: 0;
  margin: -0.4em -0.3em -2em;
  opacity: 0;
  pointer-events: none;
}

/* Beside the bubble, and not beside what is above it. */
.row:not(.short) .toolbar {
  margin-top: 1em;
}

.row.sent .toolbar {
  order: -1;
  justify-content: flex-start;
}

.row:hover .toolbar,
.row.chosen .toolbar,
.toolbar:has(:focus-visible, [aria-expanded="true"]) {
  opacity: 1;
  pointer-events: auto;
}

.toolbar button {
  flex: none;
  width: 2.25em;
  height: 2.25em;
  border-radius: 50%;
  padding: 0;
  background: var(--surface);
  color: var(--ink-soft);
  line-height: 1;
}

.toolbar .react {
  font-size: 1.25em;
  width: 1.8em;
  height: 1.8em;
}

.toolbar button:hover,
.toolbar button[aria-expanded="true"] {
  background: var(--raised);
  color: var(--ink);
}

@container (max-width: 30em) {
  .toolbar,
  .row:not(.short) .toolbar {
    margin-top: -0.9em;
  }
}

/* Fingers have neither a pointer nor a keyboard. The menu has the other commands. */
@media (hover: none) {
  .toolbar,
  .row:is(:hover, .chosen) .toolbar {
    flex: none;
    align-self: end;
    margin: 0 -0.6em;
    opacity: 0.6;
    pointer-events: auto;
  }

  .toolbar button {
    width: 2.75em;
    height: 2.75em;
    /* As high as a message of one line. */
    margin-block: -0.2em;
    background: none;
  }

  .toolbar :is(.react, .reply) {
    display: none;
  }
}

.action-menu {
  inset: auto;
  margin: 0;
  min-width: 12em;
  max-width: calc(100vw - 1em);
  max-height: calc(100vh - 8px);
  max-height: calc(100dvh - 8px);
  overflow-y: auto;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.3em;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
}

.action-menu button {
  display: block;
  width: 100%;
  min-height: 2.5em;
  background: none;
  overflow-wrap: anywhere;
  text-align: start;
  white-space: normal;
}

.action-menu button:hover,
.action-menu button:focus-visible {
  background: var(--raised);
}

.action-menu button.danger {
  color: var(--danger);
}

.question {
  width: min(26em, calc(100vw - 2em));
  border: 1px solid var(--line);
  border-radius: var(--radius);
  padding: 1.25em;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
}

.question::backdrop {
  background: rgb(0 0 0 / 40%);
}

.question h3 {
  margin: 0;
  font-size: 1.06em;
  overflow-wrap: anywhere;
}

.question p {
  margin: 0.5em 0 0;
  color: var(--ink-soft);
  overflow-wrap: anywhere;
}

.question-line {
  display: grid;
  gap: 0.343em;
  margin-top: 1.14em;
  font-size: max(11px, 0.875em);
}

.question-line input {
  width: 100%;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.5em 0.7em;
  background: var(--raised);
  color: inherit;
  font: inherit;
  font-size: 1.14em;
}

.question-check {
  display: flex;
  gap: 0.686em;
  align-items: baseline;
  margin-top: 1.03em;
  font-size: max(11px, 0.875em);
}

.question-buttons {
  display: flex;
  flex-wrap: wrap;
  gap: 0.6em;
  justify-content: flex-end;
  margin-top: 1.25em;
}
`;
