// The common base of publishers and subscribers, and subscribers: their elements say that there is nothing to see.

import { OTEvent } from '../api/events.js';
import { Emitter } from '../api/emitter.js';
import { OTError } from '../api/errors.js';
import { addImmediatePromiseForms, promised } from '../api/promises.js';
import { Code } from '../../client/wire/codes.js';
import { Preview } from './preview.js';

const NOTHING_TO_SEE = 'No audio or video: this server carries signals only.';

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
  #preview = null;

  /** `place` is where its element goes, `{target, properties}`; null for none. */
  constructor(shared, stream, place = null) {
    super(shared);
    this.stream = stream ?? null;
    this.streamId = stream?.streamId;
    addImmediatePromiseForms(this, CONTROLS);
    if (place === null) return;
    this.#preview = new Preview(shared.environment, place.target, place.properties, 'OT_subscriber');
    this.element = this.#preview.element;
    if (!this.element) return;
    this.id = this.element.id || this.id;
    this.element.textContent = NOTHING_TO_SEE;
  }

  /** Removes the element from the page. */
  destroy() {
    if (this.#preview === null) return this;
    this.#preview.remove();
    this.#preview = null;
    this.dispatchEvent(new OTEvent('destroyed', this));
    this.off();
    return this;
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

addSilentMethods(Subscriber, CONTROLS);
addRejectedMethods(Subscriber, ['getRtcStatsReport']);
