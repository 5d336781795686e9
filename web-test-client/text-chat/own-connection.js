/**
 * One's own connection in the channel of a chat, as the channel's events tell: which it is, whether it is up, which
 * connections one has had, and who else is there. It tells typing and the history of it.
 */
export class OwnConnection {
  #channel;
  #typing;
  #echoes;
  #history;
  #timeline;
  #names;
  /** The own connection whose peers are in the names. */
  #namedId = null;
  /** The connections in the session that the channel has reported, one's own included. */
  #members = new Set();
  /** `disconnected` was handled, and no `connected` since. */
  #hasEnded = false;
  /** `reconnecting` was handled, and no event since that settles it. */
  #isReconnecting = false;

  /** `channel()` and `typing()` are those of now, or null. `names` is a `NameBook`. */
  constructor({ channel, typing, echoes, history, timeline, names }) {
    this.#channel = channel;
    this.#typing = typing;
    this.#echoes = echoes;
    this.#history = history;
    this.#timeline = timeline;
    this.#names = names;
  }

  get isUp() {
    return !this.#hasEnded && (this.#channel()?.connectionId ?? null) !== null;
  }

  get hasEnded() {
    return this.#hasEnded;
  }

  /** One's own user, or null. */
  get user() {
    return this.#channel()?.user ?? null;
  }

  /** Whether this connection is one's own, by its user or as one that this chat has, or has had (CHAT-9). */
  isOwn(connection) {
    if (connection === null || connection === undefined) return false;
    const { connectionId, user = null } = connection;
    return (user !== null && user === this.user) || this.#echoes.isOwn(connectionId);
  }

  /** Handles the connection of a channel that was connected before the chat had it, or whose event is still to come. */
  note() {
    const id = this.#hasEnded ? null : (this.#channel()?.connectionId ?? null);
    if (id === null) return;
    if (!this.#isReconnecting || id !== this.#echoes.ownConnections.at(-1)) this.#enter(id);
    this.#history.readOn();
    if (!this.#isReconnecting && this.#typing()?.connection !== id) this.#connectTyping(id);
  }

  // Events

  /** The chat has another channel, or none. Note its connection then. */
  channelChanged() {
    this.#hasEnded = false;
    // The old channel was reconnecting, perhaps, and the chat gets no more of its events.
    this.#isReconnecting = false;
    this.#noteEnd();
    this.#history.reader.disconnected();
  }

  connected(id) {
    this.#enter(id);
    this.#hasEnded = false;
    this.#isReconnecting = false;
    this.#members.clear();
    this.#connectTyping(id);
  }

  reconnecting() {
    this.#isReconnecting = true;
    this.#history.reader.reconnecting();
    this.#typing()?.handle({ kind: 'reconnecting' });
  }

  /** `id` is null if the event does not name the connection. */
  reconnected(id) {
    this.#isReconnecting = false;
    const own = id ?? this.#channel()?.connectionId ?? null;
    if (own !== null) {
      this.#enter(own);
      this.#connectTyping(own);
    }
    this.#history.reader.reconnected();
  }

  disconnected() {
    this.#hasEnded = true;
    this.#isReconnecting = false;
    this.#members.clear();
    this.#noteEnd();
    this.#history.reader.disconnected();
    this.#typing()?.handle({ kind: 'disconnected' });
  }

  created(connection) {
    this.#members.add(connection.connectionId);
    this.#names.note(connection);
    this.#countMembers();
  }

  destroyed({ connectionId }) {
    this.#members.delete(connectionId);
    this.#names.noteDeparture(connectionId);
    this.#typing()?.handle({ kind: 'connectionDestroyed', id: connectionId });
    this.#countMembers();
  }

  /** The channel has this connection now. */
  #enter(id) {
    this.#echoes.note(id);
    const { hasHistory = false, epoch = null } = this.#channel() ?? {};
    if (this.#history.reader.enter(id, { hasHistory, epoch })) this.#timeline.startEra();
    if (id === this.#namedId) return;
    this.#noteEnd();
    this.#namedId = id;
    for (const connection of this.#channel()?.connections ?? []) this.#names.note(connection);
  }

  #noteEnd() {
    this.#names.noteEnd();
    this.#namedId = null;
  }

  #connectTyping(id) {
    this.#typing()?.handle({ kind: 'connected', id, userId: this.user });
  }

  #countMembers() {
    this.#typing()?.handle({ kind: 'memberCount', value: this.#members.size });
  }
}
