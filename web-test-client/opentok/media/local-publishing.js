// Publishing with the options `publish=local`, the default, and `publish=announce`: a publisher gets its stream, and its
// events, in the order of opentok.js. No media is sent. With `announce` the server knows of the stream before the
// publisher's program does. Programs that wait for `publish` before they start their chat can then do so.

import { OTError } from '../api/errors.js';
import { StreamEvent } from '../api/events.js';
import { Code } from '../../client/wire/codes.js';
import { Announcer } from './announcer.js';
import { attach, detach, factsOf, whenReady } from './publisher.js';
import { newStreamId, Stream } from './stream.js';

const UNPUBLISHED = 'unpublished';
const DESTROYED = 'destroyed';

export class LocalPublishing {
  #session;
  #shared;
  /**
   * Publisher → `{made, stream, finish}`. `made` is null until the camera is there, and `stream` until the server knows of
   * it, if it has to. `finish` reports the outcome once.
   */
  #publications = new Map();
  #announcer;
  #announces;

  /** `announces()`: whether the session has the option `announce`. `ask(kind, message, advice, handler)` is its request. */
  constructor(session, shared, announces, ask) {
    this.#session = session;
    this.#shared = shared;
    this.#announces = announces;
    this.#announcer = new Announcer({
      ask: (streams, done) => ask('streams', { streams }, '', done),
      isConnected: () => session.isConnected(),
      streams: () => [...this.#publications.values()].flatMap(({ made }) => made ?? []),
      settled: (streams, error) => this.#announced(streams, error),
      later: (work, pause) => shared.environment.setTimeout(work, pause),
    });
  }

  /** Why the session cannot publish now; null if it can. */
  get refusal() {
    const session = this.#session;
    if (!session.isConnected()) {
      return new OTError(Code.notConnectedToModerate, 'publish failed: the session is not connected.');
    }
    if (!session.capabilities.permittedTo('publish')) {
      const message = 'publish failed: the token’s role does not permit it.';
      return new OTError(Code.unableToPublish, message, 'OT_PERMISSION_DENIED');
    }
    return null;
  }

  /** Calls `done(error?)` later, and exactly once. */
  publish(publisher, done) {
    const known = this.#publications.get(publisher);
    if (known) {
      this.#shared.log.warn('publish does nothing: the publisher publishes to this session. Call unpublish first.');
      known.waiting.push(done);
      if (known.stream) queueMicrotask(() => known.finish());
      return;
    }
    if (publisher.session) {
      const message = 'publish failed: the publisher publishes to another session. Call unpublish there first.';
      queueMicrotask(() => done(new OTError(Code.unableToPublish, message, 'OT_INVALID_PARAMETER')));
      return;
    }
    const waiting = [done];
    const finish = (error) => waiting.splice(0).forEach((each) => each(error));
    const publication = { made: null, stream: null, waiting, finish };
    this.#publications.set(publisher, publication);
    attach(publisher, this.#session, {
      destroyed: () => this.#end(publisher, DESTROYED),
      changed: () => this.#announce(),
    });
    whenReady(publisher).then(
      () => this.#begin(publisher, publication),
      (error) => this.#end(publisher, DESTROYED, error, publication),
    );
  }

  /** The event comes at once, as in opentok.js. */
  unpublish(publisher) {
    if (this.#publications.has(publisher)) this.#announceEnd(this.#end(publisher, UNPUBLISHED));
  }

  publisherOf(stream) {
    return [...this.#publications.keys()].find((publisher) => publisher.stream !== null && publisher.stream === stream);
  }

  /** Ends all streams without an event. The function that it returns emits the events. */
  endAll(reason) {
    const ended = [...this.#publications.keys()].map((publisher) => this.#end(publisher, reason));
    return () => ended.forEach((each) => this.#announceEnd(each));
  }

  /** The session has another connection after a reconnect. The streams are now that connection's. */
  adopt(connection) {
    for (const { made } of this.#publications.values()) if (made) made.connection = connection;
    if (this.#announces() && [...this.#publications.values()].some(({ made }) => made)) this.#announcer.renew();
  }

  #announce() {
    if (this.#announces()) this.#announcer.announce();
  }

  #announced(streams, error) {
    if (error) this.#shared.log.warn(`the other clients are not told of the streams: ${error.message}`);
    for (const [publisher, publication] of [...this.#publications]) {
      if (publication.stream || !streams.includes(publication.made)) continue;
      if (error) this.#end(publisher, DESTROYED, error, publication);
      else this.#start(publisher, publication);
    }
  }

  #begin(publisher, publication) {
    // It was unpublished, or the session was left, before the camera was there.
    if (this.#publications.get(publisher) !== publication) return;
    const session = this.#session;
    const { environment, handlerFailed, publishOption } = this.#shared;
    publishOption.warn(this.#announces());
    const facts = { ...factsOf(publisher), id: newStreamId(environment.random), connection: session.connection };
    publication.made = new Stream(facts, handlerFailed);
    if (this.#announces()) this.#announce();
    else this.#start(publisher, publication);
  }

  #start(publisher, publication) {
    const isCurrent = () => this.#publications.get(publisher) === publication;
    const session = this.#session;
    const stream = publication.made;
    publication.stream = stream;
    // What has changed while the server was asked.
    const { hasAudio, hasVideo } = factsOf(publisher);
    const isChanged = stream.hasAudio !== hasAudio || stream.hasVideo !== hasVideo;
    Object.assign(stream, { hasAudio, hasVideo });
    if (isChanged) this.#announce();
    publisher.stream = stream;
    publisher.streamId = stream.id;
    session.streams.add(stream);
    if (isCurrent()) publication.finish();
    // The handler may have ended the stream.
    if (isCurrent()) publisher.dispatchEvent(new StreamEvent('streamCreated', publisher, { stream, reason: null }));
  }

  /** `only` limits the call to that publication: the publisher may have been published again since. */
  #end(publisher, reason, error = aborted(reason), only = this.#publications.get(publisher)) {
    const publication = this.#publications.get(publisher);
    if (!publication || publication !== only) return { publisher, stream: null, reason };
    this.#publications.delete(publisher);
    detach(publisher);
    const { made, stream } = publication;
    if (made) this.#announce();
    if (stream) this.#session.streams.remove(stream, reason);
    publication.finish(error);
    return { publisher, stream, reason };
  }

  /** As in opentok.js, a publisher without its stream is destroyed unless the program prevents that. */
  #announceEnd({ publisher, stream, reason }) {
    if (stream) {
      const event = new StreamEvent('streamDestroyed', publisher, { stream, reason }, true);
      publisher.dispatchEvent(event);
      // The handler may have published it again.
      if (event.isDefaultPrevented() || publisher.session) return;
    }
    publisher.destroy();
  }
}

function aborted(reason) {
  const message = `publish failed: the publisher was stopped before its stream began (${reason}).`;
  return new OTError(Code.unableToPublish, message, 'OT_MEDIA_ERR_ABORTED');
}
