// Types of the chat: of `index.js` beside it, and of `import … from 'signalbox-client/text-chat'`. Moments are in ms
// since 1970, durations in ms.

// Messages and rows

/**
 * Why a message was not sent: the channel's error; or with the code null the message `interrupted` after a restart, and
 * `cancelled` after `cancel`.
 */
export interface SendFailure {
  readonly code: number | null;
  readonly message: string;
  /** The restriction because of which the server has refused the message, such as a mute. */
  readonly restriction?: WriteRestriction;
}

/** What keeps a user from writing: a mute, a freeze, or what a later server adds. */
export interface WriteRestriction {
  readonly kind: string;
  /** Absent: it holds until it is lifted. */
  readonly until?: number;
  /** The moderator's words for the user. */
  readonly reason?: string;
}

/** A message as a signal carries it. */
export interface MessageContent {
  readonly text: string;
  /** The sender's connection id, unless the sender has another id; null: unknown. */
  readonly senderId: string | null;
  /** The sender's user, by the server's word: the messages of one user have one author. Null: a guest. */
  readonly user: string | null;
  /**
   * The data of the sender's connection, by the server's word; null: unknown, as of a message by REST, or of one's own
   * that is being sent.
   */
  readonly senderData: string | null;
  /** It came by REST: no connection has sent it, but the project's backend. */
  readonly isFromServer: boolean;
  /** The name that the message states, or the connection's data. To show a name, use `NameBook`. */
  readonly alias: string | null;
  /** By the sender's clock. */
  readonly sentAt: number;
  /** By this client's clock; of a message from the history, when the server accepted it. */
  readonly receivedAt: number;
  /** The sender's name for the message, by which receivers recognize a second delivery. */
  readonly localId: string | null;
  /** The number in the session's order; null: not known. */
  readonly seq: number | null;
  readonly direction: 'sent' | 'received';
  readonly state: 'sending' | 'sent' | 'failed';
  /** The number of the sender's last typing signal. */
  readonly typingN: number | null;
}

export interface ChatMessage extends MessageContent {
  /** Null unless the state is `failed`. */
  readonly failure: SendFailure | null;
  /** A moderator has erased the message. Its text says so, and its content is gone. */
  readonly isErased: boolean;
}

export interface MessageRow {
  /** Stays the same for the life of the row, and no other row has it. */
  readonly id: string;
  readonly kind: 'message';
  readonly message: ChatMessage;
  /** The position in the group. */
  readonly position: 'first' | 'middle' | 'last' | 'single';
  readonly showsSender: boolean;
  readonly showsTime: boolean;
}

/** Stands before the first message of a day. */
export interface DayRow {
  readonly id: string;
  readonly kind: 'day';
  /** As the timeline's `calendar` names it: `2026-03-29`. */
  readonly day: string;
}

/** Stands before the first unread message. */
export interface UnreadDividerRow {
  readonly id: string;
  readonly kind: 'unreadDivider';
}

/** Stands where messages may be missing. */
export interface GapRow {
  readonly id: string;
  readonly kind: 'gap';
}

/** Stands before all messages, when the oldest message of the session's history is shown. */
export interface BeginningRow {
  readonly id: string;
  readonly kind: 'beginning';
}

export type TimelineRow = MessageRow | DayRow | UnreadDividerRow | GapRow | BeginningRow;

/** One step from the rows before to the rows after. Each step applies to the result of the one before. */
export type TimelineChange =
  | { insert: TimelineRow; at: number; remove?: undefined; move?: undefined; update?: undefined }
  | { remove: string; at: number; insert?: undefined; move?: undefined; update?: undefined }
  /** `to` counts without the row. */
  | { move: string; from: number; to: number; insert?: undefined; remove?: undefined; update?: undefined }
  | { update: MessageRow; at: number; insert?: undefined; remove?: undefined; move?: undefined };

/** Applies the changes to the rows in place, and returns the rows. */
export function applyChanges(rows: TimelineRow[], changes: readonly TimelineChange[]): TimelineRow[];

