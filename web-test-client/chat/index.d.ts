// The types of `<signalbox-chat>`, see docs/chat-element.md.
import type {
  ChatMessage, ContentToSend, MessageData, SendOutcome, TextChatComponent, TypingPolicy, WriteRestriction,
} from '../text-chat/index.js';

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
  | 'chat' | 'messages' | 'messagesHelp' | 'connecting' | 'reconnecting' | 'tryAgain' | 'expired' | 'revoked'
  | 'refused' | 'wrongChat' | 'full' | 'offline' | 'unreachable' | 'noAnswer' | 'serverFault' | 'notSetUp' | 'removed'
  | 'lost' | 'ended' | 'message' | 'placeholder' | 'send' | 'keys' | 'keyEnter' | 'keyShift' | 'readOnly' | 'tooLarge'
  | 'tooManyWaiting' | 'notSent' | 'notConnected' | 'you' | 'guest' | 'server' | 'newMessagesBelow' | 'beginning'
  | 'gap' | 'newConversation' | 'erased' | 'reply' | 'showMore' | 'noMessages' | 'noMessagesToRead' | 'fromNowOn'
  | 'showEarlier' | 'loadingEarlier' | 'earlierFailed' | 'receivedAt' | 'sentAt' | 'stateSending' | 'stateWaiting'
  | 'stateSent' | 'stateFailed' | 'waitingForFailed' | 'sendWithoutIt' | 'discard' | 'edit' | 'failedTooLarge'
  | 'failedTooFast' | 'failedNotAllowed' | 'failedLost' | 'failedOther' | 'typingSomeone' | 'typingSeveral'
  | 'pausedSomeone' | 'pausedSeveral' | 'partner' | 'banned' | 'bannedUntil' | 'muted' | 'mutedUntil' | 'frozen'
  | 'frozenUntil' | 'restricted' | 'restrictedUntil' | 'withReason' | 'failedRestricted' | 'guestMark' | 'guestMarkHelp'
  | 'numberHelp' | 'guestNamed' | 'menuOfMessage' | 'menuOfOwn' | 'menuOfPerson' | 'deleteMessage' | 'doDelete' | 'cancel'
  | 'actionFailed' | 'react' | 'lacking' | 'blocked' | 'oldBrowser' | 'comesBack' | 'noFiles' | 'emoji' | 'attach';

/** The keys of the texts with a count. */
export type ChatPluralKey =
  | 'charactersLeft' | 'charactersOver' | 'tooLong' | 'newMessages' | 'dropped' | 'typingNames' | 'typingPeople'
  | 'pausedNames' | 'pausedPeople' | 'others';

/** The keys of the texts of files and cards, which load with them. */
export type ChatFileTextKey =
  | 'sendingFile' | 'fileFailed' | 'showPicture' | 'removePreview' | 'tooManyFiles' | 'noPicture';

/** The keys of the texts of what moderators do, which load with that. */
export type ChatModeratorTextKey =
  | 'deleteAll' | 'mute' | 'muteForever' | 'remove' | 'ban' | 'askDelete' | 'askDeleteAll' | 'askMute'
  | 'askMuteForever' | 'askRemove' | 'askBan' | 'askFreeze' | 'askFreezeFor' | 'explainDelete' | 'explainMute'
  | 'explainRemove' | 'explainBan' | 'explainBanGuest' | 'explainFreeze' | 'explainFreezeFor' | 'reason'
  | 'reasonForAll' | 'alsoDelete' | 'doMute' | 'doRemove' | 'doBan' | 'doFreeze' | 'moderation' | 'moderationCount'
  | 'nothingHeld' | 'holdsMute' | 'holdsMuteUntil' | 'holdsBan' | 'holdsBanUntil' | 'holdsFreeze' | 'holdsFreezeUntil'
  | 'undo' | 'freeze' | 'freezeFor' | 'freezeForever' | 'unfreeze' | 'actionTooLate';

/** The keys of the texts with which messages are edited, deleted, copied and answered, which load with that. */
export type ChatChangeTextKey =
  | 'copy' | 'copied' | 'save' | 'saving' | 'saved' | 'editing' | 'editorKeys' | 'keyEscape' | 'edited' | 'editedAt'
  | 'changedMeanwhile' | 'changeRefused' | 'changeOffline' | 'changeTooFast' | 'changeBlank' | 'editLost'
  | 'editLostAside' | 'askDeleteOwn' | 'explainDeleteOwn' | 'replyTo' | 'replyToOwn' | 'endReply' | 'earlierMessage'
  | 'quoteGone';

/** The keys of the texts of reactions and receipts, which load with them. Those with a count are plural texts. */
export type ChatReactionTextKey = 'seen' | 'seenBy' | 'reactionCount' | 'moreReaders';
export type ChatReactionPluralKey = 'reacted' | 'reactedToo';

/** Texts of the element; it uses its own for the keys that are not given. */
export type ChatStrings = {
  [key in ChatTextKey | ChatFileTextKey | ChatChangeTextKey | ChatReactionTextKey | ChatModeratorTextKey]?: string;
} & { [key in ChatPluralKey | ChatReactionPluralKey]?: string | PluralText };

/** Why the element does not chat: a key of the sentence that the user reads. */
export type ChatCause =
  | 'expired' | 'revoked' | 'refused' | 'wrongChat' | 'full' | 'banned' | 'removed' | 'offline' | 'unreachable' | 'noAnswer' | 'serverFault'
  | 'notSetUp' | 'blocked' | 'oldBrowser';

