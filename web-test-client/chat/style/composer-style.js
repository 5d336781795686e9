/** The style of the line of users who type, and the input field. */
export const COMPOSER_STYLE = `
/* The typing line. It keeps its space while it is empty, so that the layout does not move. */
.typing {
  display: flex;
  flex: none;
  align-items: center;
  gap: 0.615em;
  height: 1.97em;
  padding: 0 1.23em;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
  line-height: 1.97em;
}

.typing-text {
  flex: 1;
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.typing-dots {
  display: none;
  flex: none;
  gap: 0.246em;
}

.typing[data-state="typing"] .typing-dots,
.typing[data-state="paused"] .typing-dots {
  display: flex;
}

.typing-dots i {
  width: 0.431em;
  height: 0.431em;
  border-radius: 50%;
  background: var(--accent);
}

.typing[data-state="paused"] .typing-dots i {
  background: var(--ink-soft);
  opacity: 0.6;
}

.typing[data-state="typing"] .typing-dots i {
  animation: hop 1.2s ease-in-out infinite;
}

.typing[data-state="typing"] .typing-dots i:nth-child(2) {
  animation-delay: 150ms;
}

.typing[data-state="typing"] .typing-dots i:nth-child(3) {
  animation-delay: 300ms;
}

@keyframes hop {
  0%,
  60%,
  100% {
    transform: none;
    opacity: 0.5;
  }

  30% {
    transform: translateY(-0.2em);
    opacity: 1;
  }
}

.new-messages {
  position: absolute;
  bottom: 0.857em;
  left: 50%;
  transform: translateX(-50%);
  padding: 0.4em 1.14em;
  border-radius: 2.29em;
  background: var(--ink);
  color: var(--surface);
  font-size: max(11px, 0.875em);
  font-weight: 600;
  box-shadow: var(--shadow);
}

.composer {
  display: grid;
  flex: none;
  grid-template-columns: minmax(0, 1fr) auto auto;
  gap: 0.4em 0.6em;
  align-items: end;
  padding: 0.1em 1em max(0.6em, env(safe-area-inset-bottom));
}

.composer textarea {
  width: 100%;
  min-width: 0;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.55em 0.75em;
}

.composer textarea:focus-visible {
  border-color: var(--accent);
  outline-offset: -1px;
}

.composer textarea {
  display: block;
  field-sizing: content;
  min-height: 2.65em;
  max-height: 9.5em;
  background: var(--raised);
  resize: none;
}

.composer textarea[aria-invalid="true"] {
  border-color: var(--danger);
  background: var(--danger-soft);
}

/* Buttons beside the field. */
.composer-tools {
  display: flex;
  gap: 0.1em;
}

.composer-tools:not(:has(.tool:not([hidden]))),
.composer:has(textarea[readonly]) .composer-tools,
.composer.off .composer-tools {
  display: none;
}

.tool {
  display: grid;
  place-items: center;
  width: 2.65em;
  height: 2.65em;
  padding: 0;
  background: none;
  color: var(--ink-soft);
}

.tool:hover,
.tool[aria-expanded="true"] {
  background: var(--raised);
  color: var(--ink);
}

.tool svg {
  width: 1.4em;
  height: 1.4em;
  fill: none;
  stroke: currentcolor;
  stroke-linecap: round;
  stroke-linejoin: round;
  stroke-width: 1.8;
}

.composer > button {
  grid-column: 3;
  min-height: 2.65em;
}

/* An empty field has no text that chooses its direction: its placeholder follows the language of the chat. */
.composer textarea:placeholder-shown {
  direction: inherit;
  unicode-bidi: isolate;
}

.composer textarea[readonly] {
  grid-column: 1 / -1;
  background: var(--surface);
  color: var(--ink-soft);
  border-style: dashed;
}

.composer-foot {
  min-height: 1.54em;
  display: flex;
  grid-column: 1 / -1;
  gap: 0.923em;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
}

.composer-hint {
  color: var(--danger);
}

.remaining {
  margin-inline-start: auto;
  font-variant-numeric: tabular-nums;
}

.remaining.few {
  color: var(--danger);
  font-weight: 600;
}
`;