/** Which messages form a group, and which message of a group shows the name and the time. */
export interface GroupingRule {
  /** A message groups if it is less than this younger than the one before. */
  readonly window: number;
  /** A message groups if it is less than this younger than the group's first; null: no such rule. */
  readonly span: number | null;
  /** Whose dates count: those of arrival, or those of the senders. */
  readonly clock: 'arrival' | 'sender';
  readonly breaksAtDay: boolean;
  /** A failed message stands alone. */
  readonly breaksAtFailure: boolean;
  /** One's own messages and those of others never group. */
  readonly separatesOwnMessages: boolean;
  /** The message of a group that shows the time. */
  readonly timePosition: 'first' | 'last';
  readonly showsOwnName: boolean;
}

/** The default: 120 s between two messages, 10 min for a group, by the time of arrival. */
export const STANDARD_RULE: GroupingRule;
/** OpenTok's text chat of 2015. */
export const OPENTOK_RULE: GroupingRule;

/** A row in the look of OpenTok's text chat of 2015. */
export type OpenTokRow =
  | {
      readonly kind: 'sent' | 'received' | 'sentShort' | 'receivedShort';
      readonly id: string;
      readonly message: ChatMessage;
    }
  | { readonly kind: 'divider'; readonly id: string; readonly message?: undefined };

/** The messages of a timeline in the look of OpenTok's text chat of 2015: a divider stands after each group. */
export function openTokRows(rows: readonly TimelineRow[]): OpenTokRow[];

/** Names the day of a moment, as `2026-03-29`. */
export type Calendar = (moment: number) => string;

/** The reader's days. The default time zone is the reader's own; another has a name such as `Asia/Tokyo`. */
export function readerCalendar(timeZone?: string): Calendar;

export interface TimelineOptions {
  /** Default `STANDARD_RULE`. */
  rule?: GroupingRule;
  /** Null, the default: no rows for days. */
  calendar?: Calendar | null;
  /**
   * How many messages are kept; the oldest are dropped. Default 10,000, at least 1. The messages that `loadEarlier`
   * brings are kept in addition, up to as many again.
   */
  limit?: number;
}

/**
 * The messages of one chat, and the rows that show them. `TextChatComponent` fills it; a program reads it. Every method
 * that changes something returns the changes.
 */
export class ChatTimeline {
  constructor(options?: TimelineOptions);
  readonly rule: GroupingRule;
  readonly calendar: Calendar | null;
  limit: number;
  /** Messages that arrive while this is true count as read. Default false. */
  isVisible: boolean;
  /** All rows, from the top. Takes time proportional to their number. */
  readonly rows: TimelineRow[];
  readonly messages: ChatMessage[];
  readonly rowCount: number;
  readonly messageCount: number;
  /** How many messages were dropped over the limit. */
  readonly droppedCount: number;
  /** From this seq on the messages of the session's history are here; null: not known. */
  readonly floor: number | null;
  /** Whether the oldest message of the history is here. */
  readonly hasBeginning: boolean;
  /** Whether earlier messages may be loaded: twice the limit is the most. */
  readonly hasRoom: boolean;
  readonly unreadCount: number;
  /** The id of the row of the first unread message. */
  readonly firstUnreadId: string | null;
  /** How many messages the grouping has visited; a measure of work for tests. */
  readonly stepCount: number;
  /** One's own message with this local id. */
  ownMessage(localId: string): ChatMessage | null;
  /** The id of the row of one's own message. */
  rowIdOf(localId: string): string | null;
  /** Adds a message that is being sent, behind all others. */
  appendPending(message: MessageContent, now: number): TimelineChange[];
  /** The session has the message. */
  confirm(localId: string, seq?: number | null): TimelineChange[];
  fail(localId: string, failure: SendFailure): TimelineChange[];
  retry(localId: string): TimelineChange[];
  /** Removes a failed message. */
  discard(localId: string): TimelineChange[];
  /** Adds a message that is in the session's order. Nothing happens if it is there already. */
  insert(message: MessageContent, now: number): TimelineChange[];
  /** Whether a message of this order with at most this seq is here. */
  knows(seq: number): boolean;
  /**
   * Adds a gap behind the messages that have arrived: something was lost, and a new order begins. With `after` the
   * order goes on, and the gap is behind that seq.
   */
  noteGap(after?: number | null): TimelineChange[];
  /** Adds the messages of a page of the history. The component calls it. */
  merge(messages: readonly MessageContent[], place: { readonly [member: string]: unknown }): TimelineChange[];
  /** Removes the content of one message, all messages up to one, or the content of those of a user. */
  erase(erasure: Erasure): TimelineChange[];
  /** The seq of later messages need not continue that of earlier ones. */
  startEra(): void;
  /** Groups the messages by another rule. The rows of the messages keep their ids. */
  useRule(rule: GroupingRule): TimelineChange[];
  /** Marks the message of this row and all before it as read; null, the default: all. */
  markRead(upTo?: string | null): TimelineChange[];
  /** Restores the messages of an earlier run into a new timeline. */
  restore(messages: readonly ChatMessage[], now: number): TimelineChange[];
}

