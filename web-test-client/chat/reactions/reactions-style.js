/** The style of the part with reactions and receipts. */
export const REACTIONS_STYLE = `
.reactions {
  display: flex;
  flex-wrap: wrap;
  gap: 0.3em;
  max-width: 100%;
  padding: 0.3em 0 0.25em;
}

.sent .reactions {
  justify-content: flex-end;
}

.reaction {
  display: inline-flex;
  gap: 0.4em;
  align-items: center;
  max-width: 100%;
  min-height: 1.9em;
  border: 1px solid var(--line);
  border-radius: 1em;
  padding: 0 0.6em;
  background: var(--surface);
  color: var(--ink);
  font-size: max(11px, 0.813em);
  font-variant-numeric: tabular-nums;
  line-height: 1.2;
}

.reaction:hover:not([aria-disabled]) {
  border-color: var(--ink-soft);
}

.reaction[aria-pressed="true"] {
  border-color: var(--accent);
  background: var(--own);
}

.reaction[aria-disabled] {
  cursor: default;
}

.reaction-key {
  min-width: 0;
  overflow: clip;
  font-size: 1.2em;
  line-height: 1.4;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.reaction-key.text {
  font-size: 1em;
}

.reaction-picker {
  inset: auto;
  margin: 0;
  border: 1px solid var(--line);
  border-radius: 2em;
  padding: 0.2em;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
}

.reaction-picker:popover-open {
  display: flex;
  flex-wrap: wrap;
  max-width: calc(100vw - 8px);
}

.reaction-picker button {
  min-width: 1.9em;
  height: 1.9em;
  border-radius: 1em;
  padding: 0 0.2em;
  background: none;
  font-size: 1.4em;
  line-height: 1;
}

.reaction-picker button:hover {
  background: var(--raised);
}

.reaction-picker button[aria-checked="true"] {
  border-color: var(--accent);
  background: var(--own);
}

.receipts {
  padding-top: 0.2em;
  font-size: max(11px, 0.813em);
}

.receipt {
  display: flex;
  gap: 0.15em;
  align-items: center;
  min-height: 1.85em;
  border-radius: 1em;
  padding: 0 0.3em;
  background: none;
  color: var(--ink-soft);
  line-height: 1.2;
}

.receipt:hover,
.receipt[aria-expanded="true"] {
  background: var(--raised);
  color: var(--ink);
}

.receipts .avatar,
.receipt-list .avatar {
  display: grid;
  width: 1.6em;
  height: 1.6em;
  font-size: 0.9em;
}

.receipt-list {
  inset: auto;
  margin: 0;
  min-width: 10em;
  max-width: min(20em, calc(100vw - 8px));
  max-height: min(20em, calc(100vh - 8px));
  overflow-y: auto;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.6em 0.8em;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
}

.receipt-list p {
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
}

.receipt-list ul {
  margin: 0;
  padding: 0;
  list-style: none;
}

.receipt-list li {
  display: flex;
  gap: 0.6em;
  align-items: center;
  min-height: 2.2em;
  overflow-wrap: anywhere;
}

.row.editing :is(.reactions, .receipts) {
  display: none;
}

:host([look="opentok"]) .sent .reactions {
  justify-content: flex-start;
}

:host([look="opentok"]) .reaction {
  border-radius: 4px;
}

/* Without colour. */
:host([look="opentok"]) .reaction[aria-pressed="true"] {
  border-color: var(--ink);
  background: none;
  font-weight: 600;
}

@media (hover: none) {
  /* Beside the bubble. */
  .row:has(.reactions, .receipts) .toolbar {
    align-self: start;
  }

  .row:not(.short):has(.reactions, .receipts) .toolbar {
    margin-top: 1.2em;
  }

  .reaction,
  .receipt {
    min-height: 2.4em;
  }

  .reaction-picker button {
    min-width: 2.1em;
    height: 2.1em;
  }
}

@media (forced-colors: active) {
  .reaction[aria-pressed="true"],
  .reaction-picker button[aria-checked="true"] {
    outline: 2px solid Highlight;
  }
}
`;
