import assert from 'node:assert/strict';
import test from 'node:test';
import { codeForApplication } from '../../opentok/api/errors.js';
import { createOT } from '../../opentok/api/ot.js';
import { CloseCode } from '../../client/wire/codes.js';
import { ada, bob, connectedMessage, FakeBrowser, settled } from '../../test-support/fakes/fake-browser.js';
import { joined, moderator, page, resumable } from '../../test-support/fakes/fake-page.js';

test('WIRE-1, WIRE-17 the socket is /v1/signaling of the server, with the session and the sub-protocol', () => {
  const { browser, session } = page();
  session.connect('T1==');
  assert.equal(browser.socket.address, 'wss://signals.example/v1/signaling?sessionId=1_x');
  assert.equal(browser.socket.protocol, 'signalbox.v1');
});

test('OT.setServer and the server option choose the server', () => {
  const one = page({ server: 'http://localhost:8080/box/' });
  one.session.connect('T1==');
  assert.equal(one.browser.socket.address, 'ws://localhost:8080/box/v1/signaling?sessionId=1_x');
  const two = page();
  two.OT.setServer('wss://other.example');
  two.session.connect('T1==');
  assert.equal(two.browser.socket.address, 'wss://other.example/v1/signaling?sessionId=1_x');
});

test('OT.setServer leaves what publish does as it is, unless it names that, too', () => {
  const { OT, browser, session } = joined();
  OT.setServer('https://one.example', { publish: 'fail' });
  OT.setServer('https://two.example');
  assert.ok(session.publish() instanceof OT.Publisher);
  assert.match(browser.printed[0][1], /Publishing/, 'at once, without waiting for the camera');
});

test('CON-5 sessionConnected comes first, then connectionCreated for each client, the own one included', () => {
  const { session, received, names } = joined();
  assert.deepEqual(names(), ['sessionConnected', 'connectionCreated', 'connectionCreated']);
  assert.deepEqual(received.slice(1).map((event) => event.connection.data), ['Ada', 'Bob']);
  assert.equal(received[2].connection, session.connection);
  assert.equal(session.connections.length(), 2);
  assert.equal(received[0].target, session);
  assert.deepEqual([received[0].connections, received[0].streams, received[0].archives], [[], [], []]);
});

test('CON-5 during sessionConnected the session has its connection and capabilities', () => {
  const { browser, session } = page();
  let seen;
  session.on('sessionConnected', () => {
    seen = [
      session.isConnected(), session.currentState, session.connection.connectionId,
      session.capabilities.permittedTo('publish'), session.capabilities.forceDisconnect,
    ];
  });
  assert.equal(session.capabilities.permittedTo('publish'), false);
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(seen, [true, 'connected', 'bob-id', true, 0]);
});

test('CON-5 the connect handler runs as a listener of sessionConnected, in the order of registration', () => {
  const { browser, session } = page();
  const order = [];
  session.on('sessionConnected', () => order.push('before'));
  session.connect('T1==', (error, event) => order.push(['handler', error, event.type]));
  session.on('sessionConnected', () => order.push('after'));
  session.on('connectionCreated', () => order.push('created'));
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(order, ['before', ['handler', undefined, 'sessionConnected'], 'after', 'created', 'created']);
});

test('the older connect(apiKey, token, handler) still works', () => {
  const { browser, OT } = page();
  const session = OT.initSession('1_old');
  let called = 0;
  session.connect(100, 'T1==old', () => (called += 1));
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(
    browser.socket.sent[0],
    {
      op: 'connect', apiKey: '100', sessionId: '1_old', token: 'T1==old', options: { connectionPages: true }, id: 1,
    }
  );
  assert.equal(called, 1);
});

test('CON-8 connect while connected warns, and calls the handler without an error after it has returned', async () => {
  const { browser, session } = joined();
  const calls = [];
  session.connect('T1==', (error) => calls.push(error));
  session.connect('T1==');
  assert.deepEqual(calls, []);
  await settled();
  assert.deepEqual(calls, [undefined]);
  assert.equal(browser.printed.filter(([level]) => level === 'warn').length, 2);
  assert.equal(browser.sockets.length, 1);
});

