// Types of the chat: of `index.js` beside it, and of `import … from 'signalbox-client/text-chat'`. Moments are in ms
// since 1970, durations in ms. In the sources this file has the shapes of values, as global names for the comments in
// JavaScript; `scripts/parts/declare-types.mjs` adds the classes, functions and constants.

// Messages and rows

/**
 * Why a message was not sent: the channel's error; or with the code null the message `interrupted` after a restart, and
 * `cancelled` after `cancel`.
 */
interface SendFailure {
  readonly code: number | null;
  readonly message: string;
  /** The restriction because of which the server has refused the message, such as a mute. */
  readonly restriction?: WriteRestriction;
}

/** What keeps a user from writing: a mute, a freeze, or what a later server adds. */
interface WriteRestriction {
  readonly kind: string;
  /** Absent: it holds until it is lifted. */
  readonly until?: number;
  /** The moderator's words for the user. */
  readonly reason?: string;
}

/** A message as a signal carries it. */
interface MessageContent {
  readonly text: string;
  /** The signal type in which it is, and its edits are; null: not known. */
  readonly wireForm: WireForm | null;
  /** The connection that has sent it, by the server's word; null: not known, as of one's own that is being sent. */
  readonly connectionId: string | null;
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
  /** The seq of the earlier message that it answers (CHAT-12); null: none. `TextChatComponent.quoteOf` finds it. */
  readonly replyTo: number | null;
  /** The seq of its last edit; null: it was not edited. */
  readonly version: number | null;
  /** When it was last edited; null: it was not, or the time is not known. */
  readonly editedAt: number | null;
  /** What the sender's program has added (CHAT-11): any program may have written it. */
  readonly data: MessageData | null;
}

/** An object of a program, at most 4,096 bytes as JSON. */
type MessageData = { readonly [name: string]: unknown };

/** What to send in place of the draft, or with it. */
interface ContentToSend {
  /** Absent or null: the draft. */
  readonly text?: string | null;
  readonly data?: MessageData | null;
}

interface ChatMessage extends MessageContent {
  /** Null unless the state is `failed`. */
  readonly failure: SendFailure | null;
  /** Its author or a moderator has erased the message. Its text says so, and its content is gone. */
  readonly isErased: boolean;
  /** What users have reacted with, in the order in which it came to the message. */
  readonly reactions: readonly Reaction[];
}

/** How many users have reacted to a message with this key. */
interface ReactionCount {
  readonly key: string;
  readonly count: number;
}

interface Reaction extends ReactionCount {
  /** The user is one of them. */
  readonly isMine: boolean;
}

/** A message's counts, as of the event with this seq; or the keys that the user has on it. */
type ToldReactions =
  | { readonly ref: number; readonly seq: number; readonly reactions: readonly ReactionCount[]; readonly keys?: undefined }
  | { readonly ref: number; readonly keys: readonly string[]; readonly seq?: number; readonly reactions?: undefined };

/** Some of those who have reacted with a key. */
interface Reactors extends ReactionCount {
  readonly users: readonly KnownUser[];
}

/** A user by id, with the name if it is known. */
interface KnownUser {
  readonly user: string;
  readonly name: string | null;
}

/** Who has read a message of one's own: `id` is its row. */
interface Receipt {
  readonly id: string;
  readonly users: readonly KnownUser[];
}

/** Which connection has sent a message, whose user, and in which form. What is absent stays. */
type MessageStamp = Partial<Pick<MessageContent, 'connectionId' | 'user' | 'wireForm'>>;

/** The message that another one answers: it is here, was erased, or is not loaded. */
type Quote =
  | { readonly state: 'shown'; readonly id: string; readonly message: ChatMessage }
  | { readonly state: 'deleted'; readonly id: string }
  | { readonly state: 'earlier'; readonly seq: number; readonly id?: undefined };

