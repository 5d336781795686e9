// The library as an ES module: `import OT from 'https://your.server/opentok/index.js'`, and `import * as OT from` it, as
// programs do that had it from a bundler.
import { browserEnvironment } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';

const OT = createOT(browserEnvironment(), serverOfScript(import.meta.url));

export default OT;

export const {
  addEventListener, Capabilities, checkScreenSharingCapability, checkSystemRequirements, Connection, ConnectionEvent,
  DEBUG, debug, dispatchEvent, emit, ERROR, Error, error, Event, ExceptionEvent, getActiveAudioOutputDevice,
  getAudioOutputDevices, getDevices, getErrorTitleByCode, getSupportedCodecs, getUserMedia, HAS_REQUIREMENTS,
  hasEndToEndEncryptionSupport, hasMediaProcessorSupport, INFO, info, initPublisher, initSession, LOG, log, NONE,
  NOT_HAS_REQUIREMENTS, off, on, once, properties, Publisher, publishers, registerScreenSharingExtension,
  removeEventListener, reportIssue, Session, SessionConnectEvent, SessionDisconnectEvent, sessions,
  setAudioOutputDevice, setLogLevel, setProxyUrl, setServer, Signal, SignalEvent, Stream, StreamEvent, Subscriber,
  subscribers, trigger, unblockAudio, upgradeSystemRequirements, version, WARN, warn,
} = OT;
