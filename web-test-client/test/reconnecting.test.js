// What an application sees when its socket is lost and comes back. The rules themselves are in `client-scripts.test.js`.
import assert from 'node:assert/strict';
import test from 'node:test';
import { watchPage } from '../opentok/browser.js';
import { ada, bob, settled } from '../test-support/fake-browser.js';
import { comeBack, joined, moderator, resumable, resumedMessage } from '../test-support/fake-page.js';

const bobAgain = { connectionId: 'bob-again-id', creationTime: 1700000009000, data: 'Bob' };
const cy = { connectionId: 'cy-id', creationTime: 1700000001000, data: 'Cy' };

/** Joined, at a server to which one can come back, with all that was told so far forgotten. */
function joinedForLong(options = {}) {
  const all = joined({ ...options, changes: { ...resumable, ...options.changes } });
  all.heard.length = 0;
  return all;
}

function replacedMessage(id, outcome, connections, changes = {}) {
  return resumedMessage(id, { outcome, connection: bobAgain, connections, ...changes });
}

test('opentok 2.3 sessionReconnecting when the loss is noticed, sessionReconnected when it is over; neither can be prevented', () => {
  const { browser, session, heard, names } = joinedForLong();
  browser.socket.drop();
  assert.deepEqual(names(), ['sessionReconnecting']);
  browser.pass(125);
  browser.socket.open();
  assert.deepEqual(names(), ['sessionReconnecting']);
  browser.socket.hear(resumedMessage(2));
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionReconnected']);
  assert.deepEqual(heard.map((event) => [event.cancelable, event.target]), [[false, session], [false, session]]);
  assert.equal(heard[1].outcome, 'resumed');
});

test('opentok 2.3 the session counts as connected meanwhile, and connection, its id and the others stay', () => {
  const { browser, session } = joinedForLong();
  const { connection, capabilities } = session;
  const others = session.connections.map((each) => each);
  const seen = [];
  session.on('sessionReconnecting sessionReconnected', () => seen.push([session.isConnected(), session.currentState, session.connection]));
  browser.socket.hear({ ev: 'signal', seq: 7, from: 'ada-id' });
  assert.deepEqual(comeBack(browser).resume, { connectionId: 'bob-id', secret: 's1', epoch: 'e', after: 7 });
  browser.socket.hear(resumedMessage(2, { seq: 7 }));
  assert.deepEqual(seen, [[true, 'connected', connection], [true, 'connected', connection]]);
  assert.deepEqual(session.connections.map((each) => each), others);
  assert.equal(session.capabilities, capabilities);
});

test('RES-1 the connect that comes back says what the first one said, options included', () => {
  const { browser } = joinedForLong({ connectionEventsSuppressed: true, changes: { connections: [bob] } });
  const [{ id: firstId, ...first }] = browser.socket.sent;
  const { id, resume, ...again } = comeBack(browser);
  assert.deepEqual(again, first);
  assert.equal(browser.socket.address, browser.sockets[0].address);
});

test('G3 resumed: what was missed is told as if nothing had been, after sessionReconnected', () => {
  const { browser, session, heard, names } = joinedForLong();
  comeBack(browser);
  browser.socket.hear(
    resumedMessage(2, { replayThrough: 5 }),
    { ev: 'connectionCreated', seq: 3, connection: cy },
    { ev: 'signal', seq: 4, from: 'cy-id', type: 'chat', data: 'bye' },
    { ev: 'connectionDestroyed', seq: 5, connectionId: 'cy-id', reason: 'clientDisconnected' },
  );
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionReconnected', 'connectionCreated', 'signal:chat', 'signal:chat', 'connectionDestroyed']);
  assert.deepEqual([heard[3].from.data, heard[3].data], ['Cy', 'bye']);
  assert.deepEqual(session.connections.map((each) => each.data), ['Ada', 'Bob']);
});