test('CON-3 a refused connect calls the handler, emits sessionConnectFailed, and raises an exception', () => {
  const { browser, session, received, exceptions } = page();
  const errors = [];
  session.connect('T1==', (error) => errors.push(error));
  browser.socket.open();
  browser.socket.receive({
    ev: 'error', id: 1, code: 1004, name: 'OT_AUTHENTICATION_ERROR', message: 'no', retryable: false,
  });
  assert.equal(errors.length, 1);
  const { name, code, message, reason } = errors[0];
  assert.deepEqual(
    { name, code, message, reason }, { name: 'OT_AUTHENTICATION_ERROR', code: 1004, message: 'no', reason: 'no' }
  );
  assert.ok(errors[0] instanceof Error);
  assert.deepEqual(received.map((event) => [event.type, event.code]), [['sessionConnectFailed', 1004]]);
  assert.deepEqual(
    exceptions.map((event) => [event.code, event.title, event.target]), [[1004, 'Authentication error', session]]
  );
  assert.equal(session.currentState, 'disconnected');
});

test('CON-3 a connect without key, session or token fails without a socket', async () => {
  const { browser, OT } = page();
  const codes = [];
  for (const [key, id, token] of [
    ['', '1_a', 'T'], [undefined, '1_b', 'T'], ['100', '', 'T'], ['100', '1_c', undefined], ['100', '1_d', 5],
  ]) {
    OT.initSession(key, id).connect(token, (error) => codes.push(error.code));
  }
  assert.deepEqual(codes, []);
  await settled();
  assert.deepEqual(codes, [1004, 1004, 1005, 1004, 1004]);
  assert.equal(browser.sockets.length, 0);
});

test('ERR-1 no server to connect to is 1006', async () => {
  const browser = new FakeBrowser();
  const OT = createOT(browser.environment(), null);
  const codes = [];
  OT.initSession('100', '1_x').connect('T', (error) => codes.push(error.code));
  await settled();
  assert.deepEqual(codes, [1006]);
});

test('a session can be connected again after a failure, on the same object', () => {
  const { browser, session, names } = page();
  session.connect('T1==', () => {});
  browser.socket.drop();
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(names(), ['sessionConnectFailed', 'sessionConnected', 'connectionCreated', 'connectionCreated']);
});

test('SIG-7 signal comes before signal:<type>, with one and the same event, whose type is signal:<type>', () => {
  const { browser, session, received } = joined();
  session.on('signal', (event) => (event.note = 'seen'));
  received.length = 0;
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'chat', data: 'hi' });
  assert.equal(received.length, 2);
  assert.equal(received[0], received[1]);
  assert.equal(received[1].note, 'seen');
  const { type, data, target, cancelable } = received[0];
  assert.deepEqual({ type, data, cancelable }, { type: 'signal:chat', data: 'hi', cancelable: false });
  assert.equal(target, session);
  assert.equal(received[0].from, session.connections.get('ada-id'));
});

test('SIG-7 a signal without type is emitted as signal only, with from null when it came by REST', () => {
  const { browser, received } = joined();
  received.length = 0;
  browser.socket.receive({ ev: 'signal', seq: 3, from: null });
  assert.equal(received.length, 1);
  assert.deepEqual([received[0].type, received[0].data, received[0].from], ['signal', undefined, null]);
});

test('SIG-4 the own echo comes from the own connection', () => {
  const { browser, session, received } = joined();
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'bob-id', data: 'me' });
  assert.equal(received.at(-1).from, session.connection);
});

test('SIG-6 the signal handler gets undefined and the options once acknowledged, not before', () => {
  const { browser, session } = joined();
  const calls = [];
  const options = { type: 'chat', data: 'hi' };
  session.signal(options, (...args) => calls.push(args));
  assert.deepEqual(browser.socket.sent.at(-1), { op: 'signal', type: 'chat', data: 'hi', id: 2 });
  assert.equal(calls.length, 0);
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 });
  assert.deepEqual(calls, [[undefined, options]]);
});

