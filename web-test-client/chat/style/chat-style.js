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

/**
 * The style of the element itself: its size, its colours, its buttons, and the frame of the chat.
 *
 * A rule of the page that matches the element, such as `* { color: #333 }`, has precedence over those for `:host`, and
 * what it sets is inherited. So the chat begins anew inside of it: `.chat` takes nothing from the page but its text size,
 * its scheme, and whether it can be seen and touched.
 */
const FRAME_STYLE = `
:host {
  display: flex;
  flex-direction: column;
  box-sizing: border-box;
  min-width: 0;
  max-width: 100%;
  min-height: 0;
  height: calc(24 * var(--signalbox-font-size, clamp(14px, 1em, 20px)));
  overflow: hidden;
}

:host([hidden]) {
  display: none;
}

.base {
  all: initial;
  position: relative;
  display: block;
  flex: 1;
  height: 100%;
  min-height: 0;
  /* Where nothing gives a size. */
  container-type: size;
  contain-intrinsic-size: 22em 24em;
  overflow: hidden;
  visibility: inherit;
  pointer-events: inherit;
  color-scheme: inherit;
  text-size-adjust: inherit;
  -webkit-user-select: text;
  user-select: text;
  font: max(11px, var(--signalbox-font-size, clamp(14px, 1em, 20px)))/1.45
    var(--signalbox-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif);
}

.chat {
${properties('light')}
  --radius: var(--signalbox-radius, 14px);
  /* A line under the text of the page does not go on in here. */
  position: absolute;
  inset: 0;
  display: flex;
  flex-direction: column;
  overflow: hidden;
  background: var(--surface);
  color: var(--ink);
  accent-color: var(--accent);
  text-align: start;
}

/* Browsers without light-dark() show the light scheme, unless the attribute says otherwise. */
@supports (color: light-dark(red, red)) {
  .chat {
${properties('used')}
  }
}

:host([scheme="light"]) .chat {
  color-scheme: light;
}

@media not print {
  :host([scheme="dark"]) .chat {
${properties('dark')}
    color-scheme: dark;
  }
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
  padding: 0.5em 0.9em;
  white-space: nowrap;
  cursor: pointer;
  transition: background-color 120ms, border-color 120ms;
}

/* Whoever copies messages copies no letters of pictures, and no words of buttons. */
.avatar,
.mark,
button {
  -webkit-user-select: none;
  user-select: none;
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
  font: max(11px, 0.9em) ui-monospace, "Liberation Mono", monospace;
}

::placeholder {
  color: var(--ink-soft);
  opacity: 0.9;
}

.avatar {
  display: grid;
  flex: none;
  place-items: center;
  width: 2.29em;
  height: 2.29em;
  overflow: hidden;
  border-radius: 50%;
  color: #ffffff;
  font-size: max(11px, 0.875em);
  font-weight: 600;
}

.own-avatar {
  display: none;
}

${HUE_CLASSES}

.chat-status {
  display: flex;
  flex: none;
  flex-wrap: wrap;
  gap: 0.286em 0.857em;
  align-items: center;
  justify-content: center;
  padding: 0.457em 1.14em;
  text-align: center;
  border-bottom: 1px solid var(--line);
  color: var(--ink-soft);
  font-size: max(11px, 0.875em);
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
