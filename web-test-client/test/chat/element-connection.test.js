// How `<signalbox-chat>` connects with its attributes, and what the user and the program hear of it. The server is the
// test, and so is the time.
import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { bob, connectedMessage } from '../../test-support/fakes/fake-browser.js';
import {
  ACCESS, complaints, frame, leavePage, newChat, part, send, shown, SignalboxChat, sockets, texts,
} from '../../test-support/fakes/chat-page.js';

const SETUP_MILLISECONDS = 4000;
const OTHER = Object.freeze({ connectionId: 'carol-id', creationTime: 1, data: 'Carol' });

// The waits of the library are on this clock, too.
Object.defineProperty(globalThis, 'performance', { value: { now: () => Date.now() } });
Math.random = () => 0.999;

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));

afterEach(async () => {
  leavePage();
  mock.timers.tick(20_000);
  await frame();
  mock.timers.reset();
  SignalboxChat.defaultServer = null;
  serverIsAhead = 0;
});

/** A chat with these properties, and what it has told the program: its states and errors. */
async function wanting(properties = ACCESS) {
  const told = [];
  const note = ({ detail }) => told.push(detail.state ?? { code: detail.code, cause: detail.cause, message: detail.message });
  for (const name of ['signalbox-state', 'signalbox-error']) document.addEventListener(name, note);
  const chat = newChat(properties);
  await frame();
  for (const name of ['signalbox-state', 'signalbox-error']) {
    document.removeEventListener(name, note);
    chat.addEventListener(name, note);
  }
  return { chat, told, errors: () => told.filter((each) => typeof each === 'object') };
}

/** The server's clock shows so many ms more than that of the browser. */
let serverIsAhead = 0;

/** The server accepts the connect on the newest socket. */
async function accept(changes = {}) {
  const socket = sockets.at(-1);
  if (socket.readyState === 0) socket.open();
  const { id } = socket.sent.at(-1);
  socket.receive(connectedMessage({ id, connection: { ...bob, creationTime: Date.now() + serverIsAhead }, ...changes }));
  await frame();
  return socket;
}

/** The server refuses the connect, or the request before, on the newest socket. */
async function refuse(code, message = 'no') {
  const socket = sockets.at(-1);
  if (socket.readyState === 0) socket.open();
  socket.receive({ ev: 'error', id: socket.sent.at(-1).id, code, name: 'X', message, retryable: false });
  await frame();
}

/** The newest socket does not open, or closes. */
async function drop(code = 1006) {
  sockets.at(-1).drop(code);
  await frame();
}

async function pass(milliseconds) {
  mock.timers.tick(milliseconds);
  await frame();
}

const status = (chat) => shown(chat, 'chat-status-text');
const hasRetry = (chat) => shown(chat, 'chat-retry') !== null;
const sentence = (key) => CHAT_STRINGS.en[key].replace('{server}', 'chat.example');

// Refusals

for (const [name, code, message, cause, mayRetry] of [
  ['the token is refused', 1004, 'the token is refused: it is no token', 'refused', true],
  ['the API key is unknown', 1004, 'the token is refused: the API key is another', 'refused', true],
  ['the session does not exist', 1005, 'the session id is not valid', 'wrongChat', true],
  ['the token has expired', 1004, 'the token is refused: it has expired', 'expired', false],
  ['the session is full', 1027, 'the session is full', 'full', true],
]) {
  test(`a refusal because ${name} gets a sentence, and the program the reason`, async () => {
    const { chat, told, errors } = await wanting();
    await refuse(code, message);
    assert.equal(chat.state, 'failed');
    const comesBack = cause === 'full';
    const said = comesBack ? `${sentence(cause)} The chat tries again by itself.` : sentence(cause);
    assert.deepEqual([status(chat), hasRetry(chat)], [said, mayRetry]);
    assert.deepEqual([errors().map((each) => [each.code, each.cause]), told[0]], [[[code, cause]], 'connecting']);
    assert.ok(errors()[0].message.startsWith(message));
    assert.deepEqual(complaints.filter((each) => each.startsWith('<signalbox-chat>')), [`<signalbox-chat>: ${message}.`]);
    // The field invites no user to write.
    const field = part(chat, 'composer-text');
    assert.deepEqual([field.disabled, field.placeholder, shown(chat, 'composer-keys')], [true, '', null]);
    chat.token = 'T1==another';
    await frame();
    await accept();
    assert.deepEqual([chat.state, status(chat)], ['connected', null]);
  });
}

