// The types of `<signalbox-chat>`, see docs/chat-element.md.
import type { ChatMessage, TextChatComponent, TypingPolicy, WriteRestriction } from '../text-chat/index.js';

/** An OpenTok session: of this library, or of OpenTok's own. */
export interface ChatSession {
  on(name: string, listener: (event: any) => void): unknown;
  off(name: string, listener: (event: any) => void): unknown;
  signal(options: object, handler: (error?: any) => void): unknown;
}

/** A text with a count: one for each plural category of the language; `other` is for all that have none. */
export interface PluralText {
  zero?: string;
  one?: string;
  two?: string;
  few?: string;
  many?: string;
  other: string;
}

/** The keys of the texts of the element. `chat/strings/en.js` of the package has all of them, with their `{values}`. */
export type ChatTextKey =
  | 'chat' | 'messages' | 'messagesHelp' | 'connecting' | 'reconnecting' | 'tryAgain' | 'expired' | 'revoked' | 'refused'
  | 'wrongChat' | 'full' | 'offline' | 'unreachable' | 'noAnswer' | 'serverFault' | 'notSetUp' | 'removed' | 'lost'
  | 'ended' | 'message' | 'placeholder' | 'send' | 'keys' | 'keyEnter' | 'keyShift' | 'readOnly' | 'tooLarge'
  | 'tooManyWaiting' | 'notSent' | 'notConnected' | 'you' | 'guest' | 'server' | 'newMessagesBelow' | 'beginning'
  | 'gap' | 'newConversation' | 'erased' | 'showMore' | 'noMessages' | 'noMessagesToRead' | 'fromNowOn' | 'showEarlier'
  | 'loadingEarlier' | 'earlierFailed' | 'receivedAt' | 'sentAt' | 'stateSending' | 'stateWaiting' | 'stateSent'
  | 'stateFailed' | 'waitingForFailed' | 'sendWithoutIt' | 'discard' | 'edit' | 'failedTooLarge' | 'failedTooFast'
  | 'failedNotAllowed' | 'failedLost' | 'failedOther' | 'typingSomeone' | 'typingSeveral' | 'pausedSomeone'
  | 'pausedSeveral' | 'partner'
  | 'banned' | 'bannedUntil' | 'muted' | 'mutedUntil' | 'frozen' | 'frozenUntil' | 'restricted' | 'restrictedUntil'
  | 'withReason' | 'failedRestricted' | 'guestMark' | 'guestMarkHelp' | 'numberHelp' | 'guestNamed' | 'menuOfMessage' | 'menuOfPerson'
  | 'deleteMessage' | 'deleteAll' | 'mute' | 'muteForever' | 'remove' | 'ban' | 'askDelete' | 'askDeleteAll' | 'askMute'
  | 'askMuteForever' | 'askRemove' | 'askBan' | 'askFreeze' | 'explainDelete' | 'explainMute' | 'explainRemove'
  | 'explainBan' | 'explainBanGuest' | 'explainFreeze' | 'reason' | 'reasonForAll' | 'alsoDelete' | 'doDelete'
  | 'doMute' | 'doRemove' | 'doBan' | 'doFreeze' | 'cancel' | 'moderation' | 'moderationCount' | 'nothingHeld'
  | 'holdsMute' | 'holdsMuteUntil' | 'holdsBan' | 'holdsBanUntil' | 'holdsFreeze' | 'holdsFreezeUntil' | 'undo'
  | 'freeze' | 'unfreeze' | 'actionTooLate' | 'actionFailed' | 'lacking' | 'blocked' | 'oldBrowser' | 'comesBack' | 'noFiles'
  | 'askFreezeFor' | 'explainFreezeFor' | 'freezeFor' | 'freezeForever';

/** The keys of the texts with a count. */
export type ChatPluralKey =
  | 'charactersLeft' | 'charactersOver' | 'tooLong' | 'newMessages' | 'dropped' | 'typingNames' | 'typingPeople'
  | 'pausedNames' | 'pausedPeople' | 'others';