test('SIG-1 signal() and signal(handler) send a signal without type and data', () => {
  const { browser, session } = joined();
  let called = 0;
  session.signal();
  session.signal(() => (called += 1));
  assert.deepEqual(browser.socket.sent.slice(-2), [{ op: 'signal', id: 2 }, { op: 'signal', id: 3 }]);
  browser.socket.receive({ ev: 'ack', id: 3, seq: 4 });
  assert.equal(called, 1);
});

test('SIG-4 to accepts a connection of the session, or the session for all clients, and nothing else', () => {
  const { browser, session } = joined();
  const codes = [];
  session.signal({ to: session.connections.get('ada-id') });
  session.signal({ to: session });
  session.signal({ to: 'ada-id' }, (error) => codes.push(error.code));
  session.signal({ to: { connectionId: 'ada-id' } }, (error) => codes.push(error.code));
  assert.deepEqual(browser.socket.sent.slice(1), [{ op: 'signal', to: 'ada-id', id: 2 }, { op: 'signal', id: 3 }]);
  assert.deepEqual(codes, [400, 400]);
});

test('G1 a signal has its seq, and an online-only signal has none', () => {
  const { browser, session } = joined();
  const seqs = [];
  session.on('signal', ({ seq }) => seqs.push(seq));
  browser.socket.receive({ ev: 'signal', seq: 7, from: null, data: 'a' });
  browser.socket.receive({ ev: 'signal', from: null, data: 'b' });
  assert.deepEqual(seqs, [7, null]);
});

test('SIG-13 data that is not a string travels as marked JSON text, with a warning', () => {
  const { browser, session } = joined();
  session.signal({ type: 5, data: { a: [1] } });
  assert.deepEqual(browser.socket.sent.at(-1), { op: 'signal', type: '5', data: '{"a":[1]}', json: true, id: 2 });
  assert.equal(browser.printed.filter(([level]) => level === 'warn').length, 1);
});

test('WIRE-4 half a surrogate pair is sent as the replacement character', () => {
  const { browser, session } = joined();
  session.signal({ data: 'a\ud800b😀' });
  assert.equal(browser.socket.sent.at(-1).data, 'a\uFFFDb😀');
});

test('not connected: 500 and an exception for any signal; when connected, no exception', () => {
  const { session, exceptions } = page();
  const codes = [];
  for (const signal of [{ type: 'ab' }, { type: 'a b' }, { data: null }]) {
    session.signal(signal, (error) => codes.push([error.code, error.name]));
  }
  assert.deepEqual(codes, Array(3).fill([500, 'OT_NOT_CONNECTED']));
  assert.deepEqual(exceptions.map((event) => event.code), [500, 500, 500]);

  const connected = joined();
  connected.session.signal({ type: 'a b' }, (error) => codes.push(error.code));
  assert.equal(codes.at(-1), 400);
  assert.equal(connected.exceptions.length, 0);
});

test('SIG-4 a refusal of the server reaches the handler and raises no exception', () => {
  const { browser, session, exceptions } = joined();
  const errors = [];
  session.signal({ to: session.connections.get('ada-id') }, (error) => errors.push([error.code, error.name]));
  browser.socket.receive({ ev: 'error', id: 2, code: 404, name: 'OT_NOT_FOUND', message: 'gone', retryable: false });
  assert.deepEqual(errors, [[404, 'OT_NOT_FOUND']]);
  assert.equal(exceptions.length, 0);
});

test('PRES-1 joins and departures are emitted one by one, and the collection follows', () => {
  const { browser, session, received } = joined();
  received.length = 0;
  browser.socket.receive({
    ev: 'connectionCreated', seq: 3, connection: { connectionId: 'cy-id', creationTime: 1, data: 'Cy' },
  });
  assert.equal(session.connections.has('cy-id'), true);
  browser.socket.receive({ ev: 'connectionDestroyed', seq: 4, connectionId: 'ada-id', reason: 'networkDisconnected' });
  assert.deepEqual(session.connections.map((connection) => connection.data), ['Bob', 'Cy']);
  assert.deepEqual(received.map((event) => [event.type, event.connection.data, event.reason]), [
    ['connectionCreated', 'Cy', undefined],
    ['connectionDestroyed', 'Ada', 'networkDisconnected'],
  ]);
  assert.equal(received[1].connection.destroyedReason(), 'networkDisconnected');
});