for (const outcome of ['recovered', 'lost']) {
  test(`RES-2 ${outcome}: who is gone, who is new, then sessionReconnected, then what was missed; all see the new connection`, () => {
    const { browser, session, heard, names } = joinedForLong();
    const old = session.connection;
    const sight = [];
    session.on('connectionDestroyed connectionCreated sessionReconnected', (event) => sight.push([event.type, event.connection?.connectionId, session.connection.connectionId]));
    comeBack(browser);
    browser.socket.hear(
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
    assert.deepEqual(heard.slice(1, 3).map((event) => event.reason), ['networkDisconnected', 'networkDisconnected']);
    assert.equal(heard.at(-2).outcome, outcome);
    assert.deepEqual([heard.at(-1).from.connectionId, heard.at(-1).from.data], ['ada-id', 'Ada']);
    assert.notEqual(session.connection, old);
    assert.equal(session.connections.get('bob-again-id'), session.connection);
    assert.deepEqual(session.connections.map((each) => each.data), ['Cy', 'Bob']);
  });
}

test('G4 lost is warned of in the log, and raises no exception; resumed and recovered are not', () => {
  for (const [outcome, warnings] of [['resumed', 0], ['recovered', 0], ['lost', 1]]) {
    const { browser, exceptions } = joinedForLong();
    comeBack(browser);
    browser.socket.hear(outcome === 'resumed' ? resumedMessage(2) : replacedMessage(2, outcome, [ada, bobAgain]));
    assert.equal(browser.printed.filter(([level]) => level === 'warn').length, warnings, outcome);
    assert.deepEqual(exceptions, []);
  }
});

test('RES-2 who is still here keeps its Connection, and the capabilities are those of the new connection', () => {
  const { browser, session } = joinedForLong();
  const known = session.connections.get('ada-id');
  comeBack(browser);
  browser.socket.hear(replacedMessage(2, 'lost', [ada, bobAgain], moderator));
  assert.equal(session.connections.get('ada-id'), known);
  assert.equal(session.capabilities.permittedTo('forceDisconnect'), true);
  assert.equal(session.connection.capabilities.forceDisconnect, 1);
});

test('CON-4 suppressed: another connection brings no presence events, and is known all the same', () => {
  const { browser, session, names } = joinedForLong({ connectionEventsSuppressed: true, changes: { connections: [bob] } });
  comeBack(browser);
  browser.socket.hear(replacedMessage(2, 'lost', [bobAgain]));
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionReconnected']);
  assert.deepEqual(session.connections.map((each) => each.connectionId), ['bob-again-id']);
});

test('LEAVE-1 a handler that leaves while it hears who is gone hears no more of it', async () => {
  const { browser, session, names } = joinedForLong();
  session.on('connectionDestroyed', () => session.disconnect());
  comeBack(browser);
  browser.socket.hear(replacedMessage(2, 'lost', [bobAgain]), { ev: 'signal', seq: 3, from: null });
  await settled();
  assert.deepEqual(names(), ['sessionReconnecting', 'connectionDestroyed', 'sessionDisconnected']);
  assert.equal(session.connection, null);
});

test('opentok 1.2 retryAfterReconnect true, or nothing said: the signal waits, and its handler hears of the ack', () => {
  const { browser, session, exceptions } = joinedForLong();
  const calls = [];
  session.signal({ data: 'before' }, (error) => calls.push(['before', error]));
  browser.socket.drop();
  session.signal({ data: 'meanwhile', retryAfterReconnect: true }, (error) => calls.push(['meanwhile', error]));
  browser.pass(125);
  browser.socket.open();
  browser.socket.hear(resumedMessage(3));
  assert.deepEqual(browser.socket.sent.slice(1), [{ op: 'signal', data: 'before', id: 2 }, { op: 'signal', data: 'meanwhile', id: 4 }]);
  assert.deepEqual(calls, []);
  browser.socket.hear({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 4, seq: 4 });
  assert.deepEqual(calls, [['before', undefined], ['meanwhile', undefined]]);
  assert.deepEqual(exceptions, []);
});

test('opentok 1.2 retryAfterReconnect false: 500 OT_NOT_CONNECTED when reconnecting starts, at once while it lasts', () => {
  const { browser, session } = joinedForLong();
  const calls = [];
  const note = (name) => (error) => calls.push([name, error.code, error.name]);
  session.on('sessionReconnecting', () => calls.push('sessionReconnecting'));
  session.signal({ data: 'before', retryAfterReconnect: false }, note('before'));
  browser.socket.drop();
  session.signal({ data: 'meanwhile', retryAfterReconnect: false }, note('meanwhile'));
  assert.deepEqual(calls, ['sessionReconnecting', ['before', 500, 'OT_NOT_CONNECTED'], ['meanwhile', 500, 'OT_NOT_CONNECTED']]);
  browser.pass(125);
  browser.socket.open();
  browser.socket.hear(resumedMessage(3));
  assert.deepEqual(browser.socket.sent.map(({ op }) => op), ['connect', 'pong']);
});

test('G6 an online-only signal while reconnecting fails with 500', () => {
  const { browser, session } = joinedForLong();
  const codes = [];
  browser.socket.drop();
  session.signal({ type: 'typing', onlineOnly: true }, (error) => codes.push(error.code));
  assert.deepEqual(codes, [500]);
});

test('RES-9 what a handler sends in the middle of it all comes after what was sent before', () => {
  const { browser, session } = joinedForLong();
  session.signal({ data: '1' }, () => session.signal({ data: '4' }));
  session.signal({ data: '2' });
  session.on('sessionReconnected', () => session.signal({ data: '3' }));
  comeBack(browser);
  browser.socket.hear(resumedMessage(4), { ev: 'ack', id: 2, seq: 3 });
  const sent = browser.socket.sent.slice(1);
  assert.deepEqual(sent.map((message) => [message.id, message.data]), [[2, '1'], [3, '2'], [5, '3'], [6, '4']]);
});

test('RES-9 what waits for its turn goes out before what a handler adds', () => {
  const { browser, session } = joinedForLong();
  for (let count = 0; count < 256; count += 1) session.signal({}, () => session.signal({ data: 'added' }));
  session.signal({ data: 'waits' });
  session.signal({ data: 'waits' });
  browser.socket.hear({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 3, seq: 4 }, { ev: 'ack', id: 4, seq: 5 });
  const sent = browser.socket.sent.slice(257);
  assert.deepEqual(sent.map((message) => [message.id, message.data]), [[258, 'waits'], [259, 'waits'], [260, 'added']]);
});

test('opentok 1.2 when the session is lost for good, what waits fails with 500, and sessionDisconnected says networkDisconnected', async () => {
  const { browser, session, heard } = joinedForLong();
  const codes = [];
  session.signal({ data: 'before' }, (error) => codes.push(error.code));
  browser.socket.drop();
  session.signal({ data: 'meanwhile' }, (error) => codes.push(error.code));
  browser.pass(125);
  for (let time = 125; time < 300_000; time += 15_000) browser.pass(15_000);
  await settled();
  assert.deepEqual(codes, [500, 500]);
  assert.deepEqual(heard.map((event) => [event.type, event.reason]), [['sessionReconnecting', undefined], ['sessionDisconnected', 'networkDisconnected']]);
  assert.equal(session.currentState, 'disconnected');
  assert.equal(browser.timers.size, 0);
});

test('RES-7 a refusal while reconnecting ends the session, and the log says why', async () => {
  const { browser, session, names } = joinedForLong();
  comeBack(browser);
  browser.socket.hear({ ev: 'error', id: 2, code: 1004, name: 'OT_AUTHENTICATION_ERROR', message: 'the token has expired', retryable: false });
  await settled();
  assert.deepEqual(names(), ['sessionReconnecting', 'sessionDisconnected']);
  assert.equal(session.isConnected(), false);
  assert.match(browser.printed.find(([level]) => level === 'warn')[1], /the token has expired/);
});

test('RES-7 an answer that makes no sense while reconnecting ends the session', async () => {
  for (const answer of [{}, resumedMessage(2, { seq: 'two' })]) {
    const { browser, names } = joinedForLong();
    comeBack(browser);
    browser.socket.hear(answer);
    await settled();
    assert.equal(names().at(-1), 'sessionDisconnected');
  }
});

test('RES-2 an answer that says resumed, and names another connection or another order, is taken for lost', () => {
  for (const changes of [{ connection: bobAgain, connections: [bobAgain] }, { epoch: 'f' }]) {
    const { browser, heard } = joinedForLong();
    comeBack(browser);
    browser.socket.hear(resumedMessage(2, changes));
    assert.equal(heard.at(-1).outcome, 'lost');
  }
});

test('LEAVE-1 disconnect while reconnecting clears everything, fails what waits, and nothing is tried any more', async () => {
  for (const isTrying of [false, true]) {
    const { browser, session, heard } = joinedForLong();
    const codes = [];
    session.signal({}, (error) => codes.push(error.code));
    if (isTrying) comeBack(browser);
    else browser.socket.drop();
    session.disconnect();
    assert.deepEqual([session.isConnected(), session.connection, session.connections.length()], [false, null, 0]);
    await settled();
    assert.deepEqual(codes, [500]);
    assert.deepEqual(heard.map((event) => [event.type, event.reason]), [['sessionReconnecting', undefined], ['sessionDisconnected', 'clientDisconnected']]);
    if (isTrying) {
      assert.equal(browser.socket.closedWith, 1000);
      browser.socket.hear(resumedMessage(3));
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

test('a session that was left while reconnecting can be connected again, with ids of its own', () => {
  const { browser, session, names } = joinedForLong();
  browser.socket.drop();
  session.disconnect();
  session.connect('T1==');
  browser.socket.open();
  assert.deepEqual([browser.socket.sent[0].id, browser.socket.sent[0].resume], [1, undefined]);
  browser.socket.hear(resumedMessage(1, { outcome: 'new' }));
  assert.equal(names().at(-1), 'connectionCreated');
});

test('RES-13 an address that cannot be opened any more is tried like any other', async () => {
  const { browser, OT, names } = joinedForLong();
  browser.socket.drop();
  OT.setServer('not an address');
  browser.pass(125);
  await settled();
  OT.setServer('https://elsewhere.example');
  browser.pass(250);
  assert.equal(browser.socket.address, 'wss://elsewhere.example/v1/signaling');
  assert.deepEqual(names(), ['sessionReconnecting']);
});

// The page and the system

test('RES-13 the network’s return, or the page’s, is reason to try at once', () => {
  for (const sign of ['networkBack', 'pageShown']) {
    const { browser } = joinedForLong();
    browser.socket.drop();
    assert.equal(browser.sockets.length, 1);
    browser.tell(sign);
    assert.equal(browser.sockets.length, 2);
    browser.tell(sign);
    assert.equal(browser.sockets.length, 2);
  }
});

test('HB-3 a page that is shown while a ping is overdue gives the socket 2 s to prove itself', () => {
  const { browser, names } = joinedForLong();
  browser.pass(10_001);
  browser.tell('pageShown');
  browser.pass(1_999);
  assert.deepEqual(names(), []);
  browser.pass(1);
  assert.deepEqual(names(), ['sessionReconnecting']);
  assert.equal(browser.sockets[0].closedWith, 4001);
});

test('HB-3 a page that is shown while all is well, or that hears something in time, goes on', () => {
  for (const [silence, hears] of [[9_000, false], [12_000, true]]) {
    const { browser, names } = joinedForLong();
    browser.pass(silence);
    browser.tell('pageShown');
    if (hears) browser.socket.hear({ ev: 'ping', seq: 2 });
    browser.pass(9_999);
    assert.deepEqual(names(), []);
  }
});

test('PRES-2 a page that goes for good says goodbye', () => {
  const { browser } = joinedForLong();
  browser.tell('pageLeft');
  assert.equal(browser.socket.sent.at(-1).op, 'disconnect');
  assert.equal(browser.socket.closedWith, 1000);
  assert.equal(browser.watchers.size, 0);
});

test('RES-10 a page that the browser keeps for "back" lets go of its socket, and comes back by resume when it is shown again', () => {
  const { browser, session, names } = joinedForLong();
  session.signal({ data: 'before' });
  browser.tell('pageStored');
  assert.equal(browser.socket.closedWith, 4001);
  browser.pass(3_600_000);
  browser.tell('networkBack');
  assert.equal(browser.sockets.length, 1);
  browser.tell('pageShown');
  assert.equal(browser.sockets.length, 2);
  browser.socket.open();
  assert.equal(browser.socket.sent[0].resume.connectionId, 'bob-id');
  browser.socket.hear(replacedMessage(3, 'lost', [bobAgain]));
  assert.equal(names().at(-1), 'sessionReconnected');
});

test('RES-10 a page that is kept in the middle of an attempt leaves it, and tries again when it is shown', () => {
  const { browser } = joinedForLong();
  comeBack(browser);
  browser.tell('pageStored');
  assert.equal(browser.socket.closedWith, 4001);
  browser.socket.hear(resumedMessage(2));
  browser.socket.drop(4001);
  browser.pass(60_000);
  assert.equal(browser.sockets.length, 2);
  browser.tell('pageShown');
  assert.equal(browser.sockets.length, 3);
});

test('RES-13 for a page that was kept, the time in which it tries begins when it is shown', () => {
  const { browser, names } = joinedForLong();
  browser.tell('pageStored');
  browser.pass(3_600_000);
  browser.tell('pageShown');
  browser.socket.drop();
  browser.pass(500);
  assert.equal(browser.sockets.length, 3);
  assert.deepEqual(names(), ['sessionReconnecting']);
});

test('a page that is kept, with nothing to come back to, keeps its socket for as long as the browser lets it', () => {
  const { browser, names } = joined();
  browser.tell('pageStored');
  assert.equal(browser.socket.closedWith, null);
  assert.equal(names().includes('sessionReconnecting'), false);
});

test('a page is listened to only while there is something to lose', async () => {
  const { browser, session } = joinedForLong();
  assert.equal(browser.watchers.size, 1);
  browser.socket.drop();
  assert.equal(browser.watchers.size, 1);
  session.disconnect();
  assert.equal(browser.watchers.size, 0);
});

test('a browser’s own events are told in the client’s words, until nobody listens', () => {
  const window = new EventTarget();
  const document = new EventTarget();
  const heard = [];
  const stop = watchPage(window, document, ({ is }) => heard.push(is));
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
  assert.deepEqual(heard, ['networkBack', 'pageShown', 'pageStored', 'pageShown', 'pageLeft']);
  stop();
  all();
  assert.equal(heard.length, 5);
  watchPage(undefined, undefined, () => {})();
});
