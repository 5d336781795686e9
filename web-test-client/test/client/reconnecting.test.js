// The events of an application whose socket is lost and replaced. `client-scripts.test.js` has the rules.
import assert from 'node:assert/strict';
import test from 'node:test';
import { watchPage } from '../../client/browser.js';
import { ada, bob, settled } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, moderator, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const bobAgain = { connectionId: 'bob-again-id', creationTime: 1700000009000, data: 'Bob' };
const cy = { connectionId: 'cy-id', creationTime: 1700000001000, data: 'Cy' };

/** A joined session on a server that allows resumes. The list of received events is empty. */
function joinedForLong(options = {}) {
  const all = joined({ ...options, changes: { ...resumable, ...options.changes } });
  all.received.length = 0;
  return all;
}

function replacedMessage(id, outcome, connections, changes = {}) {
  return resumedMessage(id, { outcome, connection: bobAgain, connections, ...changes });
}

test('sessionReconnecting after the loss, sessionReconnected after the reconnect; not cancelable', () => {
  const { browser, session, received, names } = joinedForLong();
  browser.socket.drop();
  assert.deepEqual(names(), ['sessionReconnecting']);
  browser.pass(125);
  browser.socket.open();
  assert.deepEqual(names(), ['sessionReconnecting']);
  browser.socket.receive(resumedMessage(2));
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionReconnected']);
  assert.deepEqual(received.map((event) => [event.cancelable, event.target]), [[false, session], [false, session]]);
  assert.equal(received[1].outcome, 'resumed');
});

test('the session counts as connected while it reconnects, and keeps its connection and its peers', () => {
  const { browser, session } = joinedForLong();
  const { connection, capabilities } = session;
  const others = session.connections.map((each) => each);
  const seen = [];
  session.on(
    'sessionReconnecting sessionReconnected',
    () => seen.push([session.isConnected(), session.currentState, session.connection]),
  );
  browser.socket.receive({ ev: 'signal', seq: 7, from: 'ada-id' });
  assert.deepEqual(comeBack(browser).resume, { connectionId: 'bob-id', secret: 's1', epoch: 'e', after: 7 });
  browser.socket.receive(resumedMessage(2, { seq: 7 }));
  assert.deepEqual(seen, [[true, 'connected', connection], [true, 'connected', connection]]);
  assert.deepEqual(session.connections.map((each) => each), others);
  assert.equal(session.capabilities, capabilities);
});

test('RES-1 the connect of an attempt repeats the first one, options included', () => {
  const { browser } = joinedForLong({ connectionEventsSuppressed: true, changes: { connections: [bob] } });
  const [{ id: firstId, ...first }] = browser.socket.sent;
  const { id, resume, ...again } = comeBack(browser);
  assert.deepEqual(again, first);
  assert.equal(browser.socket.address, browser.sockets[0].address);
});

test('G3 resumed: the missed events follow sessionReconnected, each once', () => {
  const { browser, session, received, names } = joinedForLong();
  comeBack(browser);
  browser.socket.receive(
    resumedMessage(2, { replayThrough: 5 }),
    { ev: 'connectionCreated', seq: 3, connection: cy },
    { ev: 'signal', seq: 4, from: 'cy-id', type: 'chat', data: 'bye' },
    { ev: 'connectionDestroyed', seq: 5, connectionId: 'cy-id', reason: 'clientDisconnected' },
  );
  assert.deepEqual(
    names(),
    [
      'sessionReconnecting', 'sessionReconnected', 'connectionCreated', 'signal:chat', 'signal:chat',
      'connectionDestroyed',
    ],
  );
  assert.deepEqual([received[3].from.data, received[3].data], ['Cy', 'bye']);
  assert.deepEqual(session.connections.map((each) => each.data), ['Ada', 'Bob']);
});

