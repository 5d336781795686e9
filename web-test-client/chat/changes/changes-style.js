/** The style of the part that changes and answers messages. */
export const CHANGES_STYLE = `
.row.deleting {
  opacity: 0.5;
}

.edited {
  padding: 0.1em 0.25em 0;
  color: var(--ink-soft);
  font-size: max(11px, 0.75em);
  line-height: 1.3;
}

.quote {
  display: flex;
  min-width: 0;
  max-width: 100%;
  margin-bottom: 0.2em;
  border: 0;
  border-inline-start: 3px solid var(--accent);
  border-radius: 4px;
  padding: 0.2em 0.6em;
  background: var(--raised);
  color: var(--ink-soft);
  font-size: max(11px, 0.875em);
  line-height: 1.35;
  text-align: start;
}

/* A text ends where it is cut, in the direction in which it is written. */
.quote-line,
.reply-line {
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

p.quote,
.quote[data-state="earlier"] {
  font-style: italic;
}

p.quote {
  border-color: var(--line);
}

button.quote:hover {
  background: var(--line);
  color: var(--ink);
}

.quote-name,
.reply-name {
  flex: none;
  max-width: 60%;
  overflow: hidden;
  margin-inline-end: 0.5em;
  color: var(--ink);
  font-weight: 600;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.row.found .bubble {
  box-shadow: inset 0 0 0 2px var(--accent);
}

.row.editing .row-body {
  flex: 1;
  justify-items: stretch;
}

.row.editing :is(.bubble, .bubble-line, .edited, .show-more, .row-below, .toolbar) {
  display: none;
}

.editor textarea {
  display: block;
  field-sizing: content;
  width: 100%;
  min-height: 2.65em;
  max-height: 12em;
  border: 1px solid var(--accent);
  border-radius: 10px;
  padding: 0.45em 0.8em;
  background: var(--surface);
  outline-offset: -1px;
  resize: none;
}

.editor textarea[readonly] {
  background: var(--raised);
  color: var(--ink-soft);
}

.editor-foot {
  min-height: 1.6em;
  padding: 0.25em 0.2em 0;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
}

.editor-note:not(.quiet) {
  color: var(--danger);
}

.editor-buttons {
  display: none;
  gap: 0.6em;
  justify-content: flex-end;
  padding-top: 0.3em;
}

.editor-buttons button {
  min-height: 2.75em;
}

.reply-bar,
.saved-text {
  grid-column: 1 / -1;
  min-width: 0;
  border-inline-start: 3px solid var(--accent);
  border-radius: 4px;
  padding: 0.2em;
  padding-inline-start: 0.75em;
  background: var(--raised);
  font-size: max(11px, 0.875em);
}

.reply-bar {
  display: flex;
  gap: 0.5em;
  align-items: center;
}

.reply-bar p {
  display: flex;
  flex: 1;
  min-width: 0;
  color: var(--ink-soft);
}

.plain-icon {
  flex: none;
  width: 2.2em;
  height: 2.2em;
  padding: 0;
  background: none;
  color: var(--ink-soft);
  font-size: 1.15em;
  line-height: 1;
}

.plain-icon:hover {
  color: var(--ink);
}

.saved-text .link {
  min-height: 2em;
  margin-inline-end: 1em;
}

.saved-content {
  max-height: 6em;
  margin: 0.3em 0;
  overflow-y: auto;
  color: var(--ink-soft);
  overflow-wrap: anywhere;
  white-space: pre-wrap;
}

/* A finger has neither Escape nor a pointer that rests. A long press opens the menu, and not that of the browser. */
@media (hover: none) {
  .editor-keys {
    display: none;
  }

  .editor-buttons {
    display: flex;
  }

  .bubble:not(.custom) {
    -webkit-touch-callout: none;
    -webkit-user-select: none;
    user-select: none;
  }
}

@media print {
  .editor,
  .reply-bar,
  .saved-text {
    display: none !important;
  }

  .row.editing :is(.bubble, .bubble-line) {
    display: revert;
  }
}
`;
