// A page with one session on it, which notes whatever it is told.
import { createOT } from '../opentok/ot.js';
import { connectedMessage, FakeBrowser } from './fake-browser.js';

const EVENTS = 'sessionConnected sessionDisconnected sessionConnectFailed sessionReconnecting sessionReconnected connectionCreated connectionDestroyed signal signal:chat';

/** A session that has not been connected. */
export function page(options) {
  const browser = new FakeBrowser();
  const OT = createOT(browser.environment(), 'https://signals.example');
  const session = OT.initSession('100', '1_x', options);
  const heard = [];
  const exceptions = [];
  session.on(EVENTS, (event) => heard.push(event));
  OT.on('exception', (event) => exceptions.push(event));
  return { browser, OT, session, heard, exceptions, names: () => heard.map((event) => event.type) };
}

/** One that is, with Ada in it and as Bob, unless `changes` to the server's answer say otherwise. */
export function joined({ changes = {}, ...options } = {}) {
  const all = page(options);
  all.session.connect('T1==');
  all.browser.socket.open();
  all.browser.socket.hear(connectedMessage(changes));
  return all;
}

/** The `changes` of a server to which one can come back. */
export const resumable = { resume: { secret: 's1', resumeSeconds: 60, recoverySeconds: 300 } };

/** Those `changes` with which one is a moderator. */
export const moderator = { capabilities: { publish: 1, subscribe: 1, forceDisconnect: 1, forceUnpublish: 1, forceMute: 1 } };