/** What a page puts into the row of a message, by place. Without a node for a place, the element shows its own. */
export interface MessageParts {
  avatar?: Node | null;
  /** In place of the name and the time. */
  header?: Node | null;
  /** In place of the bubble. */
  body?: Node | null;
  below?: Node | null;
  /** Beside the bubble, where the button of the menu is. */
  menu?: Node | null;
}

/** A file that a message brings. Members that `upload` does not give are those of the file. */
export interface ChatFile {
  url: string;
  name?: string;
  type?: string;
  /** In bytes. */
  size?: number;
  /** Of a picture, in pixels. */
  width?: number;
  height?: number;
}

/** The preview of a link. */
export interface ChatCard {
  title: string;
  text?: string;
  /** The address of a picture. It is shown where the page has `resolve`. */
  image?: string;
}

/** An item of the menu of a message. `signalbox-action` tells when the user chooses it. */
export interface ChatAction {
  /** The `action` of the event. */
  name: string;
  /** What the user reads. */
  text: string;
  isDanger?: boolean;
}

/** What a page adds with `customize`. */
export interface ChatCustoms {
  /**
   * The page's own nodes for a message: for its body, or by place; null: the element's. The nodes become children of the
   * element, so that styles of the page apply. Called again when the message or the row changes.
   */
  renderMessage?: ((message: ChatMessage) => Node | MessageParts | null | undefined) | null;
  /** The page's own commands for a message. */
  actions?: readonly ChatAction[] | ((message: ChatMessage) => readonly ChatAction[] | null) | null;
  /** The name of the sender; null: that of the token. The page answers for it. */
  nameOf?: ((message: Pick<ChatMessage, 'senderId' | 'alias'> & Partial<ChatMessage>) => string | null | undefined) | null;
  /** The address of a picture of the sender, `https:` only; null: their initial. */
  avatarOf?: ((message: ChatMessage) => string | null | undefined) | null;
  /**
   * Puts a file where others can load it, and promises its address, `https:` only. Its presence enables the button,
   * pasting and dropping. `progress` takes a part of 1; `signal` tells that the user has cancelled.
   */
  upload?: ((file: File, options: { signal: AbortSignal; progress: (part: number) => void }) => Promise<ChatFile>) | null;
  /**
   * The address to load for that of a file or a picture in a message, such as a signed one, or null: it is not shown.
   * With it, pictures load by themselves.
   */
  resolve?: ((url: string, message: ChatMessage) => string | null | Promise<string | null>) | null;
  /** What a link in the draft leads to; the message carries it as `data.card`. */
  preview?: ((url: string, options: { signal: AbortSignal }) => ChatCard | null | Promise<ChatCard | null>) | null;
  /** The sentence that a message shows under the pointer; null: when it was sent. */
  factsOf?: ((message: ChatMessage) => string | null | undefined) | null;
}

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
  /** Whether the user gets a button with emoji, and completion of `:shortcodes:`. */
  hasEmoji: boolean;
  /** Whether `**bold**`, `*italic*`, `code`, blocks of code and lists in messages are shown as such. */
  hasMarkup: boolean;
  /** Whether the user may edit their messages, where the server permits it. */
  hasEdits: boolean;
  /** Whether the user may delete their messages, where the server permits it. */
  hasDeletes: boolean;
  /** Whether the user may answer a message. */
  hasReplies: boolean;
  /** Whether the user sees what users react with, and may react. Default true. */
  hasReactions: boolean;
  /** Whether the user sees who has read their messages, where the server tells it. Default true. */
  hasReceipts: boolean;
  /** What the user may react with, emoji or short texts; null: the element's six. */
  reactionKeys: readonly string[] | null;
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
  /** Shows messages in the page's way. Members that are not given stay as they are; null takes one away. */
  customize(customs: ChatCustoms): void;
  /** Sends a message of the program; without a text the draft. `data` reaches the renderers of all (CHAT-11). */
  send(content?: ContentToSend): Promise<SendOutcome>;
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
  emoji?: 'on' | 'off';
  markup?: 'on' | 'off';
  edits?: 'on' | 'off';
  deletes?: 'on' | 'off';
  replies?: 'on' | 'off';
  reactions?: 'on' | 'off';
  receipts?: 'on' | 'off';
  placeholder?: string;
}

/** The events, which bubble up to the document. */
export interface SignalboxChatEventMap {
  'signalbox-state': CustomEvent<{ state: SignalboxChat['state'] }>;
  'signalbox-message': CustomEvent<{ message: ChatMessage }>;
  'signalbox-send': CustomEvent<{ message: ChatMessage; data: MessageData | null; refuse(reason?: string): void }>;
  /** `text` is the new text of an edit; null: the message is deleted. */
  'signalbox-change': CustomEvent<{ kind: 'edit' | 'delete'; message: ChatMessage; text: string | null; refuse(reason?: string): void }>;
  'signalbox-action': CustomEvent<{ action: string; message: ChatMessage }>;
  'signalbox-unread': CustomEvent<{ count: number }>;
  'signalbox-error': CustomEvent<{ code: number | null; message: string; cause: ChatCause; restriction?: WriteRestriction }>;
}

declare global {
  // Names of the DOM, for programs that are compiled without its declarations.
  interface Node {}
  interface File {}
  interface AbortSignal {}
  interface Element extends Node {}
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
