// The common base of publishers and subscribers, and subscribers: without streams they never show anything.

import { Emitter } from '../api/emitter.js';
import { OTError } from '../api/errors.js';
import { addImmediatePromiseForms, promised } from '../api/promises.js';
import { Code } from '../../client/wire/codes.js';

/** The error of a media call. The code is OpenTok's for that call; the name says that nothing is broken. */
export function notSupported(what, code = Code.unableToPublish) {
  const message = `${what} is not possible: this server carries signals, and no audio or video.`;
  return new OTError(code, message, 'OT_NOT_SUPPORTED');
}

/** The common base of publishers and subscribers. */
export class MediaObject extends Emitter {
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

  /** OpenTok's reference does not name it, but programs draw it on a canvas. */
  videoElement() {
    return undefined;
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
    return promised(this.#log, handler, (done) => queueMicrotask(() => done(notSupported('Measuring'))));
  }
}

/** Adds methods that change nothing and return their object. */
export function addSilentMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = function () {
      return this;
    };
  }
}

/** Adds methods whose promise is rejected. */
export function addRejectedMethods(type, names) {
  for (const name of names) {
    type.prototype[name] = () => Promise.reject(notSupported(name));
  }
}

const CONTROLS = [
  'subscribeToAudio', 'subscribeToVideo', 'subscribeToCaptions', 'setAudioVolume', 'restrictFrameRate',
  'setPreferredResolution', 'setPreferredFrameRate',
];

export class Subscriber extends MediaObject {
  constructor(shared, stream) {
    super(shared);
    this.stream = stream ?? null;
    this.streamId = stream?.streamId;
    addImmediatePromiseForms(this, CONTROLS);
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

  getCaptionsTranslationLanguage() {
    return null;
  }
}

addSilentMethods(Subscriber, [...CONTROLS, 'destroy']);
addRejectedMethods(Subscriber, ['getRtcStatsReport']);
