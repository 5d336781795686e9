// Publishers and subscribers without audio and video.

import { Emitter } from '../api/emitter.js';
import { OTError } from '../api/errors.js';
import { OTEvent } from '../api/events.js';
import { completeLater } from '../api/completion.js';
import { Code } from '../client/codes.js';

/** The error of a media call. The code is OpenTok's for that call; the name says that nothing is broken. */
export function notSupported(what, code = Code.unableToPublish) {
  const message = `${what} is not possible: this server carries signals, and no audio or video.`;
  return new OTError(code, message, 'OT_NOT_SUPPORTED');
}

/** Never created here; for programs that use `instanceof`. */
export class Stream extends Emitter {}

/** The common base of publishers and subscribers. */
class MediaObject extends Emitter {
  static #lastId = 0;
  #log;
  #style = {};

  constructor(shared) {
    super(shared.handlerFailed);
    this.#log = shared.log;
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

  /** `setStyle(name, value)` and `setStyle(styles)`: keeps the values for `getStyle`. */
  setStyle(nameOrStyles, value) {
    Object.assign(this.#style, typeof nameOrStyles === 'string' ? { [nameOrStyles]: value } : nameOrStyles);
    return this;
  }

  getStats(handler) {
    completeLater(this.#log, handler, notSupported('Measuring'));
  }
}

/** Adds methods that change nothing and return their object. */
function addSilentMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = function () {
      return this;
    };
  }
}

/** Adds methods whose promise is rejected. */
function addRejectedMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = () => Promise.reject(notSupported(name));
  }
}

export class Publisher extends MediaObject {
  #shared;

  constructor(shared) {
    super(shared);
    this.#shared = shared;
    this.accessAllowed = false;
    shared.publishers.add(this);
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
    if (!this.#shared.publishers.has(this.id)) return this;
    this.#shared.publishers.remove(this);
    this.dispatchEvent(new OTEvent('destroyed', this));
    return this;
  }
}

addSilentMethods(Publisher, [
  'publishAudio', 'publishVideo', 'publishCaptions', 'setVideoContentHint', 'setAudioBitrate',
]);
addRejectedMethods(Publisher, [
  'cycleVideo', 'setAudioSource', 'setVideoSource', 'applyVideoFilter', 'clearVideoFilter', 'applyAudioFilter',
  'clearAudioFilter', 'getRtcStatsReport', 'setPreferredResolution', 'setPreferredFrameRate',
  'setVideoMediaProcessorConnector', 'setAudioMediaProcessorConnector',
]);

export class Subscriber extends MediaObject {
  constructor(shared, stream) {
    super(shared);
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
addRejectedMethods(Subscriber, ['getRtcStatsReport']);
