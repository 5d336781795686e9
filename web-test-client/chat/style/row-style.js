/** The style of the messages. */
export const ROW_STYLE = `
.bubble.erased {
  color: var(--ink-soft);
  font-style: italic;
}

.beginning {
  margin: 0 0 0.738em;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
  text-align: center;
}

.row {
  display: flex;
  gap: 0.6em;
  max-width: 100%;
  margin-top: 0.9em;
}

.row.short {
  margin-top: 0.2em;
}

.block:first-child > :first-child {
  margin-top: 0;
}

.row.sent {
  justify-content: flex-end;
}

/* Within a group the avatar is hidden, but keeps its space. */
.short > .avatar {
  height: 0;
  visibility: hidden;
}

.row-body {
  display: grid;
  justify-items: start;
  min-width: 0;
  max-width: min(36em, 84%);
}

.sent .row-body {
  justify-items: end;
}

.row-header {
  display: flex;
  align-items: baseline;
  gap: 0.571em;
  min-width: 0;
  max-width: 100%;
  padding: 0 0.171em 0.229em;
  font-size: max(11px, 0.875em);
}

/* Hidden, but read by a screen reader. */
.short .row-header,
.sent .row-name {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  padding: 0;
  clip-path: inset(50%);
  white-space: nowrap;
}

.row-name {
  min-width: 0;
  overflow: hidden;
  font-weight: 600;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.row-header time {
  flex: none;
  color: var(--ink-soft);
  font-size: max(11px, 0.929em);
  font-variant-numeric: tabular-nums;
}

.bubble-line {
  display: flex;
  gap: 0.15em;
  align-items: flex-end;
  min-width: 0;
  max-width: 100%;
}

.bubble {
  min-width: 0;
  max-width: 100%;
  padding: 0.45em 0.8em;
  border-radius: 14px;
  border-start-start-radius: 4px;
  background: var(--other);
  /* Stacked combining marks stay inside. */
  overflow: clip;
  overflow-wrap: anywhere;
  unicode-bidi: plaintext;
  white-space: pre-wrap;
}

.bubble.bubble.custom {
  padding: 0;
  border-radius: 0;
  background: none;
  white-space: normal;
}

.avatar.custom {
  border-radius: 0;
  background: none;
  color: inherit;
}

.row-header.custom > :not(slot) {
  display: none;
}

.avatar img {
  width: 100%;
  height: 100%;
  object-fit: cover;
}

.bubble.emoji {
  font-size: 2em;
  line-height: 1.25;
}

.sent .bubble {
  border-radius: 14px;
  border-start-end-radius: 4px;
  background: var(--own);
}

.short .bubble,
.sent.short .bubble {
  border-radius: 14px;
}

.show-more {
  padding: 0.25em 0.15em 0;
  font-size: max(11px, 0.875em);
}

.bubble a {
  color: inherit;
  text-decoration-color: var(--accent);
}

.row:focus {
  outline: none;
}

.row.chosen .bubble {
  box-shadow: inset 0 0 0 2px var(--accent);
}

/* The facts of the message under the pointer, or of the chosen one. */
.message-facts {
  position: absolute;
  z-index: 2;
  width: max-content;
  max-width: calc(100% - 0.615em);
  padding: 0.308em 0.738em;
  border-radius: 8px;
  background: var(--ink);
  color: var(--surface);
  font-size: max(11px, 0.813em);
  font-variant-numeric: tabular-nums;
  pointer-events: none;
}

.row.arriving {
  animation: arrive 200ms ease-out;
}

@keyframes arrive {
  from {
    opacity: 0;
    transform: translateY(0.5em);
  }
}

/* The state of an own message. */
.mark {
  flex: none;
  width: 1.1em;
  padding-bottom: 0.492em;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
  line-height: 1.2;
  text-align: center;
}

.row[data-state="sent"] .mark::before {
  content: "✓";
}

.row[data-state="failed"] .mark::before {
  color: var(--danger);
  content: "!";
  font-weight: 700;
}

/* Only a slow message shows that it is being sent, so that a fast one does not flicker. */
.row[data-state="pending"] .mark::before,
.row[data-state="held"] .mark::before {
  display: inline-block;
  width: 0.75em;
  height: 0.75em;
  border: 2px solid var(--line);
  border-top-color: var(--ink-soft);
  border-radius: 50%;
  content: "";
  animation: appear 200ms 500ms backwards, turn 1.2s linear infinite;
}

.row[data-state="held"] .mark::before {
  animation: none;
  border-color: var(--ink-soft);
}

.row[data-state="failed"] .bubble {
  background: var(--danger-soft);
  box-shadow: inset 0 0 0 1px var(--danger);
}

.row-state {
  display: flex;
  flex-wrap: wrap;
  gap: 0.185em 0.923em;
  justify-content: flex-end;
  padding: 0.308em 0.185em 0;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
}

.row[data-state="failed"] .row-state {
  color: var(--danger);
}

@keyframes appear {
  from {
    opacity: 0;
  }
}

@keyframes turn {
  to {
    transform: rotate(1turn);
  }
}
`;
