/** The style of the line of users who type, and the input field. */
export const COMPOSER_STYLE = `
/* The typing line. It keeps its space while it is empty, so that the layout does not move. */
.typing {
  display: flex;
  flex: none;
  align-items: center;
  gap: 0.5rem;
  height: 1.6rem;
  padding: 0 1rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
  line-height: 1.6rem;
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
  gap: 0.2rem;
}

.typing[data-state="typing"] .typing-dots,
.typing[data-state="paused"] .typing-dots {
  display: flex;
}

.typing-dots i {
  width: 0.35rem;
  height: 0.35rem;
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
    transform: translateY(-0.2rem);
    opacity: 1;
  }
}

.new-messages {
  position: absolute;
  bottom: 0.75rem;
  left: 50%;
  transform: translateX(-50%);
  padding: 0.35rem 1rem;
  border-radius: 2rem;
  background: var(--ink);
  color: var(--surface);
  font-size: 0.875rem;
  font-weight: 600;
  box-shadow: var(--shadow);
}

.composer {
  display: grid;
  flex: none;
  grid-template-columns: minmax(0, 1fr) auto auto;
  gap: 0.4rem 0.6rem;
  align-items: end;
  padding: 0.1rem 1rem max(0.6rem, env(safe-area-inset-bottom));
}

.composer textarea {
  width: 100%;
  min-width: 0;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.55rem 0.75rem;
}

.composer textarea:focus-visible {
  border-color: var(--accent);
  outline-offset: -1px;
}

.composer textarea {
  display: block;
  field-sizing: content;
  min-height: 2.65rem;
  max-height: 9.5rem;
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
  gap: 0.1rem;
}

.composer-tools:not(:has(.tool:not([hidden]))),
.composer:has(textarea[readonly]) .composer-tools,
.composer.off .composer-tools {
  display: none;
}

.tool {
  display: grid;
  place-items: center;
  width: 2.65rem;
  height: 2.65rem;
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
  width: 1.4rem;
  height: 1.4rem;
  fill: none;
  stroke: currentcolor;
  stroke-linecap: round;
  stroke-linejoin: round;
  stroke-width: 1.8;
}

.composer > button {
  grid-column: 3;
  min-height: 2.65rem;
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
  min-height: 1.25rem;
  display: flex;
  grid-column: 1 / -1;
  gap: 0.75rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
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