/** Texts of the element; it uses its own for the keys that are not given. */
export type ChatStrings = { [key in ChatTextKey]?: string } & { [key in ChatPluralKey]?: string | PluralText };

/** Why the element does not chat: a key of the sentence that the user reads. */
export type ChatCause =
  | 'expired' | 'revoked' | 'refused' | 'wrongChat' | 'full' | 'banned' | 'removed' | 'offline' | 'unreachable' | 'noAnswer' | 'serverFault'
  | 'notSetUp' | 'blocked' | 'oldBrowser';

export interface SignalboxChat extends HTMLElement {
  /** The id of the session to connect to. */
  session: string | null;
  /** The API key: the attribute `api-key`, or without one `key`. Setting it sets `api-key`. */
  apiKey: string | null;
  token: string | null;
  /** The URL of the server; null: that of the script. */
  server: string | null;

  /** The longest message in characters. Default 1000. */
  maxLength: number;
  /** The sender that one's messages name; null: the connection id. */
  senderId: string | null;
  /** The name that one's messages carry; null: the connection data of the token. */
  alias: string | null;
  look: 'bubbles' | 'opentok';
  /** `light` or `dark`; null: as the `color-scheme` of the page. */
  scheme: string | null;
  /** The text of the empty input field; null: the element's own. */
  placeholder: string | null;
  /** Whether others see that the user types. */
  isTypingShown: boolean;
  /** Whether one's messages are bare text while a program is there that writes bare text, as OpenTok's first sample. */
  isAdaptive: boolean;
  /** Texts in place of the element's own, by their keys. */
  strings: ChatStrings | null;
  typingPolicy: TypingPolicy;
  wireForm: 'text-chat' | 'TextChat';

  readonly state: 'disconnected' | 'connecting' | 'connected' | 'reconnecting' | 'failed';
  readonly unreadCount: number;
  readonly messages: readonly ChatMessage[];
  /** The text in the input field. */
  draft: string;
  /** The chat behind the element; null before the element is in a document. */
  readonly component: TextChatComponent | null;

  connect(): void;
  disconnect(): void;
  attach(session: ChatSession, options?: { room?: string; isNew?: boolean; token?: string | null }): void;
  detach(): void;
  scrollToEnd(): void;
  /** A text of the element in its language, such as that for the `cause` of an error. */
  textOf(key: ChatTextKey | ChatPluralKey, values?: Record<string, string | number>): string;
}

/** An interface and a variable, not a class, so that programs without the declarations of the DOM know its base. */
export const SignalboxChat: {
  new (): SignalboxChat;
  readonly prototype: SignalboxChat;
  /** The address of the server for elements without the attribute `server`. */
  defaultServer: string | null;
};

/** The attributes, for the types of a framework's templates. */
export interface SignalboxChatAttributes {
  session?: string | null;
  'api-key'?: string | null;
  token?: string | null;
  server?: string | null;
  alias?: string | null;
  'sender-id'?: string | null;
  'max-length'?: number | string | null;
  look?: 'bubbles' | 'opentok';
  scheme?: 'light' | 'dark';
  typing?: 'on' | 'off';
  adapt?: 'on' | 'off';
  placeholder?: string;
}

/** The events, which bubble up to the document. */
export interface SignalboxChatEventMap {
  'signalbox-state': CustomEvent<{ state: SignalboxChat['state'] }>;
  'signalbox-message': CustomEvent<{ message: ChatMessage }>;
  'signalbox-send': CustomEvent<{ message: ChatMessage }>;
  'signalbox-unread': CustomEvent<{ count: number }>;
  'signalbox-error': CustomEvent<{ code: number | null; message: string; cause: ChatCause; restriction?: WriteRestriction }>;
}

declare global {
  // Names of the DOM, for programs that are compiled without its declarations.
  interface Element {}
  interface HTMLElement extends Element {}
  interface Event {}
  interface CustomEvent<T = any> extends Event {
    readonly detail: T;
  }

  interface HTMLElementTagNameMap {
    'signalbox-chat': SignalboxChat;
  }
  /** The events of all elements, the document and the window. */
  interface GlobalEventHandlersEventMap extends SignalboxChatEventMap {}
}
