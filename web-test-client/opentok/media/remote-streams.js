// The streams that other clients announce, for a session with the option `publish=announce` (STR-2). They have no audio
// and no video: programs that find their peers by `streamCreated` find them.

import { complete } from '../api/completion.js';
import { Connection } from '../api/connection.js';
import { OTEvent, StreamEvent } from '../api/events.js';
import { Subscriber } from './media-objects.js';
import { Stream } from './stream.js';

/** Programs divide the one by the other. */
const DIMENSIONS = { width: 640, height: 480 };

const CHANGEABLE = ['hasAudio', 'hasVideo'];

export class RemoteStreams {
  #session;
  #shared;
  /** The id of a connection → its streams, by their ids. */
  #known = new Map();
  #subscribers = new Set();

  constructor(session, shared) {
    this.#session = session;
    this.#shared = shared;
  }

  /** All streams of the session, each `{connection, streams}`: the client has come, or come back as another connection. */
  enter(announcements = []) {
    const listed = new Set(announcements.map(({ connection }) => connection.connectionId));
    for (const connectionId of [...this.#known.keys()]) {
      if (!listed.has(connectionId)) this.end(connectionId, 'networkDisconnected');
    }
    for (const each of announcements) this.set(each);
  }

  /** The streams of one connection. The events of the difference to the known ones follow (STR-4). */
  set({ connection: described, streams, reason }) {
    const own = this.#session.connection;
    const id = described.connectionId;
    if (own === null || id === own.connectionId) return;
    const known = this.#known.get(id) ?? new Map();
    this.#known.set(id, known);
    // A handler may disconnect, which clears `known`.
    const isCurrent = () => this.#session.connection === own;
    const given = new Set(streams.map(({ streamId }) => streamId));
    for (const stream of [...known.values()]) {
      if (isCurrent() && !given.has(stream.id)) this.#remove(known, stream, reason ?? 'clientDisconnected');
    }
    for (const facts of streams) {
      if (!isCurrent()) return;
      const stream = known.get(facts.streamId);
      if (stream) this.#change(stream, facts, isCurrent);
      else this.#add(known, facts, described);
    }
    if (known.size === 0) this.#known.delete(id);
  }

  /** The connection has left: the server says so before, except for one that left while this client was away. */
  end(connectionId, reason) {
    if (this.#known.has(connectionId)) this.set({ connection: { connectionId }, streams: [], reason });
  }

  /** The session is over. As in OpenTok, there is no `streamDestroyed` for the others. */
  endAll(reason) {
    for (const known of this.#known.values()) {
      for (const stream of known.values()) this.#session.streams.remove(stream, reason);
      known.clear();
    }
    this.#known.clear();
    return () => this.#subscribers.forEach((each) => this.unsubscribe(each));
  }

  has(stream) {
    return this.#known.get(stream?.connection?.connectionId)?.get(stream.id) === stream;
  }

  /** Shows an element that says why it is empty. */
  subscribe(stream, target, properties, handler) {
    const subscriber = new Subscriber(this.#shared, stream, { target, properties });
    subscriber.session = this.#session;
    this.#subscribers.add(subscriber);
    queueMicrotask(() => {
      complete(this.#shared.log, handler, undefined, subscriber);
      if (this.#subscribers.has(subscriber)) subscriber.dispatchEvent(new OTEvent('connected', subscriber));
    });
    return subscriber;
  }

  unsubscribe(subscriber) {
    if (this.#subscribers.delete(subscriber)) subscriber.destroy();
  }

  subscribersOf(stream) {
    return [...this.#subscribers].filter((each) => each.stream === stream);
  }

  #add(known, { streamId, ...facts }, described) {
    const { connections, streams } = this.#session;
    const connection = connections.get(described.connectionId)
      ?? new Connection(described, this.#shared.handlerFailed);
    const stream = new Stream(
      { videoDimensions: DIMENSIONS, ...facts, id: streamId, connection }, this.#shared.handlerFailed,
    );
    known.set(streamId, stream);
    streams.add(stream);
    if (known.get(streamId) === stream) {
      this.#session.dispatchEvent(new StreamEvent('streamCreated', this.#session, { stream, reason: null }));
    }
  }

  #change(stream, facts, isCurrent) {
    for (const changedProperty of CHANGEABLE) {
      if (!isCurrent()) return;
      const [oldValue, newValue] = [stream[changedProperty], facts[changedProperty]];
      if (oldValue === newValue) continue;
      stream[changedProperty] = newValue;
      const details = { stream, changedProperty, oldValue, newValue };
      this.#session.dispatchEvent(new OTEvent('streamPropertyChanged', this.#session, details));
    }
  }

  /** As in OpenTok, the elements of its subscribers go unless the program prevents that. */
  #remove(known, stream, reason) {
    known.delete(stream.id);
    this.#session.streams.remove(stream, reason);
    const event = new StreamEvent('streamDestroyed', this.#session, { stream, reason }, true);
    this.#session.dispatchEvent(event);
    if (event.isDefaultPrevented()) return;
    for (const subscriber of this.subscribersOf(stream)) this.unsubscribe(subscriber);
  }
}