// The draft

export interface ComposerOptions {
  /** Default 1000. */
  maxLength?: number;
  /** The unit of the length. Default `graphemes`: characters as a reader sees them. */
  unit?: 'graphemes' | 'utf16' | 'utf8';
  /** Whether white space alone can be sent. Default false. */
  sendsBlankText?: boolean;
}

export interface EditResult {
  readonly isAccepted: boolean;
  /** How much more text fits. */
  readonly remaining: number;
  /** How much the new text is too long; 0 if it was accepted. */
  readonly excess: number;
}

/** The draft with its limits. */
export class Composer {
  constructor(options?: ComposerOptions);
  readonly text: string;
  maxLength: number;
  unit: 'graphemes' | 'utf16' | 'utf8';
  sendsBlankText: boolean;
  /** How much more text fits. Negative if `maxLength` was lowered below the text's length. */
  readonly remaining: number;
  /** Why the text itself cannot be sent. */
  readonly refusal: DraftRefusal | null;
  /** Replaces the text. A text that is too long is refused whole, and the old one stays. */
  edit(newText: string): EditResult;
  /** The result that `edit` would return. */
  check(newText: string): EditResult;
  clear(): void;
  restore(text: string): void;
}

export type DraftRefusal = { readonly reason: 'blank' } | { readonly reason: 'tooLong'; readonly excess: number };

// The channel

/** A connection of the session, as the server describes it. */
export interface ChatConnection {
  readonly connectionId: string;
  readonly data?: string;
  /** The user that its token names; absent or null: a guest. */
  readonly user?: string | null;
}

export interface ChatSignal {
  readonly type: string;
  readonly data?: string;
  /** Only for clients that are connected now. */
  readonly onlineOnly?: boolean;
  /** The id of the only connection that gets it; absent: all. */
  readonly to?: string;
}

/** Which page of the history: the newest messages, those before a seq, or those after one. */
export interface HistoryRequest {
  readonly before?: number;
  readonly after?: number;
  readonly limit?: number;
}

/** A message of the history. */
export interface KeptMessage {
  readonly seq: number;
  /** The sender's connection as the server stamped it; null: the server sent the signal. */
  readonly from: ChatConnection | null;
  readonly type?: string;
  readonly data?: string;
  /** When the server accepted it. */
  readonly time: number;
  /** A moderator has erased it: it has no type and no data. */
  readonly erased?: boolean;
}

/** A part of the history, oldest message first. */
export interface HistoryPage {
  /** The oldest and the newest message of the whole history; absent if it is empty. */
  readonly first?: number;
  readonly last?: number;
  /** Whether other messages follow in the direction of the request. */
  readonly more: boolean;
  readonly messages: readonly KeptMessage[];
}

/** Which messages were erased: one, all up to one, or those of a user before a seq. */
export type Erasure =
  | { readonly ref: number; readonly through?: undefined; readonly user?: undefined }
  | { readonly through: number; readonly ref?: undefined; readonly user?: undefined }
  | { readonly user: string; readonly before: number; readonly ref?: undefined; readonly through?: undefined };

