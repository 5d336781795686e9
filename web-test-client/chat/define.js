import { hasPage } from '../client/browser.js';
import { SignalboxChat } from './chat-element.js';
import { guardWindow } from './keys/key-guard.js';

const NAME = 'signalbox-chat';

/**
 * Defines `<signalbox-chat>` and returns its class. If the page has loaded another copy of this script already, this is
 * the class of that copy.
 */
export function defineChat(server) {
  if (!canDefine()) return SignalboxChat;
  const Chat = customElements.get(NAME) ?? SignalboxChat;
  Chat.defaultServer ??= server;
  if (!customElements.get(NAME)) {
    // Before the page adds its own listeners, if the script is loaded early.
    guardWindow(window);
    customElements.define(NAME, Chat);
  }
  return Chat;
}

/** On a server, programs define parts of a page. The element could not be shown there. */
function canDefine() {
  const isElement = typeof HTMLElement === 'function' && SignalboxChat.prototype instanceof HTMLElement;
  return isElement && hasPage() && typeof globalThis.customElements?.define === 'function';
}
