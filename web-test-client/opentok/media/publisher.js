// A publisher shows the local camera, and never sends it: the server carries no audio and no video. Pages wait for a
// publisher's success before they connect, so it succeeds where OpenTok's does.

import { complete } from '../api/completion.js';
import { titleOfCode } from '../api/error-tables.js';
import { OTError } from '../api/errors.js';
import { ExceptionEvent, OTEvent } from '../api/events.js';
import { addImmediatePromiseForms, Outcome } from '../api/promises.js';
import { whenParsed } from '../api/when-parsed.js';
import { Code } from '../../client/wire/codes.js';
import { ACCESS_DENIED, capture } from './capture.js';
import { addRejectedMethods, addSilentMethods, MediaObject, notSupported } from './media-objects.js';
import { Preview } from './preview.js';

/** If the browser has not answered after this time, it is asking the user. */
const DIALOG_DELAY = 500;

/** For the session: resolves when the publisher shows its camera; rejected with its error, or when it is destroyed. */
export let whenReady;
/** For the session: what a stream of this publisher has, but its id and connection. */
export let factsOf;
/**
 * For the session that publishes it. Until `detach`, `destroyed()` is called if the publisher is destroyed, and
 * `changed()` after a change of its stream.
 */
export let attach;
export let detach;

export class Publisher extends MediaObject {
  #shared;
  #guid;
  #preview = null;
  #media = null;
  #properties = {};
  #isOn = { audio: true, video: true };
  #ready = new Outcome();
  #publishing = null;

  static {
    whenReady = (publisher) => publisher.#ready.promise;
    factsOf = (publisher) => publisher.#facts;
    attach = (publisher, session, publishing) => {
      publisher.session = session;
      publisher.#publishing = publishing;
    };
    detach = (publisher) => {
      publisher.session = null;
      publisher.stream = null;
      publisher.streamId = undefined;
      publisher.#publishing = null;
    };
  }

  /** `start` is `{target, properties, handler}` of `initPublisher`; without it the publisher captures nothing. */
  constructor(shared, start = null) {
    super(shared);
    this.#shared = shared;
    this.#guid = this.id;
    this.accessAllowed = false;
    this.streamId = undefined;
    addImmediatePromiseForms(this, ['publishAudio', 'publishVideo', 'publishCaptions']);
    shared.publishers.add(this);
    if (start === null) {
      this.#ready.reject(notSupported('Publishing'));
      return;
    }
    this.#properties = start.properties;
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
    this.#noteChange('hasAudio');
    return this;
  }

  publishVideo(isOn) {
    this.#isOn.video = isOn !== false;
    this.#switchTracks();
    this.#noteChange('hasVideo');
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
    // Also if it was ready before: it cannot be published any more.
    this.#ready = new Outcome();
    this.#ready.reject(error);
    this.#publishing?.destroyed();
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

  get #facts() {
    const { name = '', initials = '', frameRate, videoSource } = this.#properties;
    const video = this.getVideoSource().track;
    const { width = this.videoWidth(), height = this.videoHeight(), frameRate: real } = video?.getSettings?.() ?? {};
    return {
      name: String(name ?? ''),
      initials: String(initials ?? ''),
      hasAudio: this.#has('hasAudio'),
      hasVideo: this.#has('hasVideo'),
      videoType: video === null ? undefined : video === videoSource ? 'custom' : 'camera',
      videoDimensions: { width: width ?? 0, height: height ?? 0 },
      frameRate: frameRate ?? real,
    };
  }

  #has(property) {
    if (property === 'hasAudio') return this.#isOn.audio && this.getAudioSource() !== null;
    return this.#isOn.video && this.getVideoSource().track !== null;
  }

  /** The session emits changes of its own streams, too. */
  #noteChange(changedProperty) {
    const { stream, session } = this;
    const newValue = this.#has(changedProperty);
    if (!stream || stream[changedProperty] === newValue) return;
    stream[changedProperty] = newValue;
    this.#publishing?.changed();
    const details = { stream, changedProperty, oldValue: !newValue, newValue };
    session.dispatchEvent(new OTEvent('streamPropertyChanged', session, details));
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