test('LEAVE-1 disconnect clears the session at once, then emits only sessionDisconnected', async () => {
  const { browser, session, names, received } = joined();
  received.length = 0;
  session.disconnect();
  assert.deepEqual(
    [session.isConnected(), session.connection, session.connections.length(), session.capabilities.publish],
    [false, null, 0, 0],
  );
  assert.deepEqual(names(), []);
  assert.equal(browser.socket.sent.at(-1).op, 'disconnect');
  await settled();
  assert.deepEqual(names(), ['sessionDisconnected']);
  assert.deepEqual([received[0].reason, received[0].cancelable], ['clientDisconnected', true]);
  received[0].preventDefault();
  assert.equal(received[0].isDefaultPrevented(), true);
});

test('LEAVE-1 after disconnect the server still answers earlier signals; its close emits no event', async () => {
  const { browser, session, names, received } = joined();
  received.length = 0;
  const calls = [];
  session.signal({ data: 'last words' }, (error) => calls.push(error));
  session.disconnect();
  assert.deepEqual([calls, browser.socket.closedWith, browser.watchers.size], [[], null, 1]);
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'bob-id', data: 'last words' }, { ev: 'ack', id: 2, seq: 3 });
  assert.deepEqual(calls, [undefined]);
  browser.socket.receive({ ev: 'ack', id: 3 }, { ev: 'disconnected', reason: 'clientDisconnected', reconnect: false });
  await settled();
  assert.deepEqual(names(), ['sessionDisconnected']);
  assert.deepEqual([browser.socket.closedWith, browser.timers.size, browser.watchers.size], [CloseCode.normal, 0, 0]);
});

test('LEAVE-1 after 15 s without an answer disconnect closes the socket and fails pending signals', () => {
  const { browser, session } = joined();
  const codes = [];
  session.signal({}, (error) => codes.push(error.code));
  session.disconnect();
  browser.pass(14_999);
  assert.deepEqual([codes, browser.socket.closedWith], [[], null]);
  browser.pass(1);
  assert.deepEqual([codes, browser.socket.closedWith, browser.timers.size], [[500], CloseCode.normal, 0]);
});

test('LEAVE-1 connect right after disconnect opens another socket, and ignores the old one', async () => {
  const { browser, session, names, received } = joined();
  const [first] = browser.sockets;
  received.length = 0;
  session.disconnect();
  session.connect('T1==');
  assert.deepEqual([first.closedWith, browser.sockets.length], [CloseCode.normal, 2]);
  first.receive(
    { ev: 'signal', seq: 3, from: 'ada-id' }, { ev: 'disconnected', reason: 'clientDisconnected', reconnect: false }
  );
  first.drop(CloseCode.normal);
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  await settled();
  assert.equal(session.isConnected(), true);
  assert.deepEqual(names(), ['sessionConnected', 'connectionCreated', 'connectionCreated', 'sessionDisconnected']);
});

test('LEAVE-1 disconnect while not connected emits nothing', async () => {
  const { session, names } = page();
  session.disconnect();
  await settled();
  assert.deepEqual(names(), []);
});

test('LEAVE-1 disconnect while connecting fails the connect handler, and a late answer is ignored', async () => {
  const { browser, session, names } = page();
  const errors = [];
  session.connect('T1==', (error) => errors.push(error.code));
  browser.socket.open();
  session.disconnect();
  browser.socket.receive(connectedMessage());
  await settled();
  assert.deepEqual(errors, [1006]);
  assert.deepEqual(names(), []);
});

test('LEAVE-1 a handler that disconnects gets no further event of the same message', async () => {
  const { browser, session, names, received } = joined();
  received.length = 0;
  session.on('signal', () => session.disconnect());
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id' }, { ev: 'signal', seq: 4, from: 'ada-id' });
  await settled();
  assert.deepEqual(names(), ['signal', 'sessionDisconnected']);
});