for (const outcome of ['recovered', 'lost']) {
  // All handlers find the new connection.
  test(`RES-2 ${outcome}: connectionDestroyed and -Created, sessionReconnected, then the missed events`, () => {
    const { browser, session, received, names } = joinedForLong();
    const old = session.connection;
    const sight = [];
    session.on(
      'connectionDestroyed connectionCreated sessionReconnected',
      (event) => sight.push([event.type, event.connection?.connectionId, session.connection.connectionId]),
    );
    comeBack(browser);
    browser.socket.receive(
      replacedMessage(2, outcome, [cy, bobAgain], { replayThrough: 3 }),
      { ev: 'signal', seq: 3, from: 'ada-id', connection: ada, data: 'missed' },
    );
    assert.deepEqual(sight, [
      ['connectionDestroyed', 'ada-id', 'bob-again-id'],
      ['connectionDestroyed', 'bob-id', 'bob-again-id'],
      ['connectionCreated', 'cy-id', 'bob-again-id'],
      ['connectionCreated', 'bob-again-id', 'bob-again-id'],
      ['sessionReconnected', undefined, 'bob-again-id'],
    ]);
    assert.deepEqual(names().slice(-2), ['sessionReconnected', 'signal']);
    assert.deepEqual(received.slice(1, 3).map((event) => event.reason), ['networkDisconnected', 'networkDisconnected']);
    assert.equal(received.at(-2).outcome, outcome);
    assert.deepEqual([received.at(-1).from.connectionId, received.at(-1).from.data], ['ada-id', 'Ada']);
    assert.notEqual(session.connection, old);
    assert.equal(session.connections.get('bob-again-id'), session.connection);
    assert.deepEqual(session.connections.map((each) => each.data), ['Cy', 'Bob']);
  });
}

test('G4 lost logs a warning and raises no exception; resumed and recovered log nothing', () => {
  for (const [outcome, warnings] of [['resumed', 0], ['recovered', 0], ['lost', 1]]) {
    const { browser, exceptions } = joinedForLong();
    comeBack(browser);
    browser.socket.receive(outcome === 'resumed' ? resumedMessage(2) : replacedMessage(2, outcome, [ada, bobAgain]));
    assert.equal(browser.printed.filter(([level]) => level === 'warn').length, warnings, outcome);
    assert.deepEqual(exceptions, []);
  }
});

test('RES-2 a peer that stayed keeps its Connection, and the capabilities are those of the new connection', () => {
  const { browser, session } = joinedForLong();
  const known = session.connections.get('ada-id');
  comeBack(browser);
  browser.socket.receive(replacedMessage(2, 'lost', [ada, bobAgain], moderator));
  assert.equal(session.connections.get('ada-id'), known);
  assert.equal(session.capabilities.permittedTo('forceDisconnect'), true);
  assert.equal(session.connection.capabilities.forceDisconnect, 1);
});

test('CON-4 suppressed: another connection emits no presence events, and is in the collection', () => {
  const { browser, session, names } = joinedForLong({
    connectionEventsSuppressed: true, changes: { connections: [bob] },
  });
  comeBack(browser);
  browser.socket.receive(replacedMessage(2, 'lost', [bobAgain]));
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionReconnected']);
  assert.deepEqual(session.connections.map((each) => each.connectionId), ['bob-again-id']);
});

test('LEAVE-1 a handler that disconnects during connectionDestroyed gets no further event', async () => {
  const { browser, session, names } = joinedForLong();
  session.on('connectionDestroyed', () => session.disconnect());
  comeBack(browser);
  browser.socket.receive(replacedMessage(2, 'lost', [bobAgain]), { ev: 'signal', seq: 3, from: null });
  await settled();
  assert.deepEqual(names(), ['sessionReconnecting', 'connectionDestroyed', 'sessionDisconnected']);
  assert.equal(session.connection, null);
});

test('retryAfterReconnect true, or absent: the signal waits, and its handler gets the answer', () => {
  const { browser, session, exceptions } = joinedForLong();
  const calls = [];
  session.signal({ data: 'before' }, (error) => calls.push(['before', error]));
  browser.socket.drop();
  session.signal({ data: 'meanwhile', retryAfterReconnect: true }, (error) => calls.push(['meanwhile', error]));
  browser.pass(125);
  browser.socket.open();
  browser.socket.receive(resumedMessage(3));
  assert.deepEqual(
    browser.socket.sent.slice(1), [{ op: 'signal', data: 'before', id: 2 }, { op: 'signal', data: 'meanwhile', id: 4 }]
  );
  assert.deepEqual(calls, []);
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 4, seq: 4 });
  assert.deepEqual(calls, [['before', undefined], ['meanwhile', undefined]]);
  assert.deepEqual(exceptions, []);
});

