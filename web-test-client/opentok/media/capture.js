// Captures the microphone and the camera for a publisher: OpenTok's properties as the browser's constraints, and the
// browser's refusals as OpenTok's errors.

import { OTError } from '../api/errors.js';
import { Code } from '../../client/wire/codes.js';

/** OpenTok's defaults. */
const VIDEO = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 30 } };
const SCREENS = new Set(['screen', 'window', 'application', 'browser']);
const AUDIO_PROCESSING = ['autoGainControl', 'echoCancellation', 'noiseSuppression'];

/** The name of the error after which a publisher emits `accessDenied`. */
export const ACCESS_DENIED = 'OT_USER_MEDIA_ACCESS_DENIED';

/** Names of the browser's errors, with OpenTok's name and what the user can do. */
const REFUSALS = new Map([
  ['NotAllowedError', [ACCESS_DENIED, 'The user or the page’s policy denied access to the camera and microphone.']],
  ['SecurityError', [ACCESS_DENIED, 'The browser denied access to the camera and microphone.']],
  ['NotFoundError', ['OT_NO_DEVICES_FOUND', 'There is no camera and no microphone, or not the one that was named.']],
  ['NotReadableError', ['OT_HARDWARE_UNAVAILABLE', 'Another program may be using the camera or microphone: close it.']],
  ['AbortError', ['OT_HARDWARE_UNAVAILABLE', 'The camera or microphone could not be started.']],
  ['OverconstrainedError', ['OT_CONSTRAINTS_NOT_SATISFIED', 'No camera or microphone has the properties asked for.']],
  ['TypeError', ['OT_NO_VALID_CONSTRAINTS', 'The publisher’s properties name no valid source of audio or video.']],
]);

/**
 * A stream of the microphone and the camera that the properties of a publisher name; rejected with an OTError, code
 * 1500. As in OpenTok, a missing camera or microphone is left out, and only without both there is an error.
 */
export async function capture(mediaDevices, properties) {
  const { audioSource, videoSource } = properties;
  if (SCREENS.has(videoSource)) {
    throw refusal('OT_SCREEN_SHARING_NOT_SUPPORTED', 'This server carries no video, and so no screen.');
  }
  const tracks = [audioSource, videoSource].filter(isTrack);
  const constraints = {
    audio: isTrack(audioSource) ? false : audioConstraints(properties),
    video: isTrack(videoSource) ? false : videoConstraints(properties),
  };
  if (constraints.audio === false && constraints.video === false) {
    if (tracks.length > 0) return new MediaStream(tracks);
    throw refusal('OT_NO_VALID_CONSTRAINTS', 'Audio and video are both disabled: a publisher needs one of them.');
  }
  if (!mediaDevices?.getUserMedia) {
    throw refusal('OT_NOT_SUPPORTED', 'The browser offers no camera here. It needs a page with https, or localhost.');
  }
  try {
    const available = await withoutMissing(mediaDevices, constraints);
    if (!available.audio && !available.video) throw new DOMException('no device', 'NotFoundError');
    const stream = await mediaDevices.getUserMedia(available);
    for (const track of tracks) stream.addTrack(track);
    return stream;
  } catch (failure) {
    const unknown = ['OT_UNABLE_TO_CAPTURE_MEDIA', `The camera and microphone could not be captured: ${failure}.`];
    throw refusal(...(REFUSALS.get(failure?.name) ?? unknown));
  }
}

/** The devices as `OT.getDevices` lists them; none if the browser does not tell. */
export async function listDevices(mediaDevices) {
  const kinds = { audioinput: 'audioInput', videoinput: 'videoInput' };
  try {
    const devices = await mediaDevices.enumerateDevices();
    return devices
      .filter(({ kind }) => Object.hasOwn(kinds, kind))
      .map(({ deviceId, kind, label }) => ({ deviceId, kind: kinds[kind], label }));
  } catch {
    return [];
  }
}

/** The constraints without kinds of which there is no device. A browser that does not tell its devices is asked for all. */
async function withoutMissing(mediaDevices, { audio, video }) {
  let devices;
  try {
    devices = await mediaDevices.enumerateDevices();
  } catch {
    return { audio, video };
  }
  const has = (wanted) => devices.some(({ kind }) => kind === wanted);
  return { audio: has('audioinput') && audio, video: has('videoinput') && video };
}

function audioConstraints(properties) {
  const { audioSource, disableAudioProcessing } = properties;
  if (isOff(audioSource)) return false;
  const constraints = typeof audioSource === 'string' ? { deviceId: { exact: audioSource } } : {};
  for (const name of AUDIO_PROCESSING) {
    if (disableAudioProcessing === true) constraints[name] = false;
    else if (typeof properties[name] === 'boolean') constraints[name] = properties[name];
  }
  return Object.keys(constraints).length > 0 ? constraints : true;
}

function videoConstraints({ videoSource, resolution, frameRate, facingMode }) {
  if (isOff(videoSource)) return false;
  const constraints = { ...VIDEO };
  const size = /^(\d+)x(\d+)$/.exec(resolution ?? '');
  if (size) Object.assign(constraints, { width: { ideal: Number(size[1]) }, height: { ideal: Number(size[2]) } });
  if (typeof frameRate === 'number') constraints.frameRate = { ideal: frameRate };
  if (typeof facingMode === 'string') constraints.facingMode = { ideal: facingMode };
  if (typeof videoSource === 'string') constraints.deviceId = { exact: videoSource };
  return constraints;
}

function isOff(source) {
  return source === null || source === false;
}

/** A MediaStreamTrack, by its method, since it may come from another frame. */
function isTrack(source) {
  return typeof source === 'object' && source !== null && typeof source.stop === 'function';
}

function refusal(name, message) {
  return new OTError(Code.unableToPublish, message, name);
}
