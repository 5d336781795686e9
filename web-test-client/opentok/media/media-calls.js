// The server carries no audio and no video. Pages that publish video must still run their chat: every media call of
// OpenTok exists. `initPublisher` shows the local camera, because pages connect only after that. A call that needs
// media on the server does nothing, and fails with `OT_NOT_SUPPORTED`; none of them raises an `exception`, because
// nothing is broken. `publish` succeeds with a stream that stays in the page, unless the option is `publish=fail`. With
// `publish=announce` other clients learn of it, and `subscribe` succeeds with an empty element.

import { complete, completeLater } from '../api/completion.js';
import { Emitter } from '../api/emitter.js';
import { OTError } from '../api/errors.js';
import { addPromiseForm, promised, quiet } from '../api/promises.js';
import { Code } from '../../client/wire/codes.js';
import { capture, listDevices } from './capture.js';
import { LocalPublishing } from './local-publishing.js';
import { notSupported, Subscriber } from './media-objects.js';
import { Publisher, whenReady } from './publisher.js';
import { RemoteStreams } from './remote-streams.js';

/** For the session: its local streams, those of other clients, and whether it asks for those. */
export let localPublishingOf;
export let remoteStreamsOf;
export let announces;

/** The media calls of a Session. */
export class MediaCalls extends Emitter {
  #shared;
  #publishOption;
  #local;
  #remote;

  static {
    localPublishingOf = (session) => session.#local;
    remoteStreamsOf = (session) => session.#remote;
    announces = (session) => session.#announces;
  }

  /** `publishOption` is the session's own option `publish`, and `ask` sends a request of the session. */
  constructor(shared, publishOption, ask) {
    super(shared.handlerFailed);
    this.#shared = shared;
    this.#publishOption = shared.publishOption.accepted(publishOption);
    this.#local = new LocalPublishing(this, shared, () => this.#announces, ask);
    this.#remote = new RemoteStreams(this, shared);
    addPromiseForm(this, 'publish');
    addPromiseForm(this, 'subscribe');
  }