test('LEAVE-1 a handler that disconnects just before the server ends the session gets one event', async () => {
  const { browser, session, received } = joined();
  received.length = 0;
  session.on('signal', () => session.disconnect());
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'ada-id' }, { ev: 'disconnected', reason: 'forceDisconnected', reconnect: false }
  );
  await settled();
  assert.deepEqual(received.map((event) => [event.type, event.reason]), [
    ['signal', undefined], ['sessionDisconnected', 'clientDisconnected'],
  ]);
});

test('LEAVE-1 a completion handler that disconnects after a lost socket gets one sessionDisconnected', async () => {
  const { browser, session, names, received } = joined();
  received.length = 0;
  session.signal({ type: 'chat' }, () => session.disconnect());
  browser.socket.drop();
  await settled();
  assert.deepEqual(names(), ['sessionDisconnected']);
});

test('LEAVE-4 events before a forced disconnect in the same message are still emitted', async () => {
  const { browser, received, names } = joined();
  received.length = 0;
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'ada-id' }, { ev: 'disconnected', reason: 'forceDisconnected', reconnect: false }
  );
  await settled();
  assert.deepEqual(names(), ['signal', 'sessionDisconnected']);
  assert.equal(received[1].reason, 'forceDisconnected');
});

test('CLOSE-1 a lost socket without a resume window fails signals with 500, networkDisconnected', async () => {
  const { browser, session, received } = joined();
  received.length = 0;
  const codes = [];
  session.signal({ type: 'chat', retryAfterReconnect: true }, (error) => codes.push(error.code));
  browser.socket.drop();
  await settled();
  assert.deepEqual(codes, [500]);
  assert.deepEqual(
    received.map((event) => [event.type, event.reason]), [['sessionDisconnected', 'networkDisconnected']]
  );
});

test('HB-3 the session ends after two silent heartbeats, and not while the server speaks', async () => {
  const { browser, names } = joined();
  for (let beat = 0; beat < 5; beat += 1) {
    browser.pass(10_000);
    browser.socket.receive({ ev: 'ping', seq: 2 });
  }
  assert.deepEqual(browser.socket.sent.slice(1).map((message) => message.op), Array(5).fill('pong'));
  browser.pass(19_999);
  await settled();
  assert.equal(names().includes('sessionDisconnected'), false);
  browser.pass(1);
  await settled();
  assert.equal(names().at(-1), 'sessionDisconnected');
  assert.equal(browser.socket.closedWith, 4001);
});

test('G5 of 10,001 signals in a row one fails at once, and each of the others gets its own answer once', async () => {
  const { browser, session } = joined();
  const answers = Array.from({ length: 10_001 }, () => []);
  for (const [number, own] of answers.entries()) {
    session.signal({ type: 'n', data: String(number) }, (error) => own.push(error?.code ?? 'sent'));
  }
  assert.deepEqual(answers[10_000], [429]);
  // Every tenth is refused. Each answer lets one more leave.
  let answered = 0;
  for (const { socket } = browser; socket.sent.length > 1 + answered;) {
    const unanswered = socket.sent.slice(1 + answered);
    assert.ok(unanswered.length <= 256, 'the server remembers 256 answers (RES-9)');
    answered += unanswered.length;
    socket.receive(...unanswered.map(({ id, data }) =>
      Number(data) % 10 === 9
        ? { ev: 'error', id, code: 413, message: 'too long' } : { ev: 'ack', id, seq: 3 + Number(data) }));
  }
  assert.equal(answered, 10_000);
  await settled();
  answers.slice(0, 10_000).forEach((own, number) => assert.deepEqual(own, [number % 10 === 9 ? 413 : 'sent']));
  session.signal({ type: 'n', data: 'again' });
  assert.equal(browser.socket.sent.at(-1).data, 'again');
});

