// The types of `<signalbox-chat>`, see docs/chat-element.md.
import type { ChatMessage, TextChatComponent, TypingPolicy } from '../text-chat/index.js';

/** An OpenTok session: of this library, or of OpenTok's own. */
export interface ChatSession {
  on(name: string, listener: (event: any) => void): unknown;
  off(name: string, listener: (event: any) => void): unknown;
  signal(options: object, handler: (error?: any) => void): unknown;
}

export class SignalboxChat extends HTMLElement {
  /** The address of the server for elements without the attribute `server`. */
  static defaultServer: string | null;

  /** The longest message in characters. Default 1000. */
  maxLength: number;
  /** The sender that one's messages name; null: the connection id. */
  senderId: string | null;
  /** The name that one's messages carry; null: the connection data of the token. */
  alias: string | null;
  look: 'bubbles' | 'opentok';
  /** Whether others see that the user types. */
  isTypingShown: boolean;
  set typingPolicy(policy: TypingPolicy);
  set wireForm(type: 'text-chat' | 'TextChat');

  readonly state: 'disconnected' | 'connecting' | 'connected' | 'reconnecting' | 'failed';
  readonly unreadCount: number;
  readonly messages: readonly ChatMessage[];
  /** The text in the input field. */
  draft: string;
  /** The chat behind the element; null before the element is in a document. */
  readonly component: TextChatComponent | null;

  connect(): void;
  disconnect(): void;
  attach(session: ChatSession, options?: { room?: string; isNew?: boolean }): void;
  detach(): void;
  scrollToEnd(): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'signalbox-chat': SignalboxChat;
  }
  interface HTMLElementEventMap {
    'signalbox-state': CustomEvent<{ state: SignalboxChat['state'] }>;
    'signalbox-message': CustomEvent<{ message: ChatMessage }>;
    'signalbox-send': CustomEvent<{ message: ChatMessage }>;
    'signalbox-unread': CustomEvent<{ count: number }>;
    'signalbox-error': CustomEvent<{ code: number | null; message: string }>;
  }
}