  /** `publish(publisher, handler?)`, and `publish(target?, properties?, handler?)`, which creates one. */
  publish(...args) {
    const handler = handlerIn(args);
    const isLocal = this.#shared.publishOption.isLocal(this.#publishOption);
    const refusal = isLocal ? this.#local.refusal : notSupported('Publishing', Code.unableToPublish);
    if (refusal) {
      this.#fail(handler, refusal);
      // Its own publisher does not ask for the camera, since nobody would see its video.
      return args[0] instanceof Publisher ? args[0] : new Publisher(this.#shared);
    }
    const publisher = args[0] instanceof Publisher ? args[0] : this.#newPublisher(args);
    this.#local.publish(publisher, (error) => {
      if (!error) complete(this.#shared.log, handler, undefined, publisher);
      else if (handler) complete(this.#shared.log, handler, error);
      else this.#shared.log.warn(error.message);
    });
    return publisher;
  }

  /** Local streams only: with the option `publish=fail` there are none. */
  unpublish(publisher) {
    this.#local.unpublish(publisher);
  }

  subscribe(stream, ...args) {
    if (this.#remote.has(stream)) {
      const [target, properties] = args.filter((arg) => typeof arg !== 'function');
      return this.#remote.subscribe(stream, target, properties ?? {}, handlerIn(args));
    }
    this.#fail(handlerIn(args), notSupported('Subscribing', Code.unableToSubscribe));
    return new Subscriber(this.#shared, stream);
  }

  unsubscribe(subscriber) {
    this.#remote.unsubscribe(subscriber);
    return this;
  }

  getSubscribersForStream(stream) {
    return this.#remote.subscribersOf(stream);
  }

  getPublisherForStream(stream) {
    return this.#local.publisherOf(stream);
  }

  forceUnpublish(stream, handler) {
    const error = notSupported('Stopping a stream', Code.unableToForceUnpublish);
    this.#fail(handler, error);
    return quiet(Promise.reject(error));
  }

  forceMuteStream() {
    return Promise.reject(notSupported('Muting a stream', Code.unableToForceMute));
  }

  forceMuteAll() {
    return Promise.reject(notSupported('Muting', Code.unableToForceMute));
  }

  disableForceMute() {
    return Promise.reject(notSupported('Muting', Code.unableToForceMute));
  }

  /** Both calls concern only media. They succeed, because pages wait for them before they connect. */
  setEncryptionSecret() {
    return Promise.resolve();
  }

  setIceConfig() {
    return Promise.resolve();
  }

  get #announces() {
    return this.#shared.publishOption.announces(this.#publishOption);
  }

  /** `publish` reports the publisher's error: the publisher itself must not log it, too. */
  #newPublisher(args) {
    const [target, properties] = args.filter((arg) => typeof arg !== 'function');
    return new Publisher(this.#shared, { target, properties: properties ?? {}, handler() {} });
  }

  /** The error goes to the handler, or else to the log. */
  #fail(handler, error) {
    if (typeof handler === 'function') completeLater(this.#shared.log, handler, error);
    else this.#shared.log.warn(error.message);
  }
}

/** The media calls of `OT`. */
export function mediaCallsOfOT(shared) {
  return {
    initPublisher: initPublisherFor(shared),

    /** The list is empty if the browser does not tell its devices: pages filter it without checking the error. */
    getDevices(handler) {
      const listed = listDevices(shared.environment.mediaDevices);
      return listed.then((devices) => {
        complete(shared.log, handler, undefined, devices);
        return devices;
      });
    },

    /** The microphone and the camera, as `initPublisher` captures them. */
    getUserMedia: (properties) => capture(shared.environment.mediaDevices, properties ?? {}),

    checkScreenSharingCapability(handler) {
      const answer = {
        supported: false,
        extensionRequired: undefined,
        extensionRegistered: false,
        extensionInstalled: false,
        supportedSources: { screen: false, application: false, window: false, browser: false },
      };
      completeLater(shared.log, handler, answer);
      return Promise.resolve(answer);
    },

    registerScreenSharingExtension() {},
    upgradeSystemRequirements() {},

    /** OpenTok collects reports about calls; this server does not. */
    reportIssue(handler) {
      const message = 'This server does not collect issues.';
      const error = new OTError(Code.internalError, message, 'OT_NOT_SUPPORTED');
      return promised(shared.log, handler, (done) => queueMicrotask(() => done(error)));
    },

    getSupportedCodecs: () => Promise.resolve({ videoEncoders: [], videoDecoders: [] }),
    hasMediaProcessorSupport: () => false,
    hasEndToEndEncryptionSupport: () => false,
    unblockAudio: () => Promise.resolve(),
    getAudioOutputDevices: () => Promise.resolve([]),
    getActiveAudioOutputDevice: () => Promise.reject(notSupported('Playing audio')),
    setAudioOutputDevice: () => Promise.reject(notSupported('Playing audio')),

    /** OpenTok's proxy for its own addresses. For a proxy in front of this server, use `OT.setServer`. */
    setProxyUrl() {
      shared.log.warn('setProxyUrl does nothing here: name the proxy as the server, with OT.setServer');
    },
  };
}

/** `initPublisher(target?, properties?, handler?)` shows the local camera in the page's element. */
function initPublisherFor(shared) {
  const start = (args, handler) => {
    const [target, properties] = args.filter((arg) => typeof arg !== 'function');
    return new Publisher(shared, { target, properties: properties ?? {}, handler });
  };
  const initPublisher = (...args) => start(args, handlerIn(args));
  /** Also rejected when the publisher is destroyed before its camera was there; OpenTok then calls no handler. */
  initPublisher.promise = (...args) => {
    // With a handler of its own, the publisher does not log its error.
    const publisher = start(args, handlerIn(args) ?? (() => {}));
    return quiet(whenReady(publisher).then(() => publisher));
  };
  return initPublisher;
}

/** The completion handler: the last function among the arguments. */
function handlerIn(args) {
  return args.filter((arg) => typeof arg === 'function').at(-1);
}
