// The library as an ES module: `import OT from 'https://your.server/opentok/index.js'`. Programs that were bundled with
// OpenTok's package use `import * as OT from` it, or import it without a name and use the global `OT`.
import { browserEnvironment } from '../client/browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from '../client/server-address.js';
import { setGlobals } from './page-globals.js';
import { publishOfAddress } from '../client/script-address.js';

const { url } = import.meta;
// Not a copy: the environment looks up WebSocket for each socket.
const environment = Object.assign(browserEnvironment(), { scriptPublish: publishOfAddress(url) });
const OT = createOT(environment, serverOfScript(url));
environment.restoreGlobals = setGlobals(OT, { overOthers: false });

export default OT;

export const {
  $, addEventListener, APIKEY, Capabilities, checkScreenSharingCapability, checkSystemRequirements, Connection,
  ConnectionEvent, DEBUG, debug, dispatchEvent, emit, ERROR, Error, error, Event, ExceptionCodes, ExceptionEvent,
  getActiveAudioOutputDevice, getAudioOutputDevices, getDevices, getErrorTitleByCode, getSupportedCodecs,
  getUserMedia, HAS_REQUIREMENTS, hasEndToEndEncryptionSupport, hasMediaProcessorSupport, INFO, info, initPublisher,
  initSession, listenerCount, LOG, log, noConflict, NONE, NOT_HAS_REQUIREMENTS, off, on, once, onLoad, properties,
  Publisher, publishers, registerScreenSharingExtension, removeEventListener, reportIssue, Session,
  SessionConnectEvent, SessionDisconnectEvent, sessions, setAudioOutputDevice, setLogLevel, setProxyUrl, setServer,
  Signal, SignalEvent, Stream, StreamEvent, Subscriber, subscribers, trigger, unblockAudio, upgradeSystemRequirements,
  version, WARN, warn,
} = OT;
