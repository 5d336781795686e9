// The style of the element, as text: it comes with the one script. A page changes it with custom properties and parts.
import { colours, HUE_CLASSES } from './palette.js';

const properties = (scheme) => colours(scheme, (name, colour) => `var(--signalbox-${name}, ${colour})`);

export const CHAT_STYLE = `
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

.bubble.erased {
  color: var(--ink-soft);
  font-style: italic;
}

.beginning {
  margin: 0 0 0.6rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
  text-align: center;
}

.row {
  display: flex;
  gap: 0.6rem;
  max-width: 100%;
  margin-top: 0.9rem;
}

.row.short {
  margin-top: 0.2rem;
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
  max-width: min(36rem, 84%);
}

.sent .row-body {
  justify-items: end;
}

.row-header {
  display: flex;
  align-items: baseline;
  gap: 0.5rem;
  min-width: 0;
  max-width: 100%;
  padding: 0 0.15rem 0.2rem;
  font-size: 0.875rem;
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
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
}

.bubble-line {
  display: flex;
  gap: 0.45rem;
  align-items: flex-end;
  min-width: 0;
  max-width: 100%;
}

.bubble {
  min-width: 0;
  max-width: 100%;
  padding: 0.45rem 0.8rem;
  border-radius: 14px;
  border-start-start-radius: 4px;
  background: var(--other);
  /* Stacked combining marks stay inside. */
  overflow: clip;
  overflow-wrap: anywhere;
  unicode-bidi: plaintext;
  white-space: pre-wrap;
}

.bubble.emoji {
  font-size: 2rem;
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
  max-width: calc(100% - 0.5rem);
  padding: 0.25rem 0.6rem;
  border-radius: 8px;
  background: var(--ink);
  color: var(--surface);
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
  pointer-events: none;
}

/* The state of an own message. */
.mark {
  flex: none;
  width: 1.1em;
  padding-bottom: 0.4rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
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
  gap: 0.15rem 0.75rem;
  justify-content: flex-end;
  padding: 0.25rem 0.15rem 0;
  color: var(--ink-soft);
  font-size: 0.8125rem;
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

.day,
.gap,
.unread-divider {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  margin: 1.1rem 0 0.2rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
  text-align: center;
}

.day::before,
.day::after,
.gap::before,
.gap::after,
.unread-divider::before,
.unread-divider::after {
  flex: 1;
  border-top: 1px solid;
  content: "";
  opacity: 0.3;
}

.day time {
  font-weight: 500;
}

.gap {
  color: var(--warn);
}

.unread-divider {
  color: var(--accent);
  font-weight: 600;
}

.unread-divider::before {
  flex: 0 0 0.75rem;
}

.offline-hint {
  position: absolute;
  top: 0.6rem;
  left: 50%;
  width: max-content;
  max-width: calc(100% - 1.5rem);
  transform: translateX(-50%);
  padding: 0.35rem 0.9rem;
  border: 1px solid var(--warn);
  border-radius: 1.1rem;
  background: var(--surface);
  color: var(--warn);
  font-size: 0.8125rem;
  text-align: center;
  box-shadow: var(--shadow);
}

.back-report {
  position: absolute;
  z-index: 1;
  top: 0.6rem;
  left: 50%;
  width: max-content;
  max-width: calc(100% - 1.5rem);
  transform: translateX(-50%);
  padding: 0.35rem 0.9rem;
  border: 1px solid var(--good);
  border-radius: 1.1rem;
  background: var(--surface);
  color: var(--good);
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
  text-align: center;
  box-shadow: var(--shadow);
}

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
  grid-template-columns: minmax(0, 1fr) auto;
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

.composer > button {
  min-height: 2.65rem;
}

/* An empty field has no text that chooses its direction: its placeholder follows the language of the chat. */
.composer textarea:placeholder-shown {
  direction: inherit;
  unicode-bidi: isolate;
}

.composer textarea[readonly] {
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

/* The look of OpenTok's text chat: no bubbles, a line between the groups, name and time in one line, and a counter. */
:host([look="opentok"]) {
  --radius: var(--signalbox-radius, 0px);
}

:host([look="opentok"]) .row,
:host([look="opentok"]) .row.sent {
  justify-content: flex-start;
  margin-top: 0;
  padding: 0.65rem 0 0.15rem;
  border-top: 1px solid var(--line);
}

:host([look="opentok"]) .row.short {
  padding: 0.1rem 0;
  border-top: 0;
}

:host([look="opentok"]) .messages .row:first-child {
  border-top: 0;
}

:host([look="opentok"]) .row-body,
:host([look="opentok"]) .sent .row-body {
  flex: 1;
  justify-items: stretch;
  max-width: none;
}

:host([look="opentok"]) .row:not(.short) .row-header {
  position: static;
  width: auto;
  height: auto;
  overflow: visible;
  padding: 0 0 0.1rem;
  clip-path: none;
}

:host([look="opentok"]) .row:not(.short) .row-name {
  position: static;
  width: auto;
  height: auto;
  overflow: hidden;
  clip-path: none;
}

:host([look="opentok"]) .row-header time {
  margin-inline-start: auto;
}

:host([look="opentok"]) .bubble,
:host([look="opentok"]) .sent .bubble {
  padding: 0;
  border-radius: 0;
  background: none;
  box-shadow: none;
}

:host([look="opentok"]) .bubble-line {
  flex-direction: row-reverse;
  justify-content: flex-end;
}

:host([look="opentok"]) .mark {
  padding-bottom: 0;
}

:host([look="opentok"]) .avatar {
  border-radius: 4px;
}

:host([look="opentok"]) .own-avatar {
  display: grid;
}

:host([look="opentok"]) .row:is([data-position="last"], [data-position="single"]) {
  padding-bottom: 0.65rem;
}

:host([look="opentok"]) .day + .row {
  border-top-color: transparent;
}

:host([look="opentok"]) .composer {
  border-top: 1px solid var(--line);
  padding-top: 0.6rem;
}

:host([look="opentok"]) .composer textarea,
:host([look="opentok"]) button.primary {
  border-radius: 4px;
}

/* Nobody is invited to write what cannot be sent. */
.composer.off .keys {
  visibility: hidden;
}

:host([look="opentok"]) .keys {
  display: none;
}

@container (max-width: 42rem) {
  .messages-scroll {
    padding: 0.75rem;
  }

  .typing,
  .composer {
    padding-inline: 0.75rem;
  }
}

@container (max-width: 26rem) {
  .keys {
    display: none;
  }

  /* Without the keys, the line under the text field takes space only while it says something. */
  .composer {
    row-gap: 0;
  }

  .composer-foot {
    min-height: 0;
  }

  .composer-foot > :not(:empty) {
    padding-top: 0.3rem;
  }
}

@media (prefers-reduced-motion: reduce) {
  *,
  *::before,
  *::after {
    animation-duration: 0s !important;
    animation-delay: 0s !important;
    animation-iteration-count: 1 !important;
    transition-duration: 0s !important;
  }

  /* Only a slow message shows that it is being sent, without motion, too. */
  .row[data-state="pending"] .mark::before {
    animation-delay: 500ms !important;
  }
}

/* On paper nobody scrolls or writes. */
@media print {
  :host {
    display: block;
    height: auto;
    overflow: visible;
  }

  :host([hidden]),
  .composer,
  .typing,
  .new-messages,
  .earlier-line {
    display: none;
  }

  .chat,
  .messages-frame,
  .messages-scroll {
    display: block;
    height: auto;
    overflow: visible;
  }
}

@media (forced-colors: active) {
  .bubble,
  .avatar,
  .message-facts {
    border: 1px solid;
  }

  .row.chosen .bubble {
    outline: 2px solid Highlight;
  }

  /* The browser removes backgrounds, and gives all borders one colour. */
  .typing-dots i {
    background: CanvasText;
    forced-color-adjust: none;
  }

  .row[data-state="pending"] .mark::before {
    border-color: GrayText;
    border-top-color: CanvasText;
    forced-color-adjust: none;
  }
}
`;