/** Sends the messages of a chat, and reads its history if there is one. */
export interface ChatChannel {
  /** One's own connection; null before it is connected. */
  readonly connectionId: string | null;
  /** One's own user. Absent or null: a guest. */
  readonly user?: string | null;
  /** Resolves when the server has acknowledged the signal; rejects with an error that has `code` and `message`. */
  send(signal: ChatSignal): Promise<{ readonly seq?: number | null } | void>;
  /** Whether the session keeps a history that this connection may read. Absent: false. */
  readonly hasHistory?: boolean;
  /** The connections that are in the session when the chat gets the channel, or it connects. */
  readonly connections?: readonly ChatConnection[];
  /** The name of the session's order. While it stays, seqs go on. Absent or null: not known. */
  readonly epoch?: string | null;
  /** Promises a page. Needed where `hasHistory` is true. */
  history?(request: HistoryRequest): Promise<HistoryPage>;
  /** What keeps the user from writing at this moment; null: nothing. Absent: nothing ever does. */
  restriction?(now: number): WriteRestriction | null;
}

export interface ReceivedSignal {
  readonly kind: 'signal';
  readonly type?: string;
  readonly data?: string;
  /** The sender's connection as the server stamped it; null: the server sent the signal. */
  readonly from: ChatConnection | null;
  readonly seq?: number | null;
}

/** An event of a channel. */
export type ChannelEvent =
  | ReceivedSignal
  /** Events may be missing. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'connected'; readonly connectionId: string }
  | { readonly kind: 'reconnecting' }
  | { readonly kind: 'reconnected'; readonly connectionId?: string }
  | { readonly kind: 'disconnected' }
  /** The page that the connect asked for. */
  | { readonly kind: 'history'; readonly page: HistoryPage }
  /** Messages were erased from the history. */
  | ({ readonly kind: 'erased' } & Erasure)
  /** What the channel's `restriction` answers has changed, other than by the clock. */
  | { readonly kind: 'restrictionsChanged' }
  | { readonly kind: 'connectionCreated' | 'connectionDestroyed'; readonly connection: ChatConnection };

/** The members of an OpenTok session that a chat uses. Sessions of this library and of OpenTok's have them. */
export interface ChatSession {
  readonly connection?: ChatConnection | null;
  /** Needed for signals to one connection. */
  readonly connections?: { get(id: string): any };
  on(name: string, handler: (event: any) => void): unknown;
  off(name: string, handler: (event: any) => void): unknown;
  signal(options: any, handler: (error?: Error) => void): void;
  /** Only sessions of this library have a history. */
  readonly hasHistory?: boolean;
  readonly epoch?: string | null;
  history?(request: HistoryRequest): Promise<any>;
  /** Only sessions of this library have moderation. */
  readonly restrictedBy?: readonly WriteRestriction[];
}

/**
 * A session as the channel of a chat. `report` receives the events for `TextChatComponent.handle`. Create it before
 * `session.connect`: it reports only what happens from then on, and the chat counts the members by these events.
 */
export class SessionChannel implements ChatChannel {
  constructor(session: ChatSession, report: (event: ChannelEvent) => void);
  readonly connectionId: string | null;
  readonly user: string | null;
  readonly hasHistory: boolean;
  readonly connections: readonly ChatConnection[];
  readonly epoch: string | null;
  send(signal: ChatSignal): Promise<{ readonly seq?: number | null }>;
  history(request: HistoryRequest): Promise<HistoryPage>;
  restriction(): WriteRestriction | null;
  /** Ends the reports. */
  stop(): void;
}

// The chat