test('the sentence about an expired link is in the language of the page', async () => {
  document.documentElement.setAttribute('lang', 'de');
  const { chat } = await wanting();
  await refuse(1004, 'the token is refused: it has expired');
  assert.equal(status(chat), 'Ihr Link ist abgelaufen. Bitten Sie um einen neuen.');
});

test('an address of a server that is none is a fault of the page', async () => {
  const { chat, errors } = await wanting({ ...ACCESS, server: 'ftp://x' });
  assert.deepEqual([status(chat), hasRetry(chat), sockets.length], [sentence('notSetUp'), false, 0]);
  assert.deepEqual(errors().map((each) => [each.cause, each.message]),
    [['notSetUp', 'The server’s address is not valid: ftp://x.']]);
  chat.server = ACCESS.server;
  await frame();
  await accept();
  assert.equal(chat.state, 'connected');
});

test('a server that cannot be reached is named, and asked again', async () => {
  const { chat } = await wanting();
  await drop();
  assert.equal(status(chat), `${sentence('unreachable')} The chat tries again by itself.`);
  assert.equal(hasRetry(chat), true);
});

test('a browser without a socket gets one sentence about it', async () => {
  const { WebSocket } = globalThis;
  globalThis.WebSocket = undefined;
  const { chat, errors } = await wanting();
  globalThis.WebSocket = WebSocket;
  assert.deepEqual([status(chat), hasRetry(chat)], [sentence('oldBrowser'), false]);
  assert.match(errors()[0].message, /^This JavaScript runtime has no WebSocket\. .*[^.]\.$/);
});

test('a server that does not answer gets an error, and another try', async () => {
  const { chat, errors } = await wanting();
  sockets[0].open();
  await pass(7900);
  assert.equal(chat.state, 'connecting');
  await pass(200);
  assert.equal(status(chat), `${sentence('noAnswer')} The chat tries again by itself.`);
  assert.deepEqual(errors().map(({ cause }) => cause), ['noAnswer']);
  part(chat, 'chat-retry').click();
  await frame();
  await accept();
  assert.equal(chat.state, 'connected');
});

// The attributes

test('an element without attributes says so once', async () => {
  const { chat } = await wanting({ server: ACCESS.server });
  await pass(SETUP_MILLISECONDS - 1);
  assert.deepEqual([status(chat), part(chat, 'composer-text').placeholder], [null, '']);
  await pass(1);
  assert.equal(status(chat), 'This chat is not set up yet: it lacks session, api-key, token.');
  const said = ['<signalbox-chat>: The chat cannot connect: it lacks session, api-key, token.'];
  assert.deepEqual([hasRetry(chat), complaints], [false, said]);
  document.body.append(chat);
  await pass(10_000);
  assert.deepEqual(complaints, said);
});

for (const [given, lacking] of [
  [{ token: '' }, 'token'], [{ session: '', apiKey: ' ' }, 'session, api-key'], [{ server: null }, 'server'],
]) {
  test(`an element that lacks ${lacking} says so to the user and the program`, async () => {
    const { chat, errors } = await wanting({ ...ACCESS, ...given });
    await pass(SETUP_MILLISECONDS);
    assert.deepEqual([chat.state, status(chat)], ['failed', `This chat is not set up yet: it lacks ${lacking}.`]);
    assert.deepEqual(errors().map(({ cause }) => cause), ['notSetUp']);
    assert.deepEqual(complaints, [`<signalbox-chat>: The chat cannot connect: it lacks ${lacking}.`]);
    Object.assign(chat, ACCESS);
    await frame();
    await accept();
    assert.equal(chat.state, 'connected');
  });
}

test('a server alone is no wish to connect: frameworks render the tag before they have a token', async () => {
  const { chat, told } = await wanting({ server: ACCESS.server });
  assert.deepEqual([chat.state, told], ['disconnected', []]);
  Object.assign(chat, ACCESS);
  await frame();
  await accept();
  assert.deepEqual(told, ['connecting', 'connected']);
});

test('the server of the script is that of an element without the attribute', async () => {
  SignalboxChat.defaultServer = 'https://script.example';
  await wanting({ ...ACCESS, server: null });
  assert.equal(sockets[0].address, 'wss://script.example/v1/signaling?sessionId=1_x');
});

