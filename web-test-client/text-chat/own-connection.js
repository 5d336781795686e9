const OPEN = { is: 'open' };

/**
 * One's own connection in the channel of a chat, as the channel's events tell: which it is, whether it is up, which
 * connections one has had, and who else is there. Pure: it reads the state of the channel, and most methods return
 * inputs for typing.
 */
export class OwnConnection {
  /**
   * `open`, whether connected or not; `returning` to the same connection; or `ended`, with its `id`, which the channel
   * may name for a while.
   */
  #phase = OPEN;
  #echoes;
  #reader;
  #timeline;
  #names;
  #markers;
  /** The own connection whose peers are in the names. */
  #namedId = null;
  /** The connections in the session that the channel has reported, one's own included. */
  #members = new Set();

  constructor({ echoes, reader, timeline, names, markers }) {
    this.#markers = markers;
    this.#echoes = echoes;
    this.#reader = reader;
    this.#timeline = timeline;
    this.#names = names;
  }

  /** The channel has no connection since the one that was over at the last `disconnected`. */
  hasEnded(channel) {
    const id = channel?.connectionId ?? this.#phase.id;
    return this.#phase.is === 'ended' && id === this.#phase.id;
  }

  /** Messages wait meanwhile. */
  get isReturning() {
    return this.#phase.is === 'returning';
  }

  isUp(channel) {
    return !this.hasEnded(channel) && (channel?.connectionId ?? null) !== null;
  }

  /**
   * Handles the connection of a channel that was connected before the chat had it, or whose event is still to come.
   * `typedId` is the connection that typing knows.
   */
  note(channel, typedId) {
    if (!this.isUp(channel)) return [];
    const id = channel.connectionId;
    if (!this.isReturning || id !== this.#echoes.ownConnections.at(-1)) this.#enter(id, channel);
    return this.isReturning || typedId === id ? [] : [connected(id, channel)];
  }

  // Events

  /** The chat has another channel, or none. Note its connection then. */
  channelChanged() {
    // The old channel was returning, perhaps, and the chat gets no more of its events.
    this.#phase = OPEN;
    this.#namedId = null;
    this.#reader.disconnected(true);
  }

  connected(id, channel) {
    this.#enter(id, channel);
    this.#mark(channel);
    this.#phase = OPEN;
    this.#members.clear();
    return [connected(id, channel)];
  }

  reconnecting() {
    this.#phase = { is: 'returning' };
    this.#reader.reconnecting();
    return [{ kind: 'reconnecting' }];
  }

  /** `named` is null if the event does not name the connection. */
  reconnected(named, channel) {
    this.#phase = OPEN;
    const id = named ?? channel?.connectionId ?? null;
    if (id !== null) this.#enter(id, channel);
    this.#mark(channel);
    this.#reader.reconnected();
    return id === null ? [] : [connected(id, channel)];
  }

  disconnected(channel) {
    this.#phase = { is: 'ended', id: this.#namedId ?? channel?.connectionId ?? null };
    this.#members.clear();
    this.#namedId = null;
    this.#reader.disconnected();
    return [{ kind: 'disconnected' }];
  }

  created(connection) {
    this.#members.add(connection.connectionId);
    this.#names.note(connection);
    return [this.#memberCount];
  }

  destroyed({ connectionId: id }) {
    this.#members.delete(id);
    this.#names.noteDeparture(id);
    return [{ kind: 'connectionDestroyed', id }, this.#memberCount];
  }

  get #memberCount() {
    return { kind: 'memberCount', value: this.#members.size };
  }

  /** The channel has this connection now. */
  #enter(id, channel) {
    this.#echoes.note(id);
    const { hasHistory = false, epoch = null, changes = null, connections = [] } = channel ?? {};
    if (this.#reader.enter(id, { hasHistory, epoch, changes })) {
      this.#timeline.startEra();
      this.#markers.forget();
    }
    if (id === this.#namedId) return;
    this.#namedId = id;
    this.#names.enter(connections);
    this.#mark(channel);
  }

  #mark(channel) {
    this.#markers.enter(channel?.readState ?? null, channel?.user ?? null);
    this.#timeline.marker = this.#markers.marker;
  }
}

function connected(id, channel) {
  return { kind: 'connected', id, userId: channel?.user ?? null };
}
