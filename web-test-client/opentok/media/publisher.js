// A publisher shows the local camera, and never sends it: the server carries no audio and no video. Pages wait for a
// publisher's success before they connect, so it succeeds where OpenTok's does.

import { complete } from '../api/completion.js';
import { titleOfCode } from '../api/error-tables.js';
import { OTError } from '../api/errors.js';
import { ExceptionEvent, OTEvent } from '../api/events.js';
import { addImmediatePromiseForms, Outcome } from '../api/promises.js';
import { whenParsed } from '../api/when-parsed.js';
import { Code } from '../client/wire/codes.js';
import { ACCESS_DENIED, capture } from './capture.js';
import { addRejectedMethods, addSilentMethods, MediaObject } from './media-objects.js';
import { Preview } from './preview.js';

/** If the browser has not answered after this time, it is asking the user. */
const DIALOG_DELAY = 500;

/** For `initPublisher.promise`: resolves when the publisher shows its camera; rejected with its error, or when it is destroyed. */
export let whenReady;

export class Publisher extends MediaObject {
  #shared;
  #guid;
  #preview = null;
  #media = null;
  #isOn = { audio: true, video: true };
  #ready = new Outcome();

  static {
    whenReady = (publisher) => publisher.#ready.promise;
  }

  /** `start` is `{target, properties, handler}` of `initPublisher`; without it the publisher captures nothing. */
  constructor(shared, start = null) {
    super(shared);
    this.#shared = shared;
    this.#guid = this.id;
    this.accessAllowed = false;
    addImmediatePromiseForms(this, ['publishAudio', 'publishVideo', 'publishCaptions']);
    shared.publishers.add(this);
    if (start === null) return;
    const { audio, video } = this.#isOn;
    const { publishAudio = audio, publishVideo = video } = start.properties;
    this.#isOn = { audio: publishAudio !== false, video: publishVideo !== false };
    whenParsed(shared.environment.document, () => this.#isThere() && this.#start(start));
  }

  /** The key in `OT.publishers`. A function, as in OpenTok's script. */
  guid() {
    return this.#guid;
  }

  publishAudio(isOn) {
    this.#isOn.audio = isOn !== false;
    this.#switchTracks();
    return this;
  }

  publishVideo(isOn) {
    this.#isOn.video = isOn !== false;
    this.#switchTracks();
    return this;
  }

  /** The track of the microphone; null without one. */
  getAudioSource() {
    return this.#media?.getAudioTracks()[0] ?? null;
  }

  getVideoSource() {
    const track = this.#media?.getVideoTracks()[0] ?? null;
    if (track === null) return { deviceId: null, type: null, track: null };
    return { deviceId: track.getSettings?.().deviceId ?? null, type: 'camera', track };
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

  videoElement() {
    return this.#preview?.video;
  }

  videoWidth() {
    return this.#preview?.video?.videoWidth || undefined;
  }

  videoHeight() {
    return this.#preview?.video?.videoHeight || undefined;
  }

  getImgData() {
    return this.#preview?.picture() ?? null;
  }

  /** Stops the camera and removes the element from the page. */
  destroy() {
    if (!this.#isThere()) return this;
    this.#shared.publishers.remove(this);
    this.#release();
    const error = new OTError(Code.unableToPublish, 'The publisher was destroyed.', 'OT_MEDIA_ERR_ABORTED');
    this.#ready.reject(error);
    this.dispatchEvent(new OTEvent('destroyed', this));
    this.off();
    return this;
  }

  #isThere() {
    return this.#shared.publishers.has(this.#guid);
  }

  async #start({ target, properties, handler }) {
    this.#preview = new Preview(this.#shared.environment, target, properties);
    this.element = this.#preview.element;
    if (this.element?.id) this.id = this.element.id;
    try {
      this.#media = await this.#asking(capture(this.#shared.environment.mediaDevices, properties));
      if (!this.#isThere()) this.#release();
    } catch (error) {
      if (this.#isThere()) this.#fail(error, handler);
      return;
    }
    if (this.#media) await this.#show(handler);
  }

  /** Emits the events of the browser's question to the user, if there seems to be one. */
  async #asking(captured) {
    const { setTimeout, clearTimeout } = this.#shared.environment;
    let isOpen = false;
    const timer = setTimeout(() => {
      isOpen = this.#isThere();
      if (isOpen) this.dispatchEvent(new OTEvent('accessDialogOpened', this, {}, true));
    }, DIALOG_DELAY);
    try {
      return await captured;
    } finally {
      clearTimeout(timer);
      if (isOpen && this.#isThere()) this.dispatchEvent(new OTEvent('accessDialogClosed', this));
    }
  }

  async #show(handler) {
    this.#switchTracks();
    this.accessAllowed = true;
    this.dispatchEvent(new OTEvent('accessAllowed', this));
    if (!this.#isThere()) return;
    this.#preview.bind(this.#media);
    const { video } = this.#preview;
    if (video) this.dispatchEvent(new OTEvent('videoElementCreated', this, { element: video }));
    await this.#preview.playing();
    if (!this.#isThere()) return;
    complete(this.#shared.log, handler);
    this.#ready.resolve();
    // Not in OpenTok's reference, but old pages wait for it.
    this.emit('loaded', this);
  }

  /** In OpenTok's order. A refusal by the user is no exception; every other failure is one, with this message. */
  #fail(error, handler) {
    this.#release();
    // The promise's reactions run after the handlers below.
    this.#ready.reject(error);
    if (typeof handler !== 'function') this.#shared.log.warn(error.message);
    if (error.name === ACCESS_DENIED) {
      complete(this.#shared.log, handler, error);
      this.dispatchEvent(new OTEvent('accessDenied', this, {}, true));
      return;
    }
    const event = new ExceptionEvent(this, error, titleOfCode(error.code));
    event.message = 'GetUserMedia';
    this.#shared.raise(event);
    complete(this.#shared.log, handler, error);
  }

  #switchTracks() {
    for (const track of this.#media?.getAudioTracks() ?? []) track.enabled = this.#isOn.audio;
    for (const track of this.#media?.getVideoTracks() ?? []) track.enabled = this.#isOn.video;
  }

  #release() {
    for (const track of this.#media?.getTracks() ?? []) track.stop();
    this.#media = null;
    this.#preview?.remove();
    this.#preview = null;
  }
}

addSilentMethods(Publisher, ['publishCaptions', 'setVideoContentHint', 'setAudioBitrate']);
addRejectedMethods(Publisher, [
  'cycleVideo', 'setAudioSource', 'setVideoSource', 'applyVideoFilter', 'clearVideoFilter', 'applyAudioFilter',
  'clearAudioFilter', 'getRtcStatsReport', 'setPreferredResolution', 'setPreferredFrameRate',
  'setVideoMediaProcessorConnector', 'setAudioMediaProcessorConnector',
]);