test('a key that the API key hides may change without a new connection', async () => {
  const { chat, told } = await wanting();
  await accept();
  told.length = 0;
  chat.setAttribute('key', '200');
  chat.setAttribute('key', chat.apiKey);
  chat.removeAttribute('api-key');
  await frame();
  assert.deepEqual([told, sockets.length], [[], 1]);
  chat.removeAttribute('key');
  await frame();
  await pass(SETUP_MILLISECONDS);
  assert.equal(status(chat), 'This chat is not set up yet: it lacks api-key.');
});

test('CON-12: a new token is shown to the server, and keeps the connection and the text', async () => {
  const { chat, told } = await wanting();
  const socket = await accept();
  told.length = 0;
  chat.draft = 'half a sentence';
  chat.token = 'T1==newer';
  await frame();
  assert.deepEqual([sockets.length, socket.sent.at(-1).token], [1, 'T1==newer']);
  assert.deepEqual([chat.draft, told], ['half a sentence', []]);
});

test('CON-12: a token of another user, which the server refuses here, begins a connection of that user', async () => {
  const { chat } = await wanting();
  await accept();
  assert.equal(chat.component.alias, 'Bob');
  chat.token = 'T1==carol';
  await frame();
  await refuse(400, 'the token is of another user');
  assert.equal(sockets.length, 2);
  await accept({ connection: OTHER, connections: [OTHER] });
  assert.deepEqual([chat.component.alias, sockets[1].sent[0].token], ['Carol', 'T1==carol']);
});

// Attempts

for (const [sign, give] of [
  ['the network is back', () => dispatchEvent(new Event('online'))],
  ['the page is shown', () => document.dispatchEvent(new Event('visibilitychange'))],
  ['the wait is over', () => mock.timers.tick(300)],
]) {
  test(`a first connect that fails is tried again when ${sign}`, async () => {
    const { chat, told } = await wanting();
    await drop();
    assert.deepEqual([chat.state, hasRetry(chat)], ['failed', true]);
    give();
    await frame();
    assert.equal(sockets.length, 2);
    await accept();
    assert.deepEqual([chat.state, status(chat)], ['connected', null]);
    assert.deepEqual(told.filter((each) => typeof each === 'string'), ['connecting', 'failed', 'connected']);
  });
}

test('a connection that is lost for good comes back, and one attempt follows the other', async () => {
  const { chat } = await wanting();
  const socket = await accept();
  // A code after which the client does not resume.
  socket.drop(1011);
  await frame();
  assert.equal(chat.state, 'disconnected');
  for (let count = 0; count < 3; count += 1) {
    await pass(5000);
    await drop();
  }
  assert.equal(sockets.length, 4);
  await pass(5000);
  await accept();
  assert.equal(chat.state, 'connected');
});

test('LEAVE-3: a removed user reads so, and no key brings them back', async () => {
  const { chat } = await wanting();
  const socket = await accept();
  socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false });
  await frame();
  assert.deepEqual([status(chat), hasRetry(chat)], [sentence('removed'), false]);
  await pass(120_000);
  assert.equal(sockets.length, 1);
});

const TOKEN_OF_TODAY = `T1==${btoa('partner_id=100&sig=0:session_id=1_x&create_time=1000&expire_time=9000')}`;
const BAN = { kind: 'ban', until: 1_060_000, reason: 'No advertising' };

for (const [name, token, event, cause, code] of [
  ['TOK-9: a token that has expired', 'T1==', { reason: 'networkDisconnected' }, 'expired', 1004],
  ['TOK-10: a token that was revoked', TOKEN_OF_TODAY, { reason: 'networkDisconnected' }, 'revoked', 1004],
  ['LEAVE-3: a removal', 'T1==', { reason: 'forceDisconnected' }, 'removed', null],
  ['MOD-3: a ban', 'T1==', { reason: 'forceDisconnected', restriction: BAN }, 'banned', null],
]) {
  test(`${name} ends the chat: the user reads it, no button tries in vain, and the program may give another token`, async () => {
    const { chat, errors } = await wanting({ ...ACCESS, token });
    const socket = await accept();
    socket.receive({ ev: 'disconnected', reconnect: false, ...event });
    await frame();
    assert.deepEqual([chat.state, hasRetry(chat)], ['disconnected', false]);
    assert.ok(cause === 'banned' ? status(chat).includes('No advertising') : status(chat) === sentence(cause), status(chat));
    assert.deepEqual(errors().map((each) => [each.code, each.cause]), [[code, cause]]);
    assert.match(errors()[0].message, /^The server ended the connection: /);
    await pass(30_000);
    assert.deepEqual([sockets.length, hasRetry(chat)], [1, false]);
    // A ban ends by itself.
    await pass(30_000);
    assert.equal(hasRetry(chat), cause === 'banned');
    chat.token = 'T1==another';
    await frame();
    await accept();
    assert.deepEqual([chat.state, status(chat), hasRetry(chat)], ['connected', null, false]);
  });
}

