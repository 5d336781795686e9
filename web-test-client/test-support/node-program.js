// A program on Node that uses the library with the WebSocket of `ws`, with Node's own, or with none. The test that
// starts it calls methods of its session, and gets its events.
import OT from '../opentok/index.js';
import { ws } from './node-packages.js';

const EVENTS = ['sessionConnected', 'sessionDisconnected', 'sessionReconnecting', 'sessionReconnected'];

const [kind, server] = process.argv.slice(2);
// As in a program whose imports come first: the library is loaded already.
if (kind === 'ws') globalThis.WebSocket = ws;
if (kind === 'none') delete globalThis.WebSocket;

OT.setServer(server);
OT.setLogLevel(OT.NONE);
const session = OT.initSession('100', '1_x');
session.on(EVENTS.join(' '), ({ type }) => process.send({ type }));
process.on('message', (method) => {
  if (method === 'disconnect') session.disconnect();
  else session.connect('T1==', (error) => process.send({ type: 'answer', code: error?.code, message: error?.message }));
});