test('LEAVE-2 forceDisconnect raises 1010 not connected, 1520 not permitted, 1011 without target', () => {
  for (const [make, target, code] of [
    [page, 'ada-id', 1010],
    [joined, 'ada-id', 1520],
    [() => joined({ changes: moderator }), undefined, 1011],
  ]) {
    const { session, exceptions } = make();
    const codes = [];
    session.forceDisconnect(target, (error) => codes.push(error.code));
    assert.deepEqual(codes, [code]);
    assert.deepEqual(exceptions.map((event) => event.code), [code]);
  }
  const { browser, session } = joined({ changes: moderator });
  const calls = [];
  session.forceDisconnect(session.connections.get('ada-id'), (...args) => calls.push(args));
  browser.socket.receive({ ev: 'ack', id: 2 });
  assert.deepEqual(calls, [[undefined]]);
});

test('CON-4 suppressed: no connectionCreated, and SIG-9 the signal brings its sender', () => {
  const { browser, session, received, names } = joined({
    connectionEventsSuppressed: true, changes: { connections: [bob] },
  });
  assert.deepEqual(names(), ['sessionConnected']);
  assert.deepEqual(browser.socket.sent[0].options, { connectionEventsSuppressed: true, connectionPages: true });
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'ada-id', connection: ada }, { ev: 'signal', seq: 4, from: 'who' }
  );
  assert.deepEqual(
    received.slice(-2).map((event) => [event.from.connectionId, event.from.data]), [['ada-id', 'Ada'], ['who', '']]
  );
  assert.equal(session.connection.data, 'Bob');
});

test('an API key may be written as a number', () => {
  const { browser, OT } = page();
  OT.initSession(100, '1_number').connect('T1==');
  browser.socket.open();
  assert.equal(browser.socket.sent[0].apiKey, '100');
});

test('the same session id gives the same Session', () => {
  const { OT, session } = page();
  assert.equal(OT.initSession('100', '1_x'), session);
  assert.notEqual(OT.initSession('100', '1_y'), session);
});

test('session.connections is a collection: get, has, forEach, map, find, where, and length as a function', () => {
  const { session } = joined();
  const { connections } = session;
  const visited = [];
  connections.forEach((connection) => visited.push(connection.id));
  assert.deepEqual(visited, ['ada-id', 'bob-id']);
  assert.equal(connections.get('ada-id').data, 'Ada');
  assert.equal(connections.get('nobody'), undefined);
  assert.equal(connections.has('bob-id'), true);
  assert.equal(connections.find({ data: 'Bob' }).id, 'bob-id');
  assert.equal(connections.find((connection) => connection.data === 'Ada').id, 'ada-id');
  assert.deepEqual(
    connections.where({ creationTime: ada.creationTime }).map((connection) => connection.id), ['ada-id']
  );
  assert.deepEqual(connections.map((connection) => connection.data), ['Ada', 'Bob']);
  assert.deepEqual(connections.map((connection, index) => index), [0, 1]);
  assert.equal(connections.length(), 2);
});

test('a log level prints its own messages and more severe ones', () => {
  const { browser, OT } = page();
  OT.warn('one');
  OT.info('two');
  OT.setLogLevel(OT.DEBUG);
  OT.debug('three');
  OT.setLogLevel(OT.NONE);
  OT.error('four');
  assert.deepEqual(browser.printed, [['warn', 'one'], ['debug', 'three']]);
});

test('PRES-4 absences are events for a program that asks for them, and the others get none', () => {
  const changes = { connections: [ada, bob], away: ['ada-id'] };
  const { browser, session } = joined({ connectionAwayEvents: true, changes });
  assert.deepEqual(browser.socket.sent[0].options, { connectionAwayEvents: true, connectionPages: true });
  const seen = [];
  session.on({
    connectionAway: ({ type, connection }) => seen.push([type, connection === session.connections.get('ada-id')]),
    connectionBack: ({ type, connection }) => seen.push([type, connection === session.connections.get('ada-id')]),
  });
  browser.socket.receive({ ev: 'connectionBack', connectionId: 'ada-id' });
  browser.socket.receive({ ev: 'connectionAway', connectionId: 'ada-id' });
  assert.deepEqual(seen, [['connectionBack', true], ['connectionAway', true]]);
  assert.equal(joined().browser.socket.sent[0].options.connectionAwayEvents, undefined);
});