test('retryAfterReconnect false: 500 OT_NOT_CONNECTED at once, or when reconnecting starts', () => {
  const { browser, session } = joinedForLong();
  const calls = [];
  const note = (name) => (error) => calls.push([name, error.code, error.name]);
  session.on('sessionReconnecting', () => calls.push('sessionReconnecting'));
  session.signal({ data: 'before', retryAfterReconnect: false }, note('before'));
  browser.socket.drop();
  session.signal({ data: 'meanwhile', retryAfterReconnect: false }, note('meanwhile'));
  assert.deepEqual(
    calls, ['sessionReconnecting', ['before', 500, 'OT_NOT_CONNECTED'], ['meanwhile', 500, 'OT_NOT_CONNECTED']]
  );
  browser.pass(125);
  browser.socket.open();
  browser.socket.receive(resumedMessage(3));
  assert.deepEqual(browser.socket.sent.map(({ op }) => op), ['connect', 'pong']);
});

test('G6 an online-only signal while reconnecting fails with 500', () => {
  const { browser, session } = joinedForLong();
  const codes = [];
  browser.socket.drop();
  session.signal({ type: 'typing', onlineOnly: true }, (error) => codes.push(error.code));
  assert.deepEqual(codes, [500]);
});

test('RES-9 requests that a handler makes during a reconnect follow the earlier ones', () => {
  const { browser, session } = joinedForLong();
  session.signal({ data: '1' }, () => session.signal({ data: '4' }));
  session.signal({ data: '2' });
  session.on('sessionReconnected', () => session.signal({ data: '3' }));
  comeBack(browser);
  browser.socket.receive(resumedMessage(4), { ev: 'ack', id: 2, seq: 3 });
  const sent = browser.socket.sent.slice(1);
  assert.deepEqual(sent.map((message) => [message.id, message.data]), [[2, '1'], [3, '2'], [5, '3'], [6, '4']]);
});

test('RES-9 waiting requests leave before those that a handler adds', () => {
  const { browser, session } = joinedForLong();
  for (let count = 0; count < 256; count += 1) session.signal({}, () => session.signal({ data: 'added' }));
  session.signal({ data: 'waits' });
  session.signal({ data: 'waits' });
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 3, seq: 4 }, { ev: 'ack', id: 4, seq: 5 });
  const sent = browser.socket.sent.slice(257);
  assert.deepEqual(sent.map((message) => [message.id, message.data]), [[258, 'waits'], [259, 'waits'], [260, 'added']]);
});

test('when the session is lost for good, pending signals fail with 500, networkDisconnected', async () => {
  const { browser, session, received } = joinedForLong();
  const codes = [];
  session.signal({ data: 'before' }, (error) => codes.push(error.code));
  browser.socket.drop();
  session.signal({ data: 'meanwhile' }, (error) => codes.push(error.code));
  browser.pass(125);
  for (let time = 125; time < 300_000; time += 15_000) browser.pass(15_000);
  await settled();
  assert.deepEqual(codes, [500, 500]);
  assert.deepEqual(
    received.map((event) => [event.type, event.reason]),
    [['sessionReconnecting', undefined], ['sessionDisconnected', 'networkDisconnected']],
  );
  assert.equal(session.currentState, 'disconnected');
  assert.equal(browser.timers.size, 0);
});

test('RES-7 a refused reconnect ends the session, and the log has the reason', async () => {
  const { browser, session, names } = joinedForLong();
  comeBack(browser);
  browser.socket.receive({
    ev: 'error', id: 2, code: 1004, name: 'OT_AUTHENTICATION_ERROR', message: 'the token has expired', retryable: false,
  });
  await settled();
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionDisconnected']);
  assert.equal(session.isConnected(), false);
  assert.match(browser.printed.find(([level]) => level === 'warn')[1], /the token has expired/);
});

