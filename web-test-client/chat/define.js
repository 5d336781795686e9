import { SignalboxChat } from './chat-element.js';

/** Defines `<signalbox-chat>`, unless a page has loaded the script twice. */
export function defineChat(server) {
  SignalboxChat.defaultServer ??= server;
  if (!customElements.get('signalbox-chat')) customElements.define('signalbox-chat', SignalboxChat);
}