test('CON-12 a refused refresh reports its code, and the rest of the message is still handled', () => {
  const { browser, session, received } = joined();
  received.length = 0;
  const errors = [];
  session.refreshToken('T1==newer', (error) => errors.push([error.code, error.name, error.message]));
  const { id } = browser.socket.sent.at(-1);
  browser.socket.receive(
    { ev: 'error', id, code: 1004, name: 'OT_AUTHENTICATION_ERROR', message: 'the token is refused', retryable: false },
    { ev: 'signal', seq: 3, from: 'ada-id' },
  );
  assert.deepEqual(errors, [[1004, 'OT_AUTHENTICATION_ERROR', 'the token is refused']]);
  assert.deepEqual(received.map((event) => event.type), ['signal']);
  assert.equal(session.token, 'T1==');
  assert.equal(session.isConnected(), true);
});

test('a token or connection id that is too long fails at once, and nothing is sent', () => {
  const { browser, session } = joined({ changes: moderator });
  const sent = browser.socket.sent.length;
  const long = 'a'.repeat(100_000);
  const codes = [];
  const note = (error) => codes.push(error.code);
  session.refreshToken(long, note);
  session.forceDisconnect(long, note);
  assert.deepEqual(codes, [1004, 1011]);
  assert.equal(browser.socket.sent.length, sent);
});

test('CON-12 a refresh whose session ends fails with 500, and the program gets sessionDisconnected', async () => {
  const { browser, session, received } = joined();
  received.length = 0;
  const codes = [];
  session.refreshToken('T1==newer', (error) => codes.push(error.code));
  browser.socket.drop();
  await settled();
  assert.deepEqual(codes, [500]);
  assert.deepEqual(received.map((event) => event.type), ['sessionDisconnected']);
});

test('ERR-1 a code that does not belong to a call becomes the fallback of the call', () => {
  assert.equal(codeForApplication('refreshToken', 1520), 2001);
  assert.equal(codeForApplication('forceDisconnect', 1004), 1011);
  assert.equal(codeForApplication('a later call', 403), 2001);
});

/** Makes a session end, and returns its exceptions and the event of the end. */
async function endOf(act) {
  const { OT, browser, session } = joined({ changes: resumable });
  const told = [];
  OT.on('exception', ({ code, title, target }) => told.push([code, title, target === session]));
  session.on('sessionDisconnected', ({ reason, error }) => told.push([reason, error?.code ?? null, error?.name ?? null]));
  act(browser);
  await settled();
  return told;
}

const REFUSED = [
  [1004, 'Authentication error', true], ['networkDisconnected', 1004, 'OT_AUTHENTICATION_ERROR'],
];

test('RES-7 a token that expired while the client was away is an exception with 1004, and the error of the end', async () => {
  const told = await endOf((browser) => {
    browser.socket.drop();
    browser.pass(1_000);
    browser.socket.open();
    browser.socket.receive({
      ev: 'error', id: 2, code: 1004, name: 'OT_AUTHENTICATION_ERROR', message: 'it has expired', retryable: false,
    });
  });
  assert.deepEqual(told, REFUSED);
});

test('TOK-9 a server that ends the connection with its token says 1004, by message or by close code', async () => {
  const message = { ev: 'disconnected', reason: 'networkDisconnected', reconnect: false };
  assert.deepEqual(await endOf((browser) => browser.socket.receive(message)), REFUSED);
  assert.deepEqual(await endOf((browser) => browser.socket.drop(CloseCode.tokenExpired)), REFUSED);
});

test('LEAVE-4 an end that is no refusal has no error', async () => {
  const message = { ev: 'disconnected', reason: 'forceDisconnected', reconnect: false };
  const told = [['forceDisconnected', null, null]];
  assert.deepEqual(await endOf((browser) => browser.socket.receive(message)), told);
});

test('CON-10 maySignal is false for a role that may not signal, while connected', async () => {
  const { browser, session } = page();
  assert.equal(session.maySignal, true);
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive({ ...connectedMessage(), role: 'publisheronly' });
  assert.equal(session.maySignal, false);
  session.disconnect();
  assert.equal(session.maySignal, true);
});
