// The types of `<signalbox-launcher>`, see docs/chat-element.md.
import type { ChatMessage } from '../../text-chat/index.js';
import type { SignalboxChat, SignalboxChatAttributes } from '../index.js';

export interface SignalboxLauncher extends HTMLElement {
  /** The chat; null before it is loaded. */
  readonly chat: SignalboxChat | null;
  readonly isOpen: boolean;
  /** 0 before the chat is loaded. */
  readonly unreadCount: number;
  /** Loads the chat without opening it, and promises it. */
  load(): Promise<SignalboxChat>;
  open(): Promise<void>;
  close(): void;
  toggle(): void;
}

export const SignalboxLauncher: {
  new (): SignalboxLauncher;
  readonly prototype: SignalboxLauncher;
};

/** The attributes of the launcher, and those of its chat. */
export interface SignalboxLauncherAttributes extends SignalboxChatAttributes {
  open?: boolean | '';
  /** `idle`: the chat loads when the page has time, so that the bubble counts before the first opening. */
  load?: 'idle';
  sound?: 'on' | 'off';
  notice?: 'on' | 'off';
  muted?: boolean | '';
  side?: 'start' | 'end';
}

export interface SignalboxLauncherEventMap {
  'signalbox-launcher': CustomEvent<{ isOpen: boolean }>;
  'signalbox-notice': CustomEvent<{ message: ChatMessage }>;
}

declare global {
  interface HTMLElementTagNameMap {
    'signalbox-launcher': SignalboxLauncher;
  }
  interface GlobalEventHandlersEventMap extends SignalboxLauncherEventMap {}
}