/** Why a draft cannot be sent. */
export type Refusal =
  | DraftRefusal
  /** The message is longer than a signal may be. */
  | { readonly reason: 'signalTooLong'; readonly excess: number }
  | { readonly reason: 'notConnected' }
  /** A moderator keeps the user from writing. The draft stays. */
  | { readonly reason: 'restricted'; readonly restriction: WriteRestriction }
  /** The queue is full: 100 messages wait, are being sent, or have failed. */
  | { readonly reason: 'tooManyWaiting' }
  | { readonly reason: 'localIdTaken' }
  /** `onMessageReadyToSend` returned false. */
  | { readonly reason: 'byDelegate' };

export type SendOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly failure: SendFailure }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'discarded' }
  /** The failed message with the local id `by` holds it back. It stays queued. */
  | { readonly outcome: 'heldBack'; readonly by: string }
  /** Only of `retry`: the message is being sent already. */
  | { readonly outcome: 'stillSending' };

/** What happened, apart from the changes of the rows. */
export type ChatActivity =
  | { readonly kind: 'draftEdited' | 'draftSet' | 'restored'; readonly text: string }
  | { readonly kind: 'messageSubmitted'; readonly localId: string }
  | { readonly kind: 'messageReceived'; readonly from: string | null; readonly message: MessageContent }
  /** A signal that is not a message, such as a typing signal. */
  | { readonly kind: 'otherSignal'; readonly signal: ReceivedSignal }
  | { readonly kind: 'unread'; readonly count: number }
  /** A page was read, with the changes that it made; or `hasEarlier`, `isLoadingEarlier` or `historyError` has changed. */
  | { readonly kind: 'historyChanged' }
  /** `restriction` has changed. */
  | { readonly kind: 'restrictionChanged' }
  | Exclude<ChannelEvent, ReceivedSignal | { readonly kind: 'lost' | 'history' | 'restrictionsChanged' }>;

/** The signal type of messages: JSON, or bare text as OpenTok's first sample sends it. */
export type WireForm = 'text-chat' | 'TextChat';
export const CHAT_TYPE: 'text-chat';
export const BARE_TYPE: 'TextChat';

export interface ChatOptions {
  channel?: ChatChannel | null;
  composer?: Composer;
  timeline?: ChatTimeline;
  /** The form in which messages are sent; both are read. Default `CHAT_TYPE`. */
  wireForm?: WireForm;
  /**
   * While a program is there that writes bare text, as OpenTok's first sample, messages are bare text, too, and no typing
   * is sent. Default false.
   */
  isAdaptive?: boolean;
  /** Without a channel it sends the message; with one it may refuse it. Return false to refuse. */
  onMessageReadyToSend?: ((message: MessageContent) => boolean) | null;
  typing?: ChatTyping | null;
  /**
   * Called after each change of the rows, and for every event that does not change them. An error that it throws goes
   * to `reportError`, and changes nothing else.
   */
  changed?: (changes: TimelineChange[], activity: ChatActivity | null) => void;
}