test('G4 a malformed answer while reconnecting ends the session', async () => {
  for (const answer of [{}, resumedMessage(2, { seq: 'two' })]) {
    const { browser, names } = joinedForLong();
    comeBack(browser);
    browser.socket.receive(answer);
    await settled();
    assert.equal(names().at(-1), 'sessionDisconnected');
  }
});

test('RES-2 resumed with another connection or another epoch counts as lost', () => {
  for (const changes of [{ connection: bobAgain, connections: [bobAgain] }, { epoch: 'f' }]) {
    const { browser, received } = joinedForLong();
    comeBack(browser);
    browser.socket.receive(resumedMessage(2, changes));
    assert.equal(received.at(-1).outcome, 'lost');
  }
});

test('LEAVE-1 disconnect while reconnecting clears the session, fails signals, and ends the attempts', async () => {
  for (const isTrying of [false, true]) {
    const { browser, session, received } = joinedForLong();
    const codes = [];
    session.signal({}, (error) => codes.push(error.code));
    if (isTrying) comeBack(browser);
    else browser.socket.drop();
    session.disconnect();
    assert.deepEqual([session.isConnected(), session.connection, session.connections.length()], [false, null, 0]);
    await settled();
    assert.deepEqual(codes, [500]);
    assert.deepEqual(
      received.map((event) => [event.type, event.reason]),
      [['sessionReconnecting', undefined], ['sessionDisconnected', 'clientDisconnected']],
    );
    if (isTrying) {
      assert.equal(browser.socket.closedWith, 1000);
      browser.socket.receive(resumedMessage(3));
    }
    browser.pass(600_000);
    assert.equal(browser.sockets.length, isTrying ? 2 : 1);
    assert.equal(session.isConnected(), false);
  }
});

test('CON-8 connect while reconnecting warns and does nothing', () => {
  const { browser, session } = joinedForLong();
  browser.socket.drop();
  session.connect('T1==', () => assert.fail('called'));
  assert.equal(browser.printed.filter(([level]) => level === 'warn').length, 1);
  assert.equal(session.isConnected(), true);
});

test('LEAVE-1 after disconnect while reconnecting a session can connect again, with ids from 1', () => {
  const { browser, session, names } = joinedForLong();
  browser.socket.drop();
  session.disconnect();
  session.connect('T1==');
  browser.socket.open();
  assert.deepEqual([browser.socket.sent[0].id, browser.socket.sent[0].resume], [1, undefined]);
  browser.socket.receive(resumedMessage(1, { outcome: 'new' }));
  assert.equal(names().at(-1), 'connectionCreated');
});

test('RES-13 an address that becomes invalid counts as a failed attempt', async () => {
  const { browser, OT, names } = joinedForLong();
  browser.socket.drop();
  OT.setServer('not an address');
  browser.pass(125);
  await settled();
  OT.setServer('https://elsewhere.example');
  browser.pass(250);
  assert.equal(browser.socket.address, 'wss://elsewhere.example/v1/signaling?sessionId=1_x');
  assert.deepEqual(names(), ['sessionReconnecting']);
});

// The page and the system

test('RES-13 the network’s return, or the page’s, starts an attempt at once', () => {
  for (const sign of ['networkBack', 'pageShown']) {
    const { browser } = joinedForLong();
    browser.socket.drop();
    assert.equal(browser.sockets.length, 1);
    browser.report(sign);
    assert.equal(browser.sockets.length, 2);
    browser.report(sign);
    assert.equal(browser.sockets.length, 2);
  }
});

test('HB-3 a page that is shown while a ping is overdue waits 2 s for a message', () => {
  const { browser, names } = joinedForLong();
  browser.pass(10_001);
  browser.report('pageShown');
  browser.pass(1_999);
  assert.deepEqual(names(), []);
  browser.pass(1);
  assert.deepEqual(names(), ['sessionReconnecting']);
  assert.equal(browser.sockets[0].closedWith, 4001);
});