interface MessageRow {
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
interface DayRow {
  readonly id: string;
  readonly kind: 'day';
  /** As the timeline's `calendar` names it: `2026-03-29`. */
  readonly day: string;
}

/** Stands before the first unread message. */
interface UnreadDividerRow {
  readonly id: string;
  readonly kind: 'unreadDivider';
}

/** Stands where messages may be missing. */
interface GapRow {
  readonly id: string;
  readonly kind: 'gap';
}

/** Stands before all messages, when the oldest message of the session's history is shown. */
interface BeginningRow {
  readonly id: string;
  readonly kind: 'beginning';
}

type TimelineRow = MessageRow | DayRow | UnreadDividerRow | GapRow | BeginningRow;

/** One step from the rows before to the rows after. Each step applies to the result of the one before. */
type TimelineChange =
  | { insert: TimelineRow; at: number; remove?: undefined; move?: undefined; update?: undefined }
  | { remove: string; at: number; insert?: undefined; move?: undefined; update?: undefined }
  /** `to` counts without the row. */
  | { move: string; from: number; to: number; insert?: undefined; remove?: undefined; update?: undefined }
  | { update: MessageRow; at: number; insert?: undefined; remove?: undefined; move?: undefined };

/** Which messages form a group, and which message of a group shows the name and the time. */
interface GroupingRule {
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

/** A row in the look of OpenTok's text chat of 2015. */
type OpenTokRow =
  | {
      readonly kind: 'sent' | 'received' | 'sentShort' | 'receivedShort';
      readonly id: string;
      readonly message: ChatMessage;
    }
  | { readonly kind: 'divider'; readonly id: string; readonly message?: undefined };

/** Names the day of a moment, as `2026-03-29`. */
type Calendar = (moment: number) => string;

interface TimelineOptions {
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

// The draft

interface ComposerOptions {
  /** Default 1000. */
  maxLength?: number;
  /** The unit of the length. Default `graphemes`: characters as a reader sees them. */
  unit?: 'graphemes' | 'utf16' | 'utf8';
  /** Whether white space alone can be sent. Default false. */
  sendsBlankText?: boolean;
}

interface EditResult {
  readonly isAccepted: boolean;
  /** How much more text fits. */
  readonly remaining: number;
  /** How much the new text is too long; 0 if it was accepted. */
  readonly excess: number;
}

type DraftRefusal = { readonly reason: 'blank' } | { readonly reason: 'tooLong'; readonly excess: number };

// The channel

/** A connection of the session, as the server describes it. */
interface ChatConnection {
  readonly connectionId: string;
  readonly data?: string;
  /** The user that its token names; absent or null: a guest. */
  readonly user?: string | null;
}

/** The new data of a message that the session has: `data` is that of a signal. */
interface MessageEdit {
  readonly ref: number;
  readonly rel: 'edit';
  readonly data: string;
}

interface ChatSignal {
  readonly type: string;
  readonly data?: string;
  /** Only for clients that are connected now. */
  readonly onlineOnly?: boolean;
  /** The id of the only connection that gets it; absent: all. */
  readonly to?: string;
}

/** Which page of the history: the newest messages, those before a seq, after one, or changed since one (CHG-9). */
interface HistoryRequest {
  readonly before?: number;
  readonly after?: number;
  readonly changedAfter?: number;
  readonly limit?: number;
}

/** A message of the history. */
interface KeptMessage {
  readonly seq: number;
  /** The sender's connection as the server stamped it; null: the server sent the signal. */
  readonly from: ChatConnection | null;
  readonly type?: string;
  readonly data?: string;
  /** When the server accepted it. */
  readonly time: number;
  /** It was erased: it has no type and no data. */
  readonly erased?: boolean;
  /** The seq of its last edit, and when that was. */
  readonly changed?: number;
  readonly edited?: number;
  /** What users have reacted with, and the seq of the event that has told it. */
  readonly reactions?: readonly ReactionCount[];
  readonly reacted?: number;
}

/** A part of the history, oldest message first. */
interface HistoryPage {
  /** The oldest and the newest message of the whole history; absent if it is empty. */
  readonly first?: number;
  readonly last?: number;
  /** Whether other messages follow in the direction of the request. */
  readonly more: boolean;
  readonly messages: readonly KeptMessage[];
  /** Of what has changed: the seq from which the next request goes on. */
  readonly changedThrough?: number;
  /** Of what has changed: the server cannot list it, and `messages` is empty. */
  readonly all?: boolean;
  /** What the user has reacted with to messages of the page. */
  readonly mine?: ReadonlyArray<{ readonly ref: number; readonly keys: readonly string[] }>;
}

/** Who has read up to where, as of the connect (READ-3). */
interface ReadState {
  /** `own`: only the user's own marker is told; `shared`: those of others, too. */
  readonly markers: string;
  /** The user's marker; absent: there is none yet. */
  readonly through?: number;
  /** How many messages of others are above it, at most 100. */
  readonly unread?: number;
  readonly readers?: ReadonlyArray<{ readonly user: string; readonly through: number }>;
}

/** Which messages were erased: one, all up to one, or those of a user before a seq. */
type Erasure =
  | { readonly ref: number; readonly through?: undefined; readonly user?: undefined }
  | { readonly through: number; readonly ref?: undefined; readonly user?: undefined }
  | { readonly user: string; readonly before: number; readonly ref?: undefined; readonly through?: undefined };

/** Sends the messages of a chat, and reads its history if there is one. */
interface ChatChannel {
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
  /** What the session permits to change, such as `edit` and `erase`; absent or null: nothing can be changed (CHG-3). */
  readonly changes?: readonly string[] | null;
  /** Changes a message; as `send`, with the seq of the change. Needed where `changes` has `edit`. */
  change?(change: MessageEdit): Promise<{ readonly seq?: number | null } | void>;
  /** Erases a message. Needed where `changes` has `erase`. */
  erase?(message: { readonly ref: number }): Promise<unknown>;
  /** Sets the user's whole set of reactions to a message. Needed where `changes` has `react`. */
  react?(reactions: { readonly ref: number; readonly keys: readonly string[] }): Promise<unknown>;
  /** Promises who has reacted to a message. Absent: nobody can be asked. */
  reactors?(message: { readonly ref: number; readonly key?: string }): Promise<
    ReadonlyArray<ReactionCount & { readonly users: readonly string[] }>
  >;
  /** The read markers as of the last connect; absent or null: the session has none. */
  readonly readState?: ReadState | null;
  /** The user has read all messages up to a seq. Needed where `readState` is not null. */
  markRead?(marker: { readonly through: number }): Promise<unknown>;
  /** What keeps the user from writing at this moment; null: nothing. Absent: nothing ever does. */
  restriction?(now: number): WriteRestriction | null;
}

interface ReceivedSignal {
  readonly kind: 'signal';
  readonly type?: string;
  readonly data?: string;
  /** The sender's connection as the server stamped it; null: the server sent the signal. */
  readonly from: ChatConnection | null;
  readonly seq?: number | null;
}

/** An event of a channel. */
type ChannelEvent =
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
  /** A message was changed: with `rel` `edit` it has other data. */
  | {
      readonly kind: 'changed'; readonly seq: number; readonly ref: number; readonly rel: string; readonly data?: string;
    }
  /** A message has these reactions now. */
  | {
      readonly kind: 'reactions'; readonly seq: number; readonly ref: number; readonly reactions: readonly ReactionCount[];
    }
  /** The user has exactly these keys on a message, by another connection of theirs. */
  | { readonly kind: 'reacted'; readonly seq: number; readonly ref: number; readonly keys: readonly string[] }
  /** A user has read all messages up to this seq. */
  | { readonly kind: 'read'; readonly user: string; readonly through: number }
  /** What the channel's `restriction` answers has changed, other than by the clock. */
  | { readonly kind: 'restrictionsChanged' }
  | { readonly kind: 'connectionCreated' | 'connectionDestroyed'; readonly connection: ChatConnection };

/** The members of an OpenTok session that a chat uses. Sessions of this library and of OpenTok's have them. */
interface ChatSession {
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
  readonly changes?: readonly string[] | null;
  change?(change: MessageEdit): Promise<any>;
  erase?(message: { readonly ref: number }): Promise<any>;
  react?(reactions: { ref: number; keys: readonly string[] }): Promise<any>;
  reactors?(message: { ref: number; key?: string }): Promise<any>;
  readonly readState?: ReadState | null;
  markRead?(marker: { through: number }): Promise<any>;
  /** Only sessions of this library have moderation. */
  readonly restrictedBy?: readonly WriteRestriction[];
}

// The chat

/** Why a draft cannot be sent. */
type Refusal =
  | DraftRefusal
  /** The message is longer than a signal may be. */
  | { readonly reason: 'signalTooLong'; readonly excess: number }
  /** The data is longer than 4,096 bytes as JSON. */
  | { readonly reason: 'dataTooLong'; readonly excess: number }
  | { readonly reason: 'notConnected' }
  /** A moderator keeps the user from writing. The draft stays. */
  | { readonly reason: 'restricted'; readonly restriction: WriteRestriction }
  /** The queue is full: 100 messages wait, are being sent, or have failed. */
  | { readonly reason: 'tooManyWaiting' }
  | { readonly reason: 'localIdTaken' }
  /** `onMessageReadyToSend` returned false. */
  | { readonly reason: 'byDelegate' };

/** The error of a change that was not asked for. An error of the server has a code, and no reason. */
interface ChangeRefusal extends Error {
  readonly code: null;
  readonly reason:
    | 'unknown' | 'erased' | 'notOwn' | 'notPermitted' | 'notConnected' | 'restricted' | 'blank' | 'tooLong' | 'unchanged';
  /** Only of `tooLong`. */
  readonly excess?: number;
  /** Only of `restricted`. */
  readonly restriction?: WriteRestriction;
}

type SendOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly failure: SendFailure }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'discarded' }
  /** The failed message with the local id `by` holds it back. It stays queued. */
  | { readonly outcome: 'heldBack'; readonly by: string }
  /** Only of `retry`: the message is being sent already. */
  | { readonly outcome: 'stillSending' };

/** What happened, apart from the changes of the rows. */
type ChatActivity =
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
type WireForm = 'text-chat' | 'TextChat';

interface ChatOptions {
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
  /** Called before a message leaves; a promise that it returns delays the message. See `TextChatComponent.unsent`. */
  handOver?: ((localId: string) => Promise<unknown> | null) | null;
  /**
   * Called after each change of the rows, and for every event that does not change them. An error that it throws goes
   * to `reportError`, and changes nothing else.
   */
  changed?: (changes: TimelineChange[], activity: ChatActivity | null) => void;
  /** The monotonic clock, in ms, and the timers by which read markers are sent. Default: those of the system. */
  timers?: {
    clock(): number;
    setTimeout(act: () => void, delay: number): any;
  };
}

/** One's own message that the session does not have yet. One that was `leaving` may have arrived. */
interface UnsentMessage {
  readonly localId: string;
  readonly text: string;
  readonly alias: string | null;
  readonly sentAt: number;
  /** Absent: as null. */
  readonly replyTo?: number | null;
  readonly data: MessageData | null;
  readonly state: 'waiting' | 'leaving' | 'failed';
  readonly failure: SendFailure | null;
}

// Names

/** What a name depends on: the members of a message, or of a connection by its `senderId` alone. */
type NamedMessage = Pick<MessageContent, 'senderId' | 'alias'>
  & Partial<Pick<MessageContent, 'user' | 'senderData' | 'isFromServer' | 'seq'>>;

// Typing

/** A user who types. `name` is null if it is unknown. */
interface Typer {
  readonly name: string | null;
  readonly connectionId: string;
}

/** The users who type and who have paused, in the order in which they began, and how many there are in all. */
interface TypingSnapshot {
  readonly typing: readonly Typer[];
  readonly paused: readonly Typer[];
  readonly typingCount: number;
  readonly pausedCount: number;
}

type TypingAction = 'begin' | 'pause' | 'finish';

/** The intervals and flags of typing indicators. */
interface TypingPolicy {
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

interface TypingOptions {
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

/** A sentence that states who is typing, as a key with arguments. */
interface TypingPhrase {
  readonly key:
    | 'nobody' | 'someone' | 'one' | 'two' | 'three' | 'oneAndOther' | 'oneAndOthers' | 'twoAndOther' | 'twoAndOthers'
    | 'people' | 'several';
  readonly names: readonly string[];
  readonly count: number;
}

interface TypingPhraseOptions {
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