/** A text chat without a page: the rows, the draft, what is unread, and the sending of messages. */
export class TextChatComponent {
  constructor(options?: ChatOptions);
  /** One's own id in messages; null, the default: the connection's id. */
  senderId: string | null;
  /** One's own name in messages. */
  alias: string | null;
  /** The names of the senders. It knows who is here, and who has written. */
  readonly names: NameBook;
  readonly composer: Composer;
  readonly timeline: ChatTimeline;
  wireForm: WireForm;
  isAdaptive: boolean;
  onMessageReadyToSend: ((message: MessageContent) => boolean) | null;
  readonly typing: ChatTyping | null;
  changed: (changes: TimelineChange[], activity: ChatActivity | null) => void;
  channel: ChatChannel | null;
  /** All rows, from the top. */
  readonly rows: TimelineRow[];
  readonly draft: string;
  /** How much more text fits into the draft. */
  readonly remaining: number;
  readonly unreadCount: number;
  /** One's own connections, the newest last: save them with the messages, and give them to `restore`. */
  readonly ownConnectionIds: string[];
  /**
   * Whether the history has messages before those that are shown, and the chat has room for them; null: not known, as
   * without a history.
   */
  readonly hasEarlier: boolean | null;
  readonly isLoadingEarlier: boolean;
  /** Why the history could not be read; null after a success. */
  readonly historyError: SendFailure | null;
  /**
   * What keeps the user from writing, as of the last call that had a time; null: nothing. Show it at the field, which is
   * read-only meanwhile. The activity `restrictionChanged` tells when it changes.
   */
  readonly restriction: WriteRestriction | null;
  /** When to call `advance`; null: the restriction holds until it is lifted, or there is none. */
  nextRestrictionCheck(now: number): number | null;
  /** Handles the end of a restriction, which comes without an event. Call it at `nextRestrictionCheck`. */
  advance(now: number): void;
  /** Whether `refusal()` returns null. */
  readonly canSend: boolean;
  /** The local id of the failed message that holds back those behind it. */
  readonly obstacle: string | null;
  /**
   * Whether the chat is visible to the user. Messages that arrive meanwhile count as read. A change to false also ends
   * the user's typing. Default false.
   */
  isVisible: boolean;
  /** Why the draft cannot be sent; null: it can, unless `onMessageReadyToSend` refuses it. */
  refusal(): Refusal | null;
  /** The user has changed the draft. A text that is too long is refused whole. */
  edit(newText: string): EditResult;
  /** The program changes the draft, and the user does not type. */
  setDraft(newText: string): EditResult;
  /**
   * Loads one more page before the oldest message. Two calls at once are one. `changed` tells when it has come, or why
   * not; then it may be called again. Returns whether a page will come.
   */
  loadEarlier(): boolean;
  /** Handles an event of the channel that arrived at `now`. */
  handle(event: ChannelEvent, now: number): TimelineChange[];
  /** Queues the draft as a message. Returns null, or why it was refused. `localId` is a new name: `newLocalId()`. */
  enqueue(now: number, localId: string): Refusal | null;
  /** Queues the draft as a message, and promises the outcome. Never waits behind a failed message. */
  send(now: number, localId: string): Promise<SendOutcome>;
  /** Promises the outcome of one's own message, also while a failed message holds it back. */
  outcomeOf(localId: string): Promise<SendOutcome>;
  /** Withdraws a queued message that has not left. Returns whether it was withdrawn. */
  cancel(localId: string): boolean;
  /** Sends a failed message again, as the same row. Refused with `notConnected`, it stays failed. */
  retry(localId: string): Promise<SendOutcome>;
  /** Removes a failed message. */
  discard(localId: string): TimelineChange[];
  /** Sends the messages behind failed ones. */
  passFailed(): void;
  /** Marks the message of this row and all before it as read; null, the default: all. */
  markRead(upTo?: string | null): TimelineChange[];
  /** Groups the rows by another rule. The messages stay as they are, and those that are being sent go on. */
  useRule(rule: GroupingRule): TimelineChange[];
  /**
   * Restores the messages and the draft of an earlier run into a new component. By `ownConnectionIds` it recognizes
   * one's own messages in the history.
   */
  restore(
    saved: { messages: readonly ChatMessage[]; draft: string; ownConnectionIds?: readonly string[] }, now: number,
  ): void;
}

/** A new local id for a message. */
export function newLocalId(): string;

/** The message as signal data. */
export function encodeMessage(message: Partial<MessageContent> & { readonly text: string }, form?: WireForm): string;

/** The message in a signal; null if the signal is not a chat message. */
export function decodeSignal(
  signal: Omit<ReceivedSignal, 'kind'> & { readonly receivedAt: number },
): MessageContent | null;

// Names

/**
 * The name in a connection's data: a bare name, `name=Ada%20Lovelace`, or JSON with a `name`, a `nickname` or the like.
 * Without one it is the user, and for a guest `guest(number)`, by default `Guest` and the number, which everybody in the
 * room sees alike. A guest cannot have a name that the chat itself uses, such as `Server`.
 */
export function displayName(
  connection: { readonly data?: string; readonly connectionId?: string; readonly user?: string | null },
  guest?: (number: string) => string,
): string;

/**
 * The names of senders: the name in the connection's data, then the user of the token, then, for a guest, the alias in
 * the message, unless it is another's name. `TextChatComponent.names` is one that knows who is here and who has written.
 */