test('HB-3 a page that is shown without an overdue ping, or receives one in time, keeps its socket', () => {
  for (const [silence, receivesPing] of [[9_000, false], [12_000, true]]) {
    const { browser, names } = joinedForLong();
    browser.pass(silence);
    browser.report('pageShown');
    if (receivesPing) browser.socket.receive({ ev: 'ping', seq: 2 });
    browser.pass(9_999);
    assert.deepEqual(names(), []);
  }
});

test('PRES-2 a page that is left sends disconnect and closes the socket', () => {
  const { browser } = joinedForLong();
  browser.report('pageLeft');
  assert.equal(browser.socket.sent.at(-1).op, 'disconnect');
  assert.equal(browser.socket.closedWith, 1000);
  assert.equal(browser.watchers.size, 0);
});

test('RES-10 a page that the browser keeps for "back" closes its socket, and resumes when it is shown again', () => {
  const { browser, session, names } = joinedForLong();
  session.signal({ data: 'before' });
  browser.report('pageStored');
  assert.equal(browser.socket.closedWith, 4001);
  browser.pass(3_600_000);
  browser.report('networkBack');
  assert.equal(browser.sockets.length, 1);
  browser.report('pageShown');
  assert.equal(browser.sockets.length, 2);
  browser.socket.open();
  assert.equal(browser.socket.sent[0].resume.connectionId, 'bob-id');
  browser.socket.receive(replacedMessage(3, 'lost', [bobAgain]));
  assert.equal(names().at(-1), 'sessionReconnected');
});

test('RES-10 a page that is kept during an attempt closes its socket, and tries again when it is shown', () => {
  const { browser } = joinedForLong();
  comeBack(browser);
  browser.report('pageStored');
  assert.equal(browser.socket.closedWith, 4001);
  browser.socket.receive(resumedMessage(2));
  browser.socket.drop(4001);
  browser.pass(60_000);
  assert.equal(browser.sockets.length, 2);
  browser.report('pageShown');
  assert.equal(browser.sockets.length, 3);
});

test('RES-13 the window of a kept page begins when it is shown', () => {
  const { browser, names } = joinedForLong();
  browser.report('pageStored');
  browser.pass(3_600_000);
  browser.report('pageShown');
  browser.socket.drop();
  browser.pass(500);
  assert.equal(browser.sockets.length, 3);
  assert.deepEqual(names(), ['sessionReconnecting']);
});

test('RES-10 a kept page whose server keeps no connection keeps its socket', () => {
  const { browser, names } = joined();
  browser.report('pageStored');
  assert.equal(browser.socket.closedWith, null);
  assert.equal(names().includes('sessionReconnecting'), false);
});

test('the library watches the page only while it is connected or connecting', async () => {
  const { browser, session } = joinedForLong();
  assert.equal(browser.watchers.size, 1);
  browser.socket.drop();
  assert.equal(browser.watchers.size, 1);
  session.disconnect();
  assert.equal(browser.watchers.size, 0);
});

test('watchPage turns browser events into inputs of the client until it is stopped', () => {
  const window = new EventTarget();
  const document = new EventTarget();
  const received = [];
  const stop = watchPage(window, document, ({ is }) => received.push(is));
  const happen = (target, name, details = {}) => target.dispatchEvent(Object.assign(new Event(name), details));
  const all = () => {
    happen(window, 'online');
    document.visibilityState = 'hidden';
    happen(document, 'visibilitychange');
    document.visibilityState = 'visible';
    happen(document, 'visibilitychange');
    happen(window, 'pagehide', { persisted: true });
    happen(window, 'pageshow', { persisted: true });
    happen(window, 'pageshow', { persisted: false });
    happen(window, 'pagehide', { persisted: false });
  };
  all();
  assert.deepEqual(received, ['networkBack', 'pageShown', 'pageStored', 'pageShown', 'pageLeft']);
  stop();
  all();
  assert.equal(received.length, 5);
  for (const [noWindow, noDocument] of [[undefined, undefined], [{}, {}], [globalThis, undefined], [window, {}]]) {
    watchPage(noWindow, noDocument, assert.fail)();
  }
});
