// There is no audio and no video here. Pages that publish, too, must still run their chat: every media call of
// OpenTok's exists, does nothing, and says so to whoever asked. None of this raises an `exception`: nothing is broken.

import { completeLater } from './completion.js';
import { Emitter } from './emitter.js';
import { Code, OTError } from './errors.js';
import { OTEvent } from './events.js';

/** What each media call ends in. The codes are OpenTok's for that call; the name says that it is not a fault. */
export function notSupported(what, code = Code.unableToPublish) {
  return new OTError(code, `${what} is not possible: this server carries signals, and no audio or video.`, 'OT_NOT_SUPPORTED');
}

/** There is never one; for programs that ask `instanceof`. */
export class Stream extends Emitter {}

/** What publishers and subscribers have in common: a face without a picture. */
class MediaObject extends Emitter {
  static #lastId = 0;
  #log;
  #style = {};

  constructor(house) {
    super(house.handlerFailed);
    this.#log = house.log;
    MediaObject.#lastId += 1;
    this.id = `OT_${MediaObject.#lastId}`;
    this.element = undefined;
    this.session = null;
    this.stream = null;
  }

  videoWidth() {
    return undefined;
  }

  videoHeight() {
    return undefined;
  }

  getImgData() {
    return null;
  }

  getStyle() {
    return { ...this.#style };
  }

  /** `setStyle(name, value)` and `setStyle(styles)`: kept, so that what was set can be read. */
  setStyle(nameOrStyles, value) {
    Object.assign(this.#style, typeof nameOrStyles === 'string' ? { [nameOrStyles]: value } : nameOrStyles);
    return this;
  }

  getStats(handler) {
    completeLater(this.#log, handler, notSupported('Measuring'));
  }
}

/** Makes methods that change nothing and return their object. */
function addSilentMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = function () {
      return this;
    };
  }
}

/** Makes methods whose promise is refused. */
function addRefusedMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = () => Promise.reject(notSupported(name));
  }
}

export class Publisher extends MediaObject {
  #house;

  constructor(house) {
    super(house);
    this.#house = house;
    this.accessAllowed = false;
    house.publishers.add(this);
  }

  getAudioSource() {
    return null;
  }

  getVideoSource() {
    return { deviceId: null, type: null, track: null };
  }

  getVideoFilter() {
    return null;
  }

  getAudioFilter() {
    return null;
  }

  getVideoContentHint() {
    return '';
  }

  destroy() {
    if (!this.#house.publishers.has(this.id)) return this;
    this.#house.publishers.remove(this);
    this.dispatchEvent(new OTEvent('destroyed', this));
    return this;
  }
}

addSilentMethods(Publisher, ['publishAudio', 'publishVideo', 'publishCaptions', 'setVideoContentHint', 'setAudioBitrate']);
addRefusedMethods(Publisher, [
  'cycleVideo', 'setAudioSource', 'setVideoSource', 'applyVideoFilter', 'clearVideoFilter', 'applyAudioFilter',
  'clearAudioFilter', 'getRtcStatsReport', 'setPreferredResolution', 'setPreferredFrameRate', 'setVideoMediaProcessorConnector',
  'setAudioMediaProcessorConnector',
]);

export class Subscriber extends MediaObject {
  constructor(house, stream) {
    super(house);
    this.stream = stream ?? null;
    this.streamId = stream?.streamId;
  }

  getAudioVolume() {
    return 0;
  }

  isAudioBlocked() {
    return false;
  }

  isSubscribedToCaptions() {
    return false;
  }
}

addSilentMethods(Subscriber, [
  'subscribeToAudio', 'subscribeToVideo', 'subscribeToCaptions', 'setAudioVolume', 'restrictFrameRate',
  'setPreferredResolution', 'setPreferredFrameRate', 'destroy',
]);
addRefusedMethods(Subscriber, ['getRtcStatsReport']);

/** The part of a Session that is about media. */
export class MediaCalls extends Emitter {
  #house;

  constructor(house) {
    super(house.handlerFailed);
    this.#house = house;
  }

  /** `publish(publisher, handler?)`, and `publish(target?, properties?, handler?)`, which makes one. */
  publish(...args) {
    const publisher = args[0] instanceof Publisher ? args[0] : new Publisher(this.#house);
    this.#refuse(handlerIn(args), notSupported('Publishing', Code.unableToPublish));
    return publisher;
  }

  unpublish() {}

  subscribe(stream, ...args) {
    this.#refuse(handlerIn(args), notSupported('Subscribing', Code.unableToSubscribe));
    return new Subscriber(this.#house, stream);
  }

  unsubscribe() {
    return this;
  }

  getSubscribersForStream() {
    return [];
  }

  getPublisherForStream() {
    return undefined;
  }

  forceUnpublish(stream, handler) {
    this.#refuse(handler, notSupported('Stopping a stream', Code.unableToForceUnpublish));
    return this;
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

  /** Both are about media alone, so a page that waits for them before it connects goes on. */
  setEncryptionSecret() {
    return Promise.resolve();
  }

  setIceConfig() {
    return Promise.resolve();
  }

  /** Somebody has to hear of it: without a handler, whoever reads the console. */
  #refuse(handler, error) {
    if (typeof handler === 'function') completeLater(this.#house.log, handler, error);
    else this.#house.log.warn(error.message);
  }
}

/** The calls of `OT` that are about media. */
export function mediaCallsOfOT(house) {
  return {
    /** `initPublisher(target?, properties?, handler?)`. The page's element is left as it is. */
    initPublisher(...args) {
      const publisher = new Publisher(house);
      completeLater(house.log, handlerIn(args), notSupported('Publishing', Code.unableToPublish));
      return publisher;
    },

    /** No device can be used here, which is what an empty list says; pages filter it without looking at the error. */
    getDevices(handler) {
      completeLater(house.log, handler, undefined, []);
    },

    getUserMedia: () => Promise.reject(notSupported('Capturing audio or video')),

    checkScreenSharingCapability(handler) {
      completeLater(house.log, handler, {
        supported: false,
        extensionRequired: undefined,
        extensionRegistered: false,
        extensionInstalled: false,
        supportedSources: { screen: false, application: false, window: false, browser: false },
      });
    },

    registerScreenSharingExtension() {},
    upgradeSystemRequirements() {},

    /** OpenTok collects reports about calls; nobody collects any here. */
    reportIssue(handler) {
      completeLater(house.log, handler, new OTError(Code.internalError, 'Issues are not collected by this server.', 'OT_NOT_SUPPORTED'));
    },

    getSupportedCodecs: () => Promise.resolve({ videoEncoders: [], videoDecoders: [] }),
    hasMediaProcessorSupport: () => false,
    hasEndToEndEncryptionSupport: () => false,
    unblockAudio: () => Promise.resolve(),
    getAudioOutputDevices: () => Promise.resolve([]),
    getActiveAudioOutputDevice: () => Promise.reject(notSupported('Playing audio')),
    setAudioOutputDevice: () => Promise.reject(notSupported('Playing audio')),

    /** OpenTok's proxy for its own addresses. A proxy before this server is named where the server is: in the script's address. */
    setProxyUrl() {
      house.log.warn('setProxyUrl does nothing here: name the proxy as the server, with OT.setServer');
    },
  };
}

/** The completion handler, which is the last of what was passed, however much was. */
function handlerIn(args) {
  return args.filter((arg) => typeof arg === 'function').at(-1);
}