export class NameBook {
  /** Whether some sender has a user, so that guests are marked. */
  readonly hasUsers: boolean;
  /** Increases when a name that was given may be another one now: an alias has turned out to be another's name. */
  readonly revision: number;
  /** Notes a connection that is here, as the server describes it. */
  note(connection: ChatConnection): void;
  /** The connection is not here any more. */
  noteDeparture(connectionId: string): void;
  /** No connection is here: one's own has ended. */
  noteEnd(): void;
  /** Notes the sender of a message, of now or of the history, and the name in the message. */
  noteMessage(message: NamedMessage): void;
  /** The name of a message's sender. */
  nameOf(message: NamedMessage, options?: { guest?: (id: string) => string; server?: () => string }): string;
  /** The number to show beside the name if another person has the same name; else null. It stays over reloads. */
  numberOf(message: NamedMessage): string | null;
  /** The name of a user who is or was here; null: not known. */
  nameOfUser(user: string): string | null;
  /** Whether the sender is a guest among users. */
  isGuest(message: Omit<NamedMessage, 'alias'>): boolean;
}

/** What a name depends on: the members of a message, or of a connection by its `senderId` alone. */
export type NamedMessage = Pick<MessageContent, 'senderId' | 'alias'>
  & Partial<Pick<MessageContent, 'user' | 'senderData' | 'isFromServer' | 'seq'>>;

// Typing

/** A user who types. `name` is null if it is unknown. */
export interface Typer {
  readonly name: string | null;
  readonly connectionId: string;
}

/** The users who type and who have paused, in the order in which they began, and how many there are in all. */
export interface TypingSnapshot {
  readonly typing: readonly Typer[];
  readonly paused: readonly Typer[];
  readonly typingCount: number;
  readonly pausedCount: number;
}

export type TypingAction = 'begin' | 'pause' | 'finish';

/** The changes between two snapshots. */
export function typingChanges(
  earlier: TypingSnapshot, later: TypingSnapshot,
): Array<{ readonly typer: Typer; readonly action: TypingAction }>;

/** The intervals and flags of typing indicators. */
export interface TypingPolicy {
  /** The signal type in which typing is sent; both are read. `TypingBegin` has no pause and no finish. */
  readonly wireForm: 'typing' | 'TypingBegin';
  /** While the user types, begin is sent again once this has passed. */
  readonly refresh: number;
  /** A key that comes too early for a refresh sends it when the interval has passed. */
  readonly refreshTrails: boolean;
  /** Without a key for this long: pause. Null: never. */
  readonly idleToPause: number | null;
  /** In pause for this long: finish. Null: never. */
  readonly pauseToFinish: number | null;
  /** Whether a message also causes a finish: before the message, or later if `minimumGap` delays it. */
  readonly finishesWhenMessageSent: boolean;
  /** How long a begin shows another user as typing. */
  readonly beginExpiry: number;
  /** How long a pause shows another user as paused. */
  readonly pauseExpiry: number;
  /** How long a user stays in the list after they stop typing, at most 2000. Null: not at all. */
  readonly linger: number | null;
  /** The least time for which a user is shown as typing. Null: none. */
  readonly minimumShow: number | null;
  readonly pausedCountsAsTyping: boolean;
  /** The least time between two typing signals. Null: none. */
  readonly minimumGap: number | null;
  /** In a room with more members nothing is sent or shown. Null: no such rule. */
  readonly roomCap: number | null;
  /** A user who has opted out does not see others either. */
  readonly isReciprocal: boolean;
  /** How many users a snapshot names, 1 to 1000. */
  readonly typerLimit: number;
}

export const TYPING_PRESETS: Readonly<Record<'standard' | 'layer' | 'layerWeb' | 'easemob', TypingPolicy>>;

/**
 * A policy: `base` with the settings that differ. Throws `TypingPolicyError`. `isStrict` also refuses an expiry below
 * 1.5 times the refresh.
 */
