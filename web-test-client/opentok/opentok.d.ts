// Types of the browser library: of `import OT from '…/opentok/index.js'`, of `import * as OT` from it, and of the
// global `OT`, also in modules. They follow OpenTok's own declarations, even where those say `undefined` and the value
// is null: programs were compiled against them. `scripts/build web` makes a form without the global.

export = OT;

declare global {
  // Names of the DOM, for programs that are compiled without its declarations.
  interface Element {}
  interface HTMLElement extends Element {}
  interface HTMLVideoElement extends HTMLElement {}
  interface Document {}
  interface EventTarget {}
  interface MediaStream {}
  interface MediaStreamTrack {}
  interface RTCStatsReport {}
}

declare global { namespace OT {
  // Listening

  type Handlers<Events> = { [Name in keyof Events]?: (event: Events[Name]) => void } & {
    [names: string]: ((event: any) => void) | undefined;
  };

  /** `on`, `once` and `off`, with one name, several names separated by spaces, or a map of handlers. */
  interface OTEventEmitter<Events = { [name: string]: any }> {
    on<Name extends keyof Events & string>(name: Name, handler: (event: Events[Name]) => void, context?: unknown): this;
    on(names: string, handler: (event: any) => void, context?: unknown): this;
    on(handlers: Handlers<Events>, context?: unknown): this;
    once<Name extends keyof Events & string>(
      name: Name, handler: (event: Events[Name]) => void, context?: unknown,
    ): this;
    once(names: string, handler: (event: any) => void, context?: unknown): this;
    once(handlers: Handlers<Events>, context?: unknown): this;
    /**
     * With a handler, removes one listener of each name: the newest with this handler and this context. Without one,
     * removes all listeners of these names, or all of them that have the context.
     */
    off(names?: string | string[] | null, handler?: ((event: any) => void) | null, context?: unknown): this;
    off(handlers: Handlers<Events>, context?: unknown): this;
  }

  interface Listening<Events = { [name: string]: any }> extends OTEventEmitter<Events> {
    /** @deprecated use `on` */
    addEventListener(names: string, handler: (event: any) => void, context?: unknown): this;
    /** @deprecated use `off` */
    removeEventListener(names: string, handler?: (event: any) => void, context?: unknown): this;
    trigger(name: string, ...details: unknown[]): this;
    /** Throws an Error for an event without a type. */
    dispatchEvent(event: { type: string }): this;
    listenerCount(name: string): number;
  }

  interface Emitter<Events = { [name: string]: any }> extends Listening<Events> {
    emit(name: string, ...details: unknown[]): this;
  }

  interface Event<Type extends string = string, Target = unknown> {
    type: Type;
    target: Target;
    cancelable: boolean;
    preventDefault(): void;
    isDefaultPrevented(): boolean;
  }

  interface SignalEvent extends Event<string, Session> {
    /** Absent when the signal carries none. A value of another type if the sender passed one, which is deprecated. */
    data?: string;
    /** Null when the project's own server sent the signal. */
    from: Connection | null;
    /** An extension: the index of the signal in the session's order. Null for an online-only signal. */
    readonly seq: number | null;
  }

  interface SessionConnectEvent extends Event<'sessionConnected', Session> {
    /** @deprecated empty; use `session.connections` */
    connections: Connection[];
    /** @deprecated empty */
    streams: Stream[];
    /** @deprecated empty */
    archives: unknown[];
  }

  /** OpenTok's own servers also send `mediaIdle` and `serverRotation` to the client that is disconnected. */
  type DisconnectReason =
    | 'clientDisconnected'
    | 'forceDisconnected'
    | 'networkDisconnected'
    | 'mediaIdle'
    | 'serverRotation';

  interface SessionDisconnectEvent extends Event<'sessionDisconnected', Session> {
    reason: DisconnectReason | (string & {});
    /** An extension: the ban that has ended the connection, or keeps it from coming back; else null. */
    restriction: Restriction | null;
    /** An extension: why the server does not let this client come back, such as 1004 for an expired token. */
    error: OTError | null;
  }

  interface SessionReconnectEvent extends Event<'sessionReconnected', Session> {
    /**
     * An extension. `resumed`: the same connection, and the missed events follow. `recovered`: `session.connection` is
     * another one, and the missed broadcasts follow. `lost`: another connection, and events may be missing.
     */
    outcome: 'resumed' | 'recovered' | 'lost';
    /**
     * An extension. With `lost`, the numbers of the first and the last event that the server no longer has, if it knows
     * them; otherwise null. Everything before them has arrived, and the broadcasts after them follow.
     */
    missing: { first: number; last: number } | null;
  }

  /** An extension: the page of the history that the option `history` asked for. */
  interface HistoryEvent extends Event<'history', Session> {
    page: HistoryPage;
  }

  /** An extension: erased messages are in no page any more. Remove them from what you show. */
  interface MessagesErasedEvent extends Event<'messagesErased', Session> {
    /** The `seq` of the one message that was erased; absent with `through`. */
    ref?: number;
    /** All messages up to this `seq` were erased. */
    through?: number;
    /** The messages of this user before the `seq` `before` were erased. */
    user?: string;
    before?: number;
  }

  /** An extension: a message of the history was changed. Its type, its author and its `seq` stay. */
  interface MessageChangedEvent extends Event<'messageChanged', Session> {
    /** The index of the change in the session's order. Of two changes the later one counts. */
    seq: number;
    /** The `seq` of the message. */
    ref: number;
    /** `edit`: `data` is in the place of the message's data. Other kinds may come: ask for the message then. */
    rel: string;
    /** Who has changed it; null for the project's own server. */
    from: Connection | null;
    data?: string;
  }

  /** An extension: what users have reacted with to a message, and how many of them. */
  interface ReactionCount {
    key: string;
    count: number;
  }

  /** An extension: the reactions to a message have changed. */
  interface ReactionsChangedEvent extends Event<'reactionsChanged', Session> {
    /** The index of the event in the session's order. Of two events of a message the later one counts. */
    seq: number;
    /** The `seq` of the message. */
    ref: number;
    /** All reactions to it, in the order in which they came; empty: there are none any more. */
    reactions: ReactionCount[];
  }

  /** An extension: the users who have reacted with a key: how many, and some of them. */
  interface Reactors extends ReactionCount {
    users: string[];
  }

  /** An extension: this user has changed their own reactions to a message, by whichever connection of theirs. */
  interface OwnReactionsChangedEvent extends Event<'ownReactionsChanged', Session> {
    seq: number;
    /** The `seq` of the message. */
    ref: number;
    /** All keys of the user on it. */
    keys: string[];
  }

  /** An extension: a user, perhaps that of this client, has read all messages up to the seq `through`. */
  interface MessagesReadEvent extends Event<'messagesRead', Session> {
    user: string;
    through: number;
  }

  /** An extension: who has read up to where. Events keep it up to date. */
  interface ReadState {
    /** `own`: each user knows their own marker only; `shared`: the markers of others, too. */
    markers: string;
    /** The marker of this user; absent: the user has marked nothing yet, or is a guest. */
    through?: number;
    /**
     * How many messages of others are above the marker, at most 100. As of the connect: absent from where the marker has
     * moved, and for guests.
     */
    unread?: number;
    /** The markers of other users; absent in sessions of more than 100 connections. */
    readers?: Array<{ user: string; through: number }>;
  }

  /** An extension: a user is in the session from their first connection to the departure of their last. */
  interface UserEvent extends Event<'userJoined' | 'userLeft', Session> {
    user: string;
  }

  /** An extension: what keeps a user, or all who are not moderators, from writing or from the session. */
  interface Restriction {
    kind: 'mute' | 'ban' | 'freeze' | (string & {});
    /** When it ends, in ms since 1970; absent: it holds until it is lifted. */
    until?: number;
    /** What the moderator wants the user to know. */
    reason?: string;
  }

  /** An extension: a restriction as moderators see it. */
  interface HeldRestriction extends Restriction {
    /** The `seq` of the action that began it; `moderate` lifts it with this `ref`. */
    ref: number;
    /** The user concerned; absent for a freeze and for a guest. */
    user?: string;
    /** A connection of the guest concerned. */
    connectionId?: string;
    /** The moderator; absent if the project's own server did it. */
    by?: Moderator;
    /** When it began, in ms since 1970. */
    time: number;
  }

  /** An extension. */
  interface Moderator {
    connectionId: string;
    user?: string;
  }

  /** An extension, of `session.moderate`: see `Session.moderate`. */
  type ModerationRequest =
    | {
        action: 'mute';
        user?: string;
        connectionId?: string;
        /** 1 to 31,536,000; absent: until it is lifted. */
        seconds?: number;
        /** At most 256 UTF-16 units, for the user concerned. */
        reason?: string;
      }
    | {
        action: 'ban';
        user?: string;
        connectionId?: string;
        seconds?: number;
        reason?: string;
        /** Whether the user's messages are erased, too. */
        eraseMessages?: boolean;
      }
    | { action: 'freeze'; seconds?: number; reason?: string }
    | { action: 'unmute' | 'unban'; user?: string; ref?: number }
    | { action: 'unfreeze' };

  /** An extension, for moderators: an action of a moderator or of the project's own server. */
  interface ModeratedEvent extends Event<'moderated', Session> {
    /** The action's place in the session's order. */
    seq: number;
    action: ModerationRequest['action'] | (string & {});
    user?: string;
    connectionId?: string;
    ref?: number;
    until?: number;
    reason?: string;
    eraseMessages?: boolean;
    by?: Moderator;
  }

  /** An extension: from now on this client may not signal. */
  interface RestrictedEvent extends Event<'restricted', Session> {
    restriction: Restriction;
  }

  /** An extension: a restriction of this kind is lifted. One that ends by itself emits no event. */
  interface UnrestrictedEvent extends Event<'unrestricted', Session> {
    kind: string;
  }

  type ConnectionEventName = 'connectionCreated' | 'connectionDestroyed' | 'connectionAway' | 'connectionBack';

  interface ConnectionEvent extends Event<ConnectionEventName, Session> {
    connection: Connection;
    /** @deprecated use `connection` */
    connections: Connection[];
    /** Only in `connectionDestroyed`; otherwise undefined. */
    reason: DisconnectReason | (string & {});
  }

  /** Of the page's own streams: the publisher emits it. Of those that other clients announce: the session. */
  interface StreamEvent extends Event<'streamCreated' | 'streamDestroyed', Publisher | Session> {
    stream: Stream;
    reason: string;
  }

  interface StreamPropertyChangedEvent extends Event<'streamPropertyChanged', Session> {
    stream: Stream;
    changedProperty: 'hasAudio' | 'hasVideo';
    oldValue: boolean;
    newValue: boolean;
  }

  interface SessionConnectFailedEvent extends Event<'sessionConnectFailed', Session> {
    name: string;
    code: number;
    message: string;
    reason: string;
    error: OTError;
  }

  interface ExceptionEvent extends Event<'exception', Session | Publisher> {
    code: number;
    /** Undefined for the codes of signals. */
    title: string;
    message: string;
    error: OTError;
  }

  /** The library's own errors have a code and a reason; those that a program makes may have none. */
  interface OTError extends globalThis.Error {
    name: string;
    code?: number;
    /** The same as `message`. */
    readonly reason?: string;
    /** An extension: the restriction because of which the call has failed. */
    restriction?: Restriction;
    /** An extension: the ms until that restriction ends by itself. */
    retryAfter?: number;
  }

  // A session

  interface SessionEvents {
    sessionConnected: SessionConnectEvent;
    sessionDisconnected: SessionDisconnectEvent;
    sessionConnectFailed: SessionConnectFailedEvent;
    sessionReconnecting: Event<'sessionReconnecting', Session>;
    sessionReconnected: SessionReconnectEvent;
    connectionCreated: ConnectionEvent;
    connectionDestroyed: ConnectionEvent;
    /** An extension: another connection has had no socket for 10 s. With the option `connectionAwayEvents`. */
    connectionAway: ConnectionEvent;
    /** An extension: a connection that was away has resumed. */
    connectionBack: ConnectionEvent;
    streamCreated: StreamEvent;
    streamDestroyed: StreamEvent;
    streamPropertyChanged: StreamPropertyChangedEvent;
    history: HistoryEvent;
    messagesErased: MessagesErasedEvent;
    messageChanged: MessageChangedEvent;
    reactionsChanged: ReactionsChangedEvent;
    ownReactionsChanged: OwnReactionsChangedEvent;
    messagesRead: MessagesReadEvent;
    userJoined: UserEvent;
    userLeft: UserEvent;
    moderated: ModeratedEvent;
    restricted: RestrictedEvent;
    unrestricted: UnrestrictedEvent;
    signal: SignalEvent;
    [typedSignal: `signal:${string}`]: SignalEvent;
  }

  interface SignalOptions {
    /** 1 to 128 of `A-Z a-z 0-9 - . _ ~`. */
    type?: string;
    /**
     * At most 8192 UTF-16 units as JSON text, quotes and escapes included. The server counts the string itself.
     * A value that is not a string is sent as JSON, which is deprecated.
     */
    data?: string | object | number | boolean;
    /** Absent: all clients. */
    to?: Connection | Session;
    /** Default true: the signal waits while the session reconnects. False: it fails with `OT_NOT_CONNECTED` (500). */
    retryAfterReconnect?: boolean;
    /**
     * An extension: only for clients that are connected now, never stored, and not sent while reconnecting. For typing
     * indicators.
     */
    onlineOnly?: boolean;
  }

  /** An extension: one page of a session's history, at one of three positions. Without them: the newest messages. */
  interface HistoryPosition {
    /** The newest of the messages with a smaller `seq`. */
    before?: number | null;
    /** The oldest of the messages with a greater `seq`. */
    after?: number | null;
    /** The messages that were edited or erased behind this `seq`, each once, in its present form. */
    changedAfter?: number | null;
    /** 1 to 200 messages; the default is 50. Large messages make a page shorter. */
    limit?: number;
  }

  /** An extension: a part of a session's history, oldest message first. */
  interface HistoryPage {
    /** The `seq` of the oldest and of the newest message of the whole history; null if it is empty. */
    first: number | null;
    last: number | null;
    /** Whether other messages follow in the direction of the request: earlier ones, or with `after` later ones. */
    more: boolean;
    messages: HistoryMessage[];
    /** With `changedAfter`: the `seq` from which the next request goes on. */
    changedThrough?: number;
    /** With `changedAfter`: the server cannot list what has changed. Load anew what you show. */
    all?: boolean;
    /** For a user: what this user has reacted with to messages of the page. */
    mine?: Array<{ ref: number; keys: string[] }>;
  }

  /** An extension: a signal that the server has kept. */
  interface HistoryMessage {
    /** Names the message. A signal that arrived as an event has the same `seq`. */
    seq: number;
    /** Null when the project's own server sent the signal. The sender may have left long ago. */
    from: Connection | null;
    /** `signal`, or `signal:` and the type, as in the events of signals; absent from an erased message. */
    type?: string;
    /** As in the events of signals; absent from an erased message. */
    data?: string;
    /** When the server accepted the signal, in ms since 1970. */
    time: number;
    /** Whether its author, a moderator or the project's own server has erased the message. */
    erased: boolean;
    /** The `seq` of its last edit, and when that was, in ms since 1970; absent: it was not edited. */
    changed?: number;
    edited?: number;
    /** The reactions to it, and the `seq` of the event that has told them; absent: there were none. */
    reactions?: ReactionCount[];
    reacted?: number;
  }

  interface SessionOptions {
    /** No `connectionCreated` and `connectionDestroyed`. Default false. */
    connectionEventsSuppressed?: boolean;
    /** An extension: emit `connectionAway` and `connectionBack`. The default is false. */
    connectionAwayEvents?: boolean;
    /**
     * An extension: the session's history to get as the event `history` after `sessionConnected`, if the session has
     * one: the newest messages, or the oldest after the message with the `seq` `after`.
     */
    history?: { last: number } | { after: number; limit?: number };
    /** An extension: the server of this session, if it is not the one that the script came from. */
    server?: string;
    /** An extension: see `ServerOptions`. */
    publish?: 'local' | 'fail' | 'announce';
    iceConfig?: IceConfig;
    ipWhitelist?: boolean;
    encryptionSecret?: string;
  }

  /** An extension. */
  interface ServerOptions {
    /**
     * `local`, the default: `session.publish` succeeds, with a stream that no other client gets. `fail`: it fails with
     * `OT_NOT_SUPPORTED`. `announce`: other clients with this option get `streamCreated`, and no media.
     */
    publish?: 'local' | 'fail' | 'announce';
  }

  type SignalHandler = (error?: OTError, options?: SignalOptions) => void;
  type CompletionHandler = (error?: OTError) => void;

  // Calls that return their object have a form with a promise: `await session.connect.promise(token)`. It is rejected
  // with the error that a handler gets.

  type ConnectHandler = (error?: OTError, event?: SessionConnectEvent) => void;

  interface Connect {
    (token: string, handler?: ConnectHandler): Session;
    /** @deprecated the key belongs to `initSession` */
    (apiKey: string | number, token: string, handler?: ConnectHandler): Session;
    /** While connecting it is rejected with 1015, while connected it is resolved. */
    promise(token: string, handler?: ConnectHandler): Promise<Session>;
    /** @deprecated the key belongs to `initSession` */
    promise(apiKey: string | number, token: string, handler?: ConnectHandler): Promise<Session>;
  }

  interface Publish {
    (publisher: Publisher, handler?: CompletionHandler): Publisher;
    (target?: unknown, properties?: unknown, handler?: CompletionHandler): Publisher;
    promise(publisher: Publisher, handler?: CompletionHandler): Promise<Publisher>;
    promise(target?: unknown, properties?: unknown, handler?: CompletionHandler): Promise<Publisher>;
  }

  interface Subscribe {
    (stream: unknown, target?: unknown, properties?: unknown, handler?: CompletionHandler): Subscriber;
    promise(
      stream: unknown, target?: unknown, properties?: unknown, handler?: CompletionHandler,
    ): Promise<Subscriber>;
  }

  interface InitPublisher {
    (
      target?: HTMLElement | string | null, properties?: PublisherProperties, handler?: CompletionHandler,
    ): Publisher;
    (target: HTMLElement | string | null | undefined, handler: CompletionHandler): Publisher;
    (handler: CompletionHandler): Publisher;
    /** Also rejected when the publisher is destroyed before its camera is there. */
    promise(
      target?: HTMLElement | string | null, properties?: PublisherProperties, handler?: CompletionHandler,
    ): Promise<Publisher>;
  }

  /** A setting of a publisher or subscriber. */
  interface Control<Value, Owner> {
    (value: Value): Owner;
    promise(value: Value): Promise<Owner>;
  }

  interface Session extends Emitter<SessionEvents> {
    readonly id: string;
    readonly sessionId: string;
    readonly apiKey: string | undefined;
    readonly token: string | undefined;
    /** Null until connected. It survives a reconnect, unless the outcome is `recovered` or `lost`. */
    readonly connection?: Connection;
    readonly connections: Collection<Connection>;
    readonly streams: Collection<Stream>;
    readonly archives: Collection<unknown>;
    readonly capabilities: Capabilities;
    /** `connected` also while reconnecting. */
    readonly currentState: 'disconnected' | 'connecting' | 'connected';
    /**
     * An extension: whether the session keeps a history that this client may read. False unless connected. The program
     * learns of a changed setting of the server when it connects or reconnects.
     */
    readonly hasHistory: boolean;
    /** An extension: what clients may do with messages, such as `edit`, `erase` and `react`; null: nothing. */
    readonly changes: readonly string[] | null;
    /** An extension: who has read up to where; null: the session has no read markers, or is not connected. */
    readonly readState: ReadState | null;
    /** An extension: false while the role of the token may not send signals. */
    readonly maySignal: boolean;
    /** An extension: the users of the session, one's own included, in the order in which they joined. No guests. */
    readonly users: Array<{ user: string; connections: Connection[] }>;
    /** An extension: what keeps this client from signalling now; empty: nothing. The one that holds longest is first. */
    readonly restrictedBy: Restriction[];
    /** The time of the server's clock, in ms since 1970; before the first connect that of this computer. */
    readonly serverTime: number;
    /** An extension: while it stays the same, each `seq` names one event. Null unless connected. */
    readonly epoch: string | null;

    is(...states: string[]): boolean;
    isNot(...states: string[]): boolean;
    /** True also while reconnecting. */
    isConnected(): boolean;

    /**
     * Calls `handler` once with the result, unless `off` removes it. A failure also emits `sessionConnectFailed` and
     * `exception`; the code is 1004, 1005, 1006, 1027, 1570 or 2001. While connecting it does nothing, and does
     * not call `handler`; while connected it calls `handler` without an error.
     */
    connect: Connect;
    /**
     * Clears the session at once. Emits `sessionDisconnected` later, if it was connected; the promise is resolved after
     * that. The handler of a `connect` under way gets 1006. Signals without an answer by then may still succeed, or
     * fail with 500.
     */
    disconnect(): Promise<void>;
    /** Disconnects, and makes the next `initSession` with this id return a new Session. */
    destroy(): void;
    /**
     * Calls `handler` once: without an error when the signal is in the session's order, else with the code 400, 403,
     * 404, 413, 429, 500 or 2001. After 500 the signal may have arrived. The promise has the same outcome.
     */
    signal(handler?: SignalHandler): Promise<void>;
    signal(options: SignalOptions | null | undefined, handler?: SignalHandler): Promise<void>;
    /** For moderators. Fails with 429, 1010, 1011 or 1520, and then also emits `exception`. */
    forceDisconnect(connectionOrId: Connection | string, handler?: CompletionHandler): Promise<void>;
    /** An extension: a newer token for the same session, role and connection data. Later reconnects use it. */
    refreshToken(token: string, handler?: CompletionHandler): Promise<void>;
    /**
     * An extension: reads a page of the session's history. A lost connection delays the page. Fails with 404 if the
     * session keeps no history, 403 if the token does not permit to read it, 400, 429, 500 or 2001.
     */
    history(position?: HistoryPosition): Promise<HistoryPage>;
    /**
     * An extension: gives a message of your own other data. Every client gets `messageChanged`. Fails with 403 if the
     * message is another's or `changes` has no `edit`, 404 if it was erased or is too old, 400, 429, 500 or 2001. After
     * 500 it may have been changed. `data` has at most 8192 UTF-16 units; it is as that of a signal.
     */
    change(
      change: { ref: number; rel: 'edit'; data: string | object | number | boolean },
      handler?: (error?: OTError, result?: { seq: number }) => void,
    ): Promise<{ seq: number }>;
    /**
     * An extension: sets this user's whole set of reactions to a message; no keys take it back. Every client gets
     * `reactionsChanged`, at most once a second. Fails with 403 for guests or if `changes` has no `react`, 404 if the
     * message was erased or is too old, 400, 413, 429, 500 or 2001. After 500 it may have been set.
     */
    react(reactions: { ref: number; keys: readonly string[] }, handler?: CompletionHandler): Promise<void>;
    /**
     * An extension: who has reacted to a message, at most 50 users in all, or with `key` 50 users of that key. Fails as
     * `history`.
     */
    reactors(
      message: { ref: number; key?: string }, handler?: (error?: OTError, reactors?: Reactors[]) => void,
    ): Promise<Reactors[]>;
    /**
     * An extension: this user has read all messages up to a `seq`. A marker never falls. Fails with 403 for guests and
     * without markers, 404 without a history, 400, 429, 500 or 2001. It is not repeated after a lost connection: call it
     * again after each connect and reconnect.
     */
    markRead(marker: { through: number }, handler?: CompletionHandler): Promise<void>;
    /**
     * An extension: erases one message of the history; for moderators also all messages up to one, or those of a user.
     * Authors may erase their own messages if `changes` has `erase`. Every client gets `messagesErased`. Fails with 403
     * for other clients, 404 if the session keeps no history, 400, 429, 500 or 2001.
     */
    erase(messages: { ref: number } | { through: number } | { user: string }): Promise<void>;
    /**
     * An extension, for moderators: mutes or bans a user, or freezes the session, and undoes each. `seq` of the result
     * is the `ref` for the undo. Fails with 403 for other clients, 404 if nobody or nothing is concerned, 400, 429, 500
     * or 2001.
     */
    moderate(
      request: ModerationRequest, handler?: (error?: OTError, result?: { seq: number }) => void,
    ): Promise<{ seq: number }>;
    /** An extension, for moderators: what holds in the session. Fails with 403 for other clients, 429, 500 or 2001. */
    restrictions(handler?: (error?: OTError, held?: HeldRestriction[]) => void): Promise<HeldRestriction[]>;

    // Media: each call but `publish`, and `subscribe` to what others announce, fails with an error named OT_NOT_SUPPORTED, or does nothing.
    publish: Publish;
    unpublish(publisher?: Publisher): void;
    subscribe: Subscribe;
    unsubscribe(subscriber?: Subscriber): this;
    getSubscribersForStream(stream: unknown): Subscriber[];
    getPublisherForStream(stream: unknown): Publisher | undefined;
    forceUnpublish(stream: unknown, handler?: CompletionHandler): Promise<void>;
    forceMuteStream(stream: unknown): Promise<void>;
    forceMuteAll(excluded?: unknown[]): Promise<void>;
    disableForceMute(): Promise<void>;
    setEncryptionSecret(secret: string): Promise<void>;
    setIceConfig(iceConfig: IceConfig): Promise<void>;
  }

  /** The library's own have every member; those that a program makes, for a test, need only those of OpenTok's type. */
  interface Connection extends Partial<Emitter> {
    readonly connectionId: string;
    readonly id?: string;
    /** Milliseconds since 1970; null if unknown. With this server it is always known. */
    readonly creationTime: number;
    readonly data: string;
    /** An extension: the id of the user that the token names; null: a guest. */
    readonly user?: string | null;
    readonly capabilities?: Capabilities;
    readonly permissions?: Capabilities;
    readonly quality?: null;
    /** Whether it ended, or the own session did. */
    destroyed?(): boolean;
    /** Undefined while it is connected. */
    destroyedReason?(): string | undefined;
  }

  type Grant = 0 | 1;

  interface Capabilities {
    readonly publish: Grant;
    readonly subscribe: Grant;
    readonly forceDisconnect: Grant;
    readonly forceUnpublish: Grant;
    readonly forceMute: Grant;
    readonly supportsWebRTC: Grant;
    readonly supportsE2ee: Grant;
    permittedTo(name: string): boolean;
  }

  /** It emits `add` and `remove` with an item, and both with the item's id, as `add:<id>`. */
  interface Collection<Item> extends Emitter {
    get(id: string): Item | undefined;
    has(id: string): boolean;
    length(): number;
    isEmpty(): boolean;
    forEach(visit: (item: Item, index: number) => void, context?: unknown): this;
    map<Result>(transform: (item: Item, index: number) => Result): Result[];
    where(wanted?: { [property: string]: unknown } | ((item: Item) => unknown), context?: unknown): Item[];
    find(wanted?: { [property: string]: unknown } | ((item: Item) => unknown), context?: unknown): Item | null;
    toString(): string;
  }

  /** The page's own. The server has none. */
  interface Stream extends Emitter {
    id: string;
    streamId: string;
    connection: Connection;
    creationTime: number;
    frameRate: number;
    hasAudio: boolean;
    hasVideo: boolean;
    initials: string;
    name: string;
    videoDimensions: Dimensions;
    videoType: 'camera' | 'screen' | 'custom' | undefined;
  }

  // Publishers show the local camera; they and subscribers never carry media

  /** Of `initPublisher`. Any other of OpenTok's properties is accepted, and ignored. */
  type PublisherProperties = {
    /** A device's id, a track, or null or false for no audio. */
    audioSource?: string | MediaStreamTrack | boolean | null;
    videoSource?: string | MediaStreamTrack | boolean | null;
    publishAudio?: boolean;
    publishVideo?: boolean;
    /** Default 640x480. */
    resolution?: string;
    frameRate?: number;
    facingMode?: string;
    autoGainControl?: boolean;
    echoCancellation?: boolean;
    noiseSuppression?: boolean;
    disableAudioProcessing?: boolean;
    /** Default `replace`: the target becomes the publisher's element. */
    insertMode?: 'replace' | 'append' | 'before' | 'after';
    /** False: no element, and the page inserts the video of `videoElementCreated`. */
    insertDefaultUI?: boolean;
    /** Pixels, or a length in CSS. Default 264 by 198. */
    width?: number | string;
    height?: number | string;
    fitMode?: 'cover' | 'contain';
    /** Default true. */
    mirror?: boolean;
    [property: string]: unknown;
  };
  type SubscriberProperties = { [property: string]: unknown };
  type Dimensions = { width: number; height: number };
  type Device = { deviceId: string; kind: 'audioInput' | 'videoInput'; label: string };
  type AudioOutputDevice = { deviceId: string | null | undefined; label: string | null };
  type GetUserMediaProperties = { [property: string]: unknown };
  type WidgetStyle = { [property: string]: unknown };
  type WidgetProperties = { [property: string]: unknown };
  type PublisherStyle = WidgetStyle;
  type SubscriberStyle = WidgetStyle;
  type BackgroundBlurFilter = { type: 'backgroundBlur'; blurStrength?: 'low' | 'high' };
  type BackgroundReplacementFilter = { type: 'backgroundReplacement'; backgroundImgUrl: string };
  type VideoFilter = BackgroundBlurFilter | BackgroundReplacementFilter;
  type AudioFilter = { type: string };
  type VideoContentHint = '' | 'text' | 'detail' | 'motion';
  type VideoDimensionsChangedEvent<Target> = Event<'videoDimensionsChanged', Target> & {
    oldValue: Dimensions;
    newValue: Dimensions;
  };
  type IceConfig = {
    includeServers?: 'all' | 'custom';
    transportPolicy?: 'all' | 'relay';
    customServers?: Array<{ urls: string | string[]; username?: string; credential?: string }>;
  };
  type ScreenSharingCapabilityResponse = {
    supported: boolean;
    supportedSources: { application?: boolean; screen?: boolean; window?: boolean };
    extensionInstalled?: boolean;
    extensionRequired?: string;
    extensionRegistered?: boolean;
  };
  type IncomingTrackStats = { bytesReceived: number; packetsLost: number; packetsReceived: number };
  type OutgoingTrackStats = { bytesSent: number; packetsLost: number; packetsSent: number };
  type SubscriberStats = {
    audio: IncomingTrackStats;
    video: IncomingTrackStats & { frameRate: number };
    timestamp: number;
  };
  type PublisherStats = {
    audio: OutgoingTrackStats;
    video: OutgoingTrackStats & { frameRate: number };
    timestamp: number;
  };
  type PublisherStatContainer = { subscriberId?: string; connectionId?: string; stats: PublisherStats };
  type PublisherStatsArr = PublisherStatContainer[];
  type PublisherRtcStatsReportContainer = {
    subscriberId?: string;
    connectionId?: string;
    rtcStatsReport: RTCStatsReport;
  };
  type PublisherRtcStatsReportArr = PublisherRtcStatsReportContainer[];
  type MediaProcessorConnector = {
    setTrack(track: MediaStreamTrack): Promise<MediaStreamTrack>;
    destroy(): Promise<void>;
  };

  /** It has no type for `emit`, as in OpenTok's declarations. */
  interface MediaObject extends Listening {
    readonly id: string;
    readonly element?: HTMLElement;
    readonly session?: Session;
    getImgData(): string | null;
    videoElement(): HTMLVideoElement | undefined;
    getStyle(): { [name: string]: unknown };
    setStyle(name: string, value: unknown): this;
    setStyle(styles: { [name: string]: unknown }): this;
    videoWidth(): number | undefined;
    videoHeight(): number | undefined;
  }

  interface Publisher extends MediaObject {
    readonly stream?: Stream;
    readonly streamId: string | undefined;
    readonly accessAllowed: boolean;
    /** Its key in `OT.publishers`. */
    guid(): string;
    destroy(): this;
    publishAudio: Control<boolean, Publisher>;
    publishVideo: Control<boolean, Publisher>;
    publishCaptions: Control<boolean, Publisher>;
    getStats(handler?: (error?: OTError, stats?: PublisherStatsArr) => void): Promise<PublisherStatsArr>;
    getRtcStatsReport(): Promise<PublisherRtcStatsReportArr>;
    setVideoContentHint(hint: string): this;
    setAudioBitrate(bitrate: number): this;
    getAudioSource(): MediaStreamTrack;
    getVideoSource(): { deviceId: string | null; type: string | null; track: MediaStreamTrack | null };
    getVideoFilter(): VideoFilter | null;
    getAudioFilter(): AudioFilter | null;
    getVideoContentHint(): VideoContentHint;
    setVideoMediaProcessorConnector(connector: MediaProcessorConnector | null): Promise<void>;
    setAudioMediaProcessorConnector(connector: MediaProcessorConnector | null): Promise<void>;
    cycleVideo(): Promise<{ deviceId: string }>;
    setAudioSource(source: unknown): Promise<void>;
    setVideoSource(source: unknown): Promise<void>;
    applyVideoFilter(filter: VideoFilter): Promise<void>;
    clearVideoFilter(): Promise<void>;
    applyAudioFilter(filter: unknown): Promise<void>;
    clearAudioFilter(): Promise<void>;
    setPreferredResolution(resolution: unknown): Promise<void>;
    setPreferredFrameRate(rate: number): Promise<void>;
  }

  interface Subscriber extends MediaObject {
    readonly stream?: Stream;
    readonly streamId: string | undefined;
    destroy(): this;
    subscribeToAudio: Control<boolean, Subscriber>;
    subscribeToVideo: Control<boolean, Subscriber>;
    subscribeToCaptions: Control<boolean, Subscriber>;
    getStats(handler?: (error?: OTError, stats?: SubscriberStats) => void): Promise<SubscriberStats>;
    getRtcStatsReport(): Promise<RTCStatsReport>;
    getAudioVolume(): number;
    setAudioVolume: Control<number, Subscriber>;
    restrictFrameRate: Control<boolean, Subscriber>;
    setPreferredResolution: Control<unknown, Subscriber>;
    setPreferredFrameRate: Control<number, Subscriber>;
    isAudioBlocked(): boolean;
    isSubscribedToCaptions(): boolean;
    getCaptionsTranslationLanguage(): string | null;
  }

  interface Signal {
    type?: unknown;
    data?: unknown;
    to?: unknown;
    retryAfterReconnect?: unknown;
    onlineOnly?: unknown;
    valid: boolean;
    error: { code: number; message: string } | null;
  }

  /** The numbers of OpenTok's exceptions by name. */
  interface ExceptionCodes {
    readonly AUTHENTICATION_ERROR: 1004;
    readonly INVALID_SESSION_ID: 1005;
    readonly CONNECT_FAILED: 1006;
    readonly NOT_CONNECTED: 1010;
    readonly INVALID_PARAMETER: 1011;
    readonly TERMS_OF_SERVICE_FAILURE: 1026;
    readonly CONNECTION_LIMIT_EXCEEDED: 1027;
    readonly UNABLE_TO_PUBLISH: 1500;
    readonly UNABLE_TO_FORCE_DISCONNECT: 1520;
    readonly UNEXPECTED_SERVER_RESPONSE: 2001;
    readonly [name: string]: number;
  }

  /** Those of OpenTok's helpers that published programs use. */
  interface Helpers {
    /** The element with this id, with or without `#`; an element is returned as it is. */
    (idOrElement: string | Element): HTMLElement | null;
    eventing<Object extends object>(object: Object): Object & Emitter;
    useLogHelpers<Object extends object>(object: Object): Object;
    defaults<Object extends object>(object: Object, ...sources: object[]): Object;
    isElementNode(node: unknown): boolean;
    createElement(name: string, attributes?: object, children?: unknown, owner?: Document): HTMLElement;
    removeElement(element: Element): void;
    emptyElement(element: Element): void;
    on(element: EventTarget, name: string, handler: (event: any) => void): void;
    off(element: EventTarget, name: string, handler: (event: any) => void): void;
    css(element: HTMLElement, name: string): string;
    css(element: HTMLElement, name: string, value: string): void;
    css(element: HTMLElement, styles: object): void;
    /** With the unit: `640px`. */
    width(element: HTMLElement): string;
    height(element: HTMLElement): string;
    uuid(): string;
    roundFloat(value: number, digits: number): number;
    addClass(element: Element, names: string): void;
    removeClass(element: Element, names: string): void;
    show(element: HTMLElement): void;
    hide(element: HTMLElement): void;
    isDisplayNone(element: HTMLElement): boolean;
  }

  /** For `instanceof`: only the library creates these. */
  type ClassOf<Instance> = abstract new (...args: never) => Instance;

  interface Library extends Emitter<{ exception: ExceptionEvent }> {
    readonly version: string;
    readonly properties: { readonly version: string };
    /** The key in the script's address, as in `opentok.min.js?apikey=100`; otherwise empty. */
    APIKEY: string;
    readonly ExceptionCodes: ExceptionCodes;
    /** @deprecated OpenTok's own helpers */
    readonly $: Helpers;
    readonly HAS_REQUIREMENTS: 1;
    readonly NOT_HAS_REQUIREMENTS: 0;
    readonly NONE: 0;
    readonly ERROR: 1;
    readonly WARN: 2;
    readonly INFO: 3;
    readonly LOG: 4;
    readonly DEBUG: 5;

    readonly Capabilities: ClassOf<Capabilities>;
    readonly Connection: ClassOf<Connection>;
    readonly ConnectionEvent: ClassOf<ConnectionEvent>;
    readonly Error: {
      new (code: number, message: string, name?: string): OTError;
      getTitleByCode(code: number | string): string | undefined;
    };
    readonly Event: new (type: string, target: unknown, details?: object, cancelable?: boolean) => Event;
    readonly ExceptionEvent: ClassOf<ExceptionEvent>;
    readonly Publisher: ClassOf<Publisher>;
    readonly Session: ClassOf<Session>;
    readonly SessionConnectEvent: ClassOf<SessionConnectEvent>;
    readonly SessionDisconnectEvent: ClassOf<SessionDisconnectEvent>;
    readonly Signal: new (options: SignalOptions, session?: Session) => Signal;
    readonly SignalEvent: ClassOf<SignalEvent>;
    readonly Stream: ClassOf<Stream>;
    readonly StreamEvent: ClassOf<StreamEvent>;
    readonly Subscriber: ClassOf<Subscriber>;

    readonly sessions: Collection<Session>;
    readonly publishers: Collection<Publisher>;
    readonly subscribers: Collection<Subscriber>;

    /** The same `sessionId` returns the same Session until `destroy`, whatever the other arguments are. */
    initSession(apiKey: string | number, sessionId: string, options?: SessionOptions): Session;
    /** @deprecated the key belongs here, before the session's id */
    initSession(sessionId: string): Session;
    /** An extension: the server for later connects. */
    setServer(address: string, options?: ServerOptions): void;

    /** Gives the globals `OT` and `TB` back to the script that had them before, and returns this library. */
    noConflict(): Library;
    /** Calls the function when the page is parsed. */
    onLoad(act: () => void, context?: unknown): void;

    setLogLevel(level: 0 | 1 | 2 | 3 | 4 | 5): number;
    log(...words: unknown[]): void;
    debug(...words: unknown[]): void;
    info(...words: unknown[]): void;
    warn(...words: unknown[]): void;
    error(...words: unknown[]): void;
    getErrorTitleByCode(code: number | string): string | undefined;
    checkSystemRequirements(): 0 | 1;

    // Media
    upgradeSystemRequirements(): void;
    /** Shows the local camera in the target; `session.publish` is what fails. */
    initPublisher: InitPublisher;
    getDevices(handler?: (error: OTError | undefined, devices?: Device[]) => void): Promise<Device[]>;
    getUserMedia(properties?: GetUserMediaProperties): Promise<MediaStream>;
    checkScreenSharingCapability(
      handler?: (answer: ScreenSharingCapabilityResponse) => void,
    ): Promise<ScreenSharingCapabilityResponse>;
    registerScreenSharingExtension(kind: string, id: string, version?: number): void;
    reportIssue(handler?: (error?: OTError, reportId?: string) => void): Promise<string>;
    getSupportedCodecs(): Promise<{ videoEncoders: string[]; videoDecoders: string[] }>;
    hasMediaProcessorSupport(): boolean;
    hasEndToEndEncryptionSupport(): boolean;
    unblockAudio(): Promise<void>;
    getAudioOutputDevices(): Promise<AudioOutputDevice[]>;
    getActiveAudioOutputDevice(): Promise<AudioOutputDevice>;
    setAudioOutputDevice(deviceId: string): Promise<void>;
    setProxyUrl(proxyUrl: string): void;
  }

  // The same by name, for `import { initSession }` and `import type { Session }`

  const $: Library['$'];
  const addEventListener: Library['addEventListener'];
  const APIKEY: Library['APIKEY'];
  const Capabilities: Library['Capabilities'];
  const checkScreenSharingCapability: Library['checkScreenSharingCapability'];
  const checkSystemRequirements: Library['checkSystemRequirements'];
  const Connection: Library['Connection'];
  const ConnectionEvent: Library['ConnectionEvent'];
  const DEBUG: Library['DEBUG'];
  const debug: Library['debug'];
  const dispatchEvent: Library['dispatchEvent'];
  const emit: Library['emit'];
  const ERROR: Library['ERROR'];
  const Error: Library['Error'];
  const error: Library['error'];
  const Event: Library['Event'];
  const ExceptionCodes: Library['ExceptionCodes'];
  const ExceptionEvent: Library['ExceptionEvent'];
  const getActiveAudioOutputDevice: Library['getActiveAudioOutputDevice'];
  const getAudioOutputDevices: Library['getAudioOutputDevices'];
  const getDevices: Library['getDevices'];
  const getErrorTitleByCode: Library['getErrorTitleByCode'];
  const getSupportedCodecs: Library['getSupportedCodecs'];
  const getUserMedia: Library['getUserMedia'];
  const HAS_REQUIREMENTS: Library['HAS_REQUIREMENTS'];
  const hasEndToEndEncryptionSupport: Library['hasEndToEndEncryptionSupport'];
  const hasMediaProcessorSupport: Library['hasMediaProcessorSupport'];
  const INFO: Library['INFO'];
  const info: Library['info'];
  const initPublisher: Library['initPublisher'];
  const initSession: Library['initSession'];
  const listenerCount: Library['listenerCount'];
  const LOG: Library['LOG'];
  const log: Library['log'];
  const noConflict: Library['noConflict'];
  const NONE: Library['NONE'];
  const NOT_HAS_REQUIREMENTS: Library['NOT_HAS_REQUIREMENTS'];
  const off: Library['off'];
  const on: Library['on'];
  const once: Library['once'];
  const onLoad: Library['onLoad'];
  const properties: Library['properties'];
  const Publisher: Library['Publisher'];
  const publishers: Library['publishers'];
  const registerScreenSharingExtension: Library['registerScreenSharingExtension'];
  const removeEventListener: Library['removeEventListener'];
  const reportIssue: Library['reportIssue'];
  const Session: Library['Session'];
  const SessionConnectEvent: Library['SessionConnectEvent'];
  const SessionDisconnectEvent: Library['SessionDisconnectEvent'];
  const sessions: Library['sessions'];
  const setAudioOutputDevice: Library['setAudioOutputDevice'];
  const setLogLevel: Library['setLogLevel'];
  const setProxyUrl: Library['setProxyUrl'];
  const setServer: Library['setServer'];
  const Signal: Library['Signal'];
  const SignalEvent: Library['SignalEvent'];
  const Stream: Library['Stream'];
  const StreamEvent: Library['StreamEvent'];
  const Subscriber: Library['Subscriber'];
  const subscribers: Library['subscribers'];
  const trigger: Library['trigger'];
  const unblockAudio: Library['unblockAudio'];
  const upgradeSystemRequirements: Library['upgradeSystemRequirements'];
  const version: Library['version'];
  const WARN: Library['WARN'];
  const warn: Library['warn'];
} }
