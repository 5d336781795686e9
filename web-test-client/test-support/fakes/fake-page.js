// A page with one session, which records all its events.
import { createOT } from '../../opentok/api/ot.js';
import { bob, connectedMessage, FakeBrowser } from './fake-browser.js';

const EVENTS =
  'sessionConnected sessionDisconnected sessionConnectFailed sessionReconnecting sessionReconnected ' +
  'connectionCreated connectionDestroyed signal signal:chat history messagesErased messageChanged ' +
  'userJoined userLeft moderated restricted unrestricted';

/** A session that is not connected yet. */
export function page(options) {
  const browser = new FakeBrowser();
  const OT = createOT(browser.environment(), 'https://signals.example');
  const session = OT.initSession('100', '1_x', options);
  const received = [];
  const exceptions = [];
  session.on(EVENTS, (event) => received.push(event));
  OT.on('exception', (event) => exceptions.push(event));
  return { browser, OT, session, received, exceptions, names: () => received.map((event) => event.type) };
}

/** A session that is connected as Bob, with Ada in it, unless `changes` to the server's answer say otherwise. */
export function joined({ changes = {}, ...options } = {}) {
  const all = page(options);
  all.session.connect('T1==');
  all.browser.socket.open();
  all.browser.socket.receive(connectedMessage(changes));
  return all;
}

/** The `changes` of a server that keeps connections after a loss. */
export const resumable = { resume: { secret: 's1', resumeSeconds: 60, recoverySeconds: 300 } };

/** The `changes` that make the client a moderator. */
export const moderator = {
  capabilities: { publish: 1, subscribe: 1, forceDisconnect: 1, forceUnpublish: 1, forceMute: 1 },
};

/** Loses the socket and opens the next one; returns the connect message of that attempt. */
export function comeBack(browser, code = 1006) {
  browser.socket.drop(code);
  browser.pass(125);
  browser.socket.open();
  return browser.socket.sent[0];
}

/** The server's answer to a connect with `resume`, which continues the connection unless `changes` say otherwise. */
export function resumedMessage(id, changes = {}) {
  return connectedMessage({
    id,
    outcome: 'resumed',
    connections: [bob],
    replayThrough: 2,
    resume: { secret: `s${id}`, resumeSeconds: 60, recoverySeconds: 300 },
    ...changes,
  });
}