export function typingPolicy(
  base?: keyof typeof TYPING_PRESETS | TypingPolicy, changes?: Partial<TypingPolicy>, options?: { isStrict?: boolean },
): TypingPolicy;

/** Why a policy refuses its settings. */
export class TypingPolicyError extends Error {
  constructor(code: TypingPolicyError['code'], setting: string);
  readonly name: 'TypingPolicyError';
  readonly code:
    | 'notPositive' | 'tooLong' | 'expiryTooShort' | 'marginTooSmall' | 'notOnTheWire' | 'countOutOfRange' | 'unknown'
    | 'wrongKind';
  readonly setting: string;
}

export interface TypingOptions {
  /**
   * Sends a signal to all clients, or to the connection `to`. Its promise resolves when the signal has left. After a
   * rejection the next key sends a new signal.
   */
  publish: (signal: ChatSignal) => unknown;
  /** Receives each new snapshot. */
  changed?: (snapshot: TypingSnapshot) => void;
  /** Default `TYPING_PRESETS.standard`. */
  policy?: TypingPolicy;
  /** See the property of `ChatTyping`. Default null. */
  recipient?: string | null;
  isOptedOut?: boolean;
  blockedUsers?: readonly string[];
  /** Names the user of a connection. Default: the connection's data. The server's word on its user counts besides. */
  userOf?: (connection: ChatConnection) => string | null;
  /** A monotonic clock in ms; `setTimeout` and `clearTimeout` belong to it. */
  clock?: () => number;
  setTimeout?: (act: () => void, delay: number) => unknown;
  clearTimeout?: (timer: any) => void;
}

/** Typing of a `TextChatComponent`, which feeds it. */
export class ChatTyping {
  constructor(options: TypingOptions);
  /** The users who type now. */
  readonly current: TypingSnapshot;
  /** The number for a message that is written now; null after `stop`. */
  readonly typingN: number | null;
  /** One's own connection; null while it is not up. */
  readonly connection: string | null;
  policy: TypingPolicy;
  /** The id of the only connection that gets this user's typing signals; null: all. */
  recipient: string | null;
  /** Nothing about this user's typing is sent. */
  isOptedOut: boolean;
  /** Exactly these users are never shown: as `userOf` names them, or by their ids. */
  blockedUsers: readonly string[];
  /** Sets the user's action; repeat it freely. A component does this by itself. */
  send(action: TypingAction): void;
  /** The user has left the room. */
  leave(): void;
  /** Ends typing for good: no user is shown, and nothing is sent. Others show a typing user until the expiry. */
  stop(): void;
  /** Handles an input of the typing rules. The component calls it. */
  handle(input: { readonly kind: string; readonly [member: string]: unknown }): void;
  /** Handles a signal of another connection, if it is about typing. The component calls it. */
  receive(signal: Omit<ReceivedSignal, 'kind'>): void;
}

/** A sentence that states who is typing, as a key with arguments. */
export interface TypingPhrase {
  readonly key:
    | 'nobody' | 'someone' | 'one' | 'two' | 'three' | 'oneAndOther' | 'oneAndOthers' | 'twoAndOther' | 'twoAndOthers'
    | 'people' | 'several';
  readonly names: readonly string[];
  readonly count: number;
}

export interface TypingPhraseOptions {
  /** How many people type in all; the names may be fewer. */
  count?: number;
  limits?: {
    /** Up to this many people are all named: 0 to 3, default 3. */
    names?: number;
    /** Of more people the key is `several`. Default 20. */
    people?: number;
    /** Longer names are cut; in characters as a reader sees them. Default 30. */
    nameLength?: number;
  };
}

export function typingPhrase(names: readonly string[], options?: TypingPhraseOptions): TypingPhrase;

/** Phrases from the longest to the shortest. Show the first that fits the line. */
export function typingPhraseLadder(names: readonly string[], options?: TypingPhraseOptions): TypingPhrase[];

/** The sentence in a language, English or Chinese; empty if nobody types. */
export function typingText(phrase: TypingPhrase, language?: string): string;