for (const minutes of [-10, 60]) {
  test(`MOD-2: times are the server’s, whose clock is ${minutes} min ahead: a mute ends, and messages have one time`, async () => {
    serverIsAhead = minutes * 60_000;
    const { chat } = await wanting();
    const socket = await accept();
    const now = () => Date.now() + serverIsAhead;
    socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'text-chat', data: '{"text":"hi"}' });
    await send(chat, 'mine');
    assert.deepEqual(chat.messages.map(({ receivedAt }) => receivedAt), [now(), now()]);
    const { data } = socket.sent.at(-1);
    assert.equal(JSON.parse(data).sentOn, now());
    socket.receive({ ev: 'restricted', seq: 4, kind: 'mute', until: now() + 10_000 });
    await frame();
    const isMuted = () => part(chat, 'composer-text').readOnly && part(chat, 'restriction').textContent !== '';
    assert.equal(isMuted(), true);
    await pass(9_000);
    assert.equal(isMuted(), true);
    await pass(2_000);
    assert.equal(isMuted(), false);
    assert.equal(part(chat, 'composer-text').readOnly, false);
  });
}

test('MOD-3: a reconnect that a ban refuses says so, with its end', async () => {
  const { chat, errors } = await wanting();
  await accept({ resume: { secret: 's', resumeSeconds: 60, recoverySeconds: 60 } });
  await drop();
  await pass(1000);
  sockets.at(-1).open();
  const { id } = sockets.at(-1).sent.at(-1);
  sockets.at(-1).receive({ ev: 'error', id, code: 1570, name: 'X', message: 'banned', retryable: false, restriction: BAN });
  await frame();
  assert.match(status(chat), /until .*Reason: No advertising/);
  assert.deepEqual([hasRetry(chat), errors().map((each) => each.cause)], [false, ['banned']]);
});

test('LEAVE-1: a removed element leaves the session, and a moved one does not', async () => {
  const { chat } = await wanting();
  const socket = await accept();
  const from = { ...bob, connectionId: 'ada-id' };
  socket.receive({ ev: 'signal', seq: 3, from: from.connectionId, type: 'TextChat', data: 'seen' });
  await frame();
  const box = document.createElement('div');
  document.body.append(box);
  box.append(chat);
  await frame();
  assert.deepEqual([chat.state, socket.sent.filter(({ op }) => op === 'disconnect')], ['connected', []]);
  chat.remove();
  await frame();
  assert.equal(chat.state, 'connected', 'a library may put it back before its task ends');
  mock.timers.tick(1);
  await frame();
  assert.deepEqual([chat.state, socket.sent.at(-1).op], ['disconnected', 'disconnect']);
  // The messages and the place in the page are the program's again.
  document.body.append(chat);
  await frame();
  await accept({ epoch: 'e', seq: 3 });
  assert.deepEqual([chat.state, texts(chat)], ['connected', ['seen']]);
});

test('the program hears of messages, and leaves and comes back when it wants', async () => {
  const { chat, told } = await wanting();
  const heard = [];
  chat.addEventListener('signalbox-message', ({ detail }) => heard.push(detail.message.text));
  const socket = await accept();
  socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'text-chat', data: '{"text":"hi"}' });
  await frame();
  assert.deepEqual([heard, chat.messages.map(({ text, direction }) => `${direction} ${text}`)], [['hi'], ['received hi']]);
  chat.disconnect();
  assert.deepEqual([chat.state, texts(chat)], ['disconnected', ['hi']]);
  chat.connect();
  await frame();
  await accept();
  assert.deepEqual(told, ['connecting', 'connected', 'disconnected', 'connecting', 'connected']);
});

test('two elements of a page are two connections, with a name and an id of their own', async () => {
  await wanting({ ...ACCESS, id: 'left', alias: 'Countess', senderId: 'ada-1' });
  await accept();
  await wanting({ ...ACCESS, id: 'right' });
  await accept({ connection: OTHER });
  const [left, right] = document.querySelectorAll('signalbox-chat');
  assert.deepEqual([sockets.length, left.state, right.state], [2, 'connected', 'connected']);
  const own = ({ component }) => [component.alias, component.senderId];
  assert.deepEqual([own(left), own(right)[0]], [['Countess', 'ada-1'], 'Carol']);
});
