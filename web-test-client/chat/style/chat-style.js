// The style of the element, as text: it comes with the one script. A page changes it with custom properties and parts.
import { COMPOSER_STYLE } from './composer-style.js';
import { LINES_STYLE } from './line-style.js';
import { LIST_STYLE } from './list-style.js';
import { MODERATION_STYLE } from './moderation-style.js';
import { MODES_STYLE } from './mode-style.js';
import { OPENTOK_STYLE } from './opentok-style.js';
import { colours, HUE_CLASSES } from './palette.js';
import { ROW_STYLE } from './row-style.js';

const properties = (scheme) => colours(scheme, (name, colour) => `var(--signalbox-${name}, ${colour})`);

/** The style of the element itself: its colours, its buttons, and the frame of the chat. */
const FRAME_STYLE = `
/* The element takes its colours and sizes from custom properties; each has a default. */
:host {
${properties('light')}
  --radius: var(--signalbox-radius, 14px);
  --font: var(--signalbox-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif);
  container-type: inline-size;
  display: flex;
  flex-direction: column;
  box-sizing: border-box;
  min-width: 0;
  min-height: 0;
  height: 24rem;
  overflow: hidden;
  background: var(--surface);
  color: var(--ink);
  color-scheme: light;
  font: 16px/1.45 var(--font);
  text-align: start;
}

@media (prefers-color-scheme: dark) {
  :host(:not([scheme="light"])) {
${properties('dark')}
    color-scheme: dark;
  }
}

:host([scheme="dark"]) {
${properties('dark')}
  color-scheme: dark;
}

:host([hidden]) {
  display: none;
}

*,
*::before,
*::after {
  box-sizing: border-box;
}

[hidden] {
  display: none !important;
}

p {
  margin: 0;
}

.visually-hidden {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

button,
textarea {
  font: inherit;
  color: inherit;
}

:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}

button {
  border: 1px solid transparent;
  border-radius: 10px;
  padding: 0.5rem 0.9rem;
  white-space: nowrap;
  cursor: pointer;
  transition: background-color 120ms, border-color 120ms;
}

button.primary {
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
}

button.primary:hover:enabled {
  background: var(--accent-strong);
}

button.primary:disabled {
  background: var(--line);
  color: var(--ink-soft);
  cursor: default;
}

button.link {
  padding: 0;
  border: 0;
  background: none;
  color: inherit;
  font-weight: 600;
  text-decoration: underline;
  text-underline-offset: 2px;
}

kbd {
  border: 1px solid var(--line);
  border-radius: 5px;
  padding: 0 0.3em;
  background: var(--raised);
  font: 0.9em ui-monospace, "Liberation Mono", monospace;
}

::placeholder {
  color: var(--ink-soft);
  opacity: 0.9;
}

.avatar {
  display: grid;
  flex: none;
  place-items: center;
  width: 2rem;
  height: 2rem;
  overflow: hidden;
  border-radius: 50%;
  color: #ffffff;
  font-size: 0.875rem;
  font-weight: 600;
}

.own-avatar {
  display: none;
}

${HUE_CLASSES}

.chat {
  display: flex;
  flex: 1;
  flex-direction: column;
  min-height: 0;
  overflow: hidden;
}

.chat-status {
  display: flex;
  flex: none;
  flex-wrap: wrap;
  gap: 0.25rem 0.75rem;
  align-items: center;
  justify-content: center;
  padding: 0.4rem 1rem;
  text-align: center;
  border-bottom: 1px solid var(--line);
  color: var(--ink-soft);
  font-size: 0.875rem;
}

.chat-status[data-state="failed"],
.chat-status[data-state="disconnected"] {
  background: var(--danger-soft);
  color: var(--danger);
}
`;

// In this order: a later rule has precedence.
export const CHAT_STYLE = [
  FRAME_STYLE, LIST_STYLE, ROW_STYLE, LINES_STYLE, COMPOSER_STYLE, MODERATION_STYLE, OPENTOK_STYLE,
  MODES_STYLE,
].join('\n');
