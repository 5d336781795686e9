// The behaviour of OpenTok's web client around signals that programs written for it depend on.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ada, bob, connectedMessage, settled } from '../../test-support/fakes/fake-browser.js';
import { joined, moderator, page } from '../../test-support/fakes/fake-page.js';

const cy = { connectionId: 'cy-id', creationTime: 1700000001000, data: 'Cy' };

// session.signal

for (const [sent, code, name] of [
  [400, 400, 'OT_INVALID_PARAMETER'],
  [403, 403, 'OT_PERMISSION_DENIED'],
  [404, 404, 'OT_NOT_FOUND'],
  [413, 413, 'OT_INVALID_PARAMETER'],
  [429, 429, 'OT_RATE_LIMIT_EXCEEDED'],
  [500, 500, 'OT_NOT_CONNECTED'],
  [418, 2001, 'OT_UNEXPECTED_SERVER_RESPONSE'],
]) {
  test(`signal: the server's ${sent} reaches the handler as ${code} ${name}, and raises no exception`, () => {
    const { browser, session, exceptions } = joined();
    const calls = [];
    session.signal({ type: 'a' }, (...args) => calls.push(args));
    browser.socket.receive({ ev: 'error', id: 2, code: sent, name: 'WHATEVER', message: 'Because.', retryable: false });
    assert.equal(calls.length, 1);
    assert.equal(calls[0].length, 1, 'a failed call gets only the error');
    const [error] = calls[0];
    assert.deepEqual(
      [error.code, error.name, error.message, error.reason, error instanceof Error],
      [code, name, 'Because.', 'Because.', true],
    );
    assert.deepEqual(exceptions, []);
  });
}

test('signal: a refused signal is not sent, and its handler is called at once', () => {
  const { browser, session } = joined();
  const codes = [];
  session.signal({ data: 'x'.repeat(8191) }, (error) => codes.push(error.code));
  session.signal({ type: '' }, (error) => codes.push(error.code));
  session.signal({ type: 'a b' });
  assert.deepEqual(codes, [413, 400]);
  assert.equal(browser.socket.sent.length, 1);
});

test('signal: absent properties stay absent, and empty data is data', () => {
  const { browser, session } = joined();
  session.signal({ data: '' });
  session.signal(null);
  assert.deepEqual(browser.socket.sent.slice(1), [{ op: 'signal', data: '', id: 2 }, { op: 'signal', id: 3 }]);
});

test('signal: inherited options are neither checked nor sent', () => {
  const { OT, browser, session } = joined();
  const codes = [];
  session.signal(
    Object.create({ type: 'a b', data: null, to: 'y', retryAfterReconnect: 1, onlineOnly: true }),
    (error) => codes.push(error?.code),
  );
  session.signal(Object.assign(Object.create({ type: 'inherited' }), { data: 'own' }));
  assert.deepEqual(browser.socket.sent.slice(1), [{ op: 'signal', id: 2 }, { op: 'signal', data: 'own', id: 3 }]);
  assert.deepEqual(codes, []);
  assert.equal(new OT.Signal(Object.create({ type: 'inherited' })).type, undefined);
});

test('signal: a text in place of the options is refused, because it would arrive as an empty signal', () => {
  const { browser, session } = joined();
  const codes = [];
  session.signal('hello', (error) => codes.push(error.code));
  assert.deepEqual(codes, [400]);
  assert.equal(browser.socket.sent.length, 1);
});

test('signal: a Connection without an id is no target, so that no directed signal becomes a broadcast', () => {
  const { OT, browser, session } = joined();
  const codes = [];
  for (const target of [new OT.Connection({}), new OT.Connection('ada-id')]) {
    session.signal({ to: target, data: 'psst' }, (error) => codes.push(error.code));
  }
  assert.deepEqual(codes, [400, 400]);
  assert.equal(browser.socket.sent.length, 1);
});

test('data: data that is not a string travels as JSON and arrives as the same value', () => {
  const { browser, session } = joined();
  const values = [{ a: 1 }, [1, 'b'], 5, 0, false];
  const arrived = [];
  session.on('signal', (event) => arrived.push(event.data));
  for (const data of values) session.signal({ data });
  const sent = browser.socket.sent.slice(1);
  assert.deepEqual(sent.map(({ data, json }) => [data, json]), values.map((value) => [JSON.stringify(value), true]));
  sent.forEach(
    ({ data, json }, index) => browser.socket.receive({ ev: 'signal', seq: 3 + index, from: 'ada-id', data, json })
  );
  assert.deepEqual(arrived, values);
  assert.equal(browser.printed.length, 5);
  assert.match(browser.printed[0][1], /deprecated/);
});

test('function data: data that is a function are sent as an empty object', () => {
  const { browser, session, OT } = joined();
  session.signal({ data: () => {} }, (error) => assert.ifError(error));
  assert.deepEqual(browser.socket.sent.at(-1), { op: 'signal', data: '{}', json: true, id: 2 });
  assert.deepEqual(new OT.Signal({ data: () => {} }).data, {});
});

test('data: a string stays a string, even if it looks like JSON, and so does invalid JSON', () => {
  const { browser, session } = joined();
  const arrived = [];
  session.on('signal', (event) => arrived.push(event.data));
  session.signal({ data: '{"a":1}' });
  assert.deepEqual(browser.socket.sent.at(-1), { op: 'signal', data: '{"a":1}', id: 2 });
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'ada-id', data: '{"a":1}' },
    { ev: 'signal', seq: 4, from: 'ada-id', data: '{"a":1}', json: false },
    { ev: 'signal', seq: 5, from: 'ada-id', data: '{"a"', json: true },
    { ev: 'signal', seq: 6, from: 'ada-id', json: true },
  );
  assert.deepEqual(arrived, ['{"a":1}', '{"a":1}', '{"a"', undefined]);
});

test('signal: retryAfterReconnect is accepted, and not sent to the server', () => {
  const { browser, session } = joined();
  session.signal({ type: 'a', retryAfterReconnect: false });
  assert.deepEqual(browser.socket.sent.at(-1), { op: 'signal', type: 'a', id: 2 });
});

test('signal: handlers are called in the order of the server’s answers, each once', () => {
  const { browser, session } = joined();
  const order = [];
  session.signal({ type: 'a' }, () => order.push('a'));
  session.signal({ type: 'b' }, () => order.push('b'));
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 3, seq: 4 });
  assert.deepEqual(order, ['a', 'b']);
});

test('signal: a completion handler that throws is logged, and the next one is called', () => {
  const { browser, session } = joined();
  let called = 0;
  session.signal({}, () => { throw new Error('broken'); });
  session.signal({}, () => (called += 1));
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 3, seq: 4 });
  assert.equal(called, 1);
  assert.deepEqual(browser.printed.map(([level]) => level), ['error']);
});

test('signal: not connected is 500 OT_NOT_CONNECTED with an exception that has no title', () => {
  const { session, exceptions } = page();
  const errors = [];
  session.signal({ type: 'a' }, (error) => errors.push(error));
  assert.deepEqual([errors[0].code, errors[0].name], [500, 'OT_NOT_CONNECTED']);
  assert.deepEqual(exceptions.map((event) => [event.code, event.title, event.target]), [[500, undefined, session]]);
});

test('signal: while connecting is not connected', () => {
  const { session, browser } = page();
  const codes = [];
  session.connect('T1==');
  browser.socket.open();
  session.signal({}, (error) => codes.push(error.code));
  assert.deepEqual(codes, [500]);
});

// Receiving

test('receiving: the event is mutable, ignores preventDefault, and cannot be cancelled', () => {
  const { browser, session } = joined();
  let event;
  session.on('signal', (given) => (event = given));
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'x', data: 'y' });
  event.preventDefault();
  assert.equal(event.isDefaultPrevented(), false);
  event.data = 'changed';
  assert.equal(event.data, 'changed');
});

test('receiving: a handler of signal that throws is logged, and signal:<type> is still emitted', () => {
  const { browser, session } = joined();
  const received = [];
  session.off();
  session.on('signal', () => { throw new Error('broken'); });
  session.on('signal', () => received.push('second'));
  session.on('signal:x', () => received.push('typed'));
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'x' });
  assert.deepEqual(received, ['second', 'typed']);
  assert.deepEqual(browser.printed.map(([level]) => level), ['error']);
});

test('receiving: an empty type counts as absent', () => {
  const { browser, received } = joined();
  received.length = 0;
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: '', data: 'x' });
  assert.deepEqual(received.map((event) => event.type), ['signal']);
});

test('receiving: a signal waits for the connectionCreated of its sender, and others do not wait for it', () => {
  const { browser, session, received } = joined();
  received.length = 0;
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'cy-id', data: 'early 1' },
    { ev: 'signal', seq: 4, from: 'ada-id', data: 'known' },
    { ev: 'signal', seq: 5, from: 'cy-id', data: 'early 2' },
  );
  assert.deepEqual(received.map((event) => event.data), ['known']);
  browser.socket.receive(
    { ev: 'connectionCreated', seq: 6, connection: cy }, { ev: 'signal', seq: 7, from: 'cy-id', data: 'later' }
  );
  assert.deepEqual(
    received.map((event) => event.connection?.data ?? event.data), ['known', 'Cy', 'early 1', 'early 2', 'later']
  );
  assert.equal(received[2].from, session.connections.get('cy-id'));
});

test('receiving: signals that wait for their sender are bounded, and dropped ones are logged', async () => {
  const { browser, session } = joined();
  const early = Array.from(
    { length: 258 }, (_, index) => ({ ev: 'signal', seq: 3 + index, from: 'cy-id', data: String(index) })
  );
  browser.socket.receive(...early);
  assert.equal(browser.printed.length, 2);
  const received = [];
  session.on('signal', (event) => received.push(event.data));
  browser.socket.receive({ ev: 'connectionCreated', seq: 400, connection: cy });
  assert.deepEqual([received.length, received[0], received.at(-1)], [256, '2', '257']);
  browser.socket.receive({ ev: 'signal', seq: 401, from: 'who' });
  session.disconnect();
  assert.match(browser.printed.at(-1)[1], /1 signals were dropped/);
});

test('receiving: a handler that disconnects when a sender is announced never gets the waiting signals', () => {
  const { browser, session, received } = joined();
  received.length = 0;
  browser.socket.receive(
    { ev: 'signal', seq: 3, from: 'cy-id', data: 'one' }, { ev: 'signal', seq: 4, from: 'cy-id', data: 'two' }
  );
  session.on('signal', () => session.disconnect());
  browser.socket.receive({ ev: 'connectionCreated', seq: 5, connection: cy });
  assert.deepEqual(received.map((event) => event.type), ['connectionCreated', 'signal']);
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage({ connections: [cy, bob] }));
  assert.deepEqual(received.filter((event) => event.type === 'signal').map((event) => event.data), ['one']);
});

test('receiving: signals that waited for a sender are dropped with the connection', async () => {
  const { browser, session, received } = joined();
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'cy-id', data: 'early' });
  browser.socket.drop();
  await settled();
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage({ connections: [cy, bob] }));
  assert.equal(received.some((event) => event.type === 'signal'), false);
});

// Connecting and leaving

test('connecting: connect returns the session, and connect while connecting warns and never calls its handler', () => {
  const { browser, session } = page();
  let called = 0;
  assert.equal(session.connect('T1==', () => (called += 1)), session);
  assert.equal(session.connect('T2==', () => assert.fail('called')), session);
  assert.deepEqual(browser.printed.map(([level]) => level), ['warn']);
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.equal(called, 1);
  assert.equal(session.token, 'T1==');
});

test('connecting: a handler that is given twice over two connects is called once for each', async () => {
  const { browser, session } = page();
  const calls = [];
  const handler = (error) => calls.push(error?.code);
  session.connect('T1==', handler);
  browser.socket.drop();
  session.connect('T1==', handler);
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(calls, [1006, undefined]);
});

test('connections: sessionConnected and the connect handler find all connections in the collection', () => {
  const { browser, session } = page();
  const counts = [];
  session.on('sessionConnected', () => counts.push(session.connections.length()));
  session.connect('T1==', () => counts.push(session.connections.map((connection) => connection.data)));
  session.on('connectionCreated', () => counts.push(session.connections.length()));
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(counts, [2, ['Ada', 'Bob'], 2, 2]);
  assert.equal(session.connections.get('bob-id'), session.connection);
});

test('connect: the handler is the last argument', () => {
  const { browser, session } = page();
  let called = 0;
  session.connect('T1==', null, () => (called += 1));
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.equal(called, 1);
});

test('connect: the key of initSession has precedence; the older form supplies a missing one', () => {
  const { browser, session } = page();
  session.connect('other', 'T1==');
  browser.socket.open();
  assert.equal(browser.socket.sent[0].apiKey, '100');
});

test('connect failed: sessionConnectFailed has the name, code, message and reason of the error', () => {
  const { browser, session, received } = page();
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive({
    ev: 'error', id: 1, code: 1005, name: 'OT_INVALID_SESSION_ID', message: 'no', retryable: false,
  });
  const { name, code, message, reason } = received[0];
  assert.deepEqual([name, code, message, reason], ['OT_INVALID_SESSION_ID', 1005, 'no', 'no']);
});

test('connecting: a handler that disconnects at once gets no connectionCreated', async () => {
  const { browser, session, names } = page();
  session.connect('T1==', () => session.disconnect());
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  await settled();
  assert.deepEqual(names(), ['sessionConnected', 'sessionDisconnected']);
  assert.equal(session.connections.length(), 0);
});

test('connecting: off removes the connect handler, which is then never called', async () => {
  const { browser, session } = page();
  session.connect('T1==', () => assert.fail('called'));
  session.off('sessionConnected');
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.equal(session.isConnected(), true);
  session.disconnect();
  await settled();
  assert.deepEqual(browser.printed, []);
});

test('connecting: a handler that leaves and connects again has its second handler called', async () => {
  const { browser, session } = page();
  const calls = [];
  session.connect('T1==', () => {
    calls.push('first');
    session.disconnect();
    session.connect('T1==', () => calls.push('second'));
  });
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  await settled();
  assert.deepEqual(calls, ['first', 'second']);
});

test('connecting: the older form without a key keeps the key of initSession', () => {
  const { browser, session } = page();
  session.connect(undefined, 'T1==');
  browser.socket.open();
  assert.deepEqual([session.apiKey, browser.socket.sent[0].apiKey], ['100', '100']);
});

test('connecting: before, connection is null, the collections are empty and every capability is zero', () => {
  const { session } = page();
  assert.equal(session.connection, null);
  assert.deepEqual([session.connections.length(), session.streams.length(), session.archives.length()], [0, 0, 0]);
  const { permittedTo, ...capabilities } = session.capabilities;
  assert.deepEqual({ ...capabilities }, {
    publish: 0, subscribe: 0, forceDisconnect: 0, forceUnpublish: 0, forceMute: 0, supportsWebRTC: 0, supportsE2ee: 0,
  });
  assert.equal(session.capabilities.permittedTo('publish'), false);
  assert.equal('signal' in session.capabilities, false);
});

test('connecting: capabilities are those of the server’s answer, by role', () => {
  const { session } = joined({ changes: moderator });
  assert.deepEqual(
    [
      'publish', 'subscribe', 'forceDisconnect', 'forceUnpublish', 'forceMute',
    ].map((name) => session.capabilities[name]),
    [1, 1, 1, 1, 1],
  );
  assert.equal(session.capabilities.permittedTo('forceDisconnect'), true);
  assert.equal(session.capabilities.permittedTo('permittedTo'), false);
});

for (const [sent, code, name, title] of [
  [1004, 1004, 'OT_AUTHENTICATION_ERROR', 'Authentication error'],
  [1005, 1005, 'OT_INVALID_SESSION_ID', 'Invalid Session ID'],
  [1006, 1006, 'OT_CONNECT_FAILED', 'Connect Failed'],
  [1026, 1026, 'OT_TERMS_OF_SERVICE_FAILURE', 'Terms of Service Violation: Export Compliance'],
  [1027, 1027, 'OT_CONNECTION_LIMIT_EXCEEDED', 'Connection Limit Exceeded'],
  [999, 2001, 'OT_UNEXPECTED_SERVER_RESPONSE', 'Unexpected Server Response'],
]) {
  test(`connecting: refused with ${sent} is ${code} ${name} in handler, sessionConnectFailed and exception`, () => {
    const { OT, browser, session } = page();
    const order = [];
    session.on('sessionConnectFailed', (event) => order.push(['event', event.code, event.reason]));
    OT.on('exception', (event) => order.push(['exception', event.code, event.title, event.target === session]));
    session.connect('T1==', (error) => order.push(['handler', error.code, error.name]));
    browser.socket.open();
    browser.socket.receive({ ev: 'error', id: 1, code: sent, message: 'No.' });
    assert.deepEqual(order, [['handler', code, name], ['event', code, 'No.'], ['exception', code, title, true]]);
  });
}

test('leaving: a session that was left can be connected again, as another connection', async () => {
  const { browser, session, names } = joined();
  const before = session.connection;
  session.disconnect();
  await settled();
  session.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage({ connection: cy, connections: [ada, cy] }));
  assert.equal(session.connection.connectionId, 'cy-id');
  assert.notEqual(session.connection, before);
  assert.deepEqual(session.connections.map((connection) => connection.data), ['Ada', 'Cy']);
  assert.deepEqual(
    names().slice(3), ['sessionDisconnected', 'sessionConnected', 'connectionCreated', 'connectionCreated']
  );
});

for (const reason of ['clientDisconnected', 'forceDisconnected', 'networkDisconnected']) {
  test(`leaving: connectionDestroyed of another client with ${reason} follows its removal from the collection`, () => {
    const { browser, session } = joined();
    const seen = [];
    session.on('connectionDestroyed', (event) => {
      seen.push([
        event.reason, event.connection.id, event.connection.destroyedReason(), event.connections, event.cancelable,
        session.connections.has('ada-id'),
      ]);
    });
    const gone = session.connections.get('ada-id');
    browser.socket.receive({ ev: 'connectionDestroyed', seq: 3, connectionId: 'ada-id', reason });
    assert.deepEqual(seen, [[reason, 'ada-id', reason, [gone], false, false]]);
  });
}

for (const reason of ['mediaIdle', 'serverRotation']) {
  test(`leaving: a reason that only OpenTok’s servers send reaches the program unchanged: ${reason}`, async () => {
    const { browser, session, received } = joined();
    browser.socket.receive({ ev: 'disconnected', reason, reconnect: false });
    await settled();
    assert.deepEqual(
      [received.at(-1).type, received.at(-1).reason, session.isConnected()], ['sessionDisconnected', reason, false]
    );
  });
}

test('leaving: a lost connection never emits connectionDestroyed for itself', async () => {
  const { browser, session, received } = joined();
  received.length = 0;
  browser.socket.drop();
  assert.deepEqual([session.connections.length(), session.capabilities.publish, received.length], [0, 0, 0]);
  await settled();
  assert.deepEqual(received.map((event) => event.type), ['sessionDisconnected']);
});

test('currentState, is and isNot report the session’s state', () => {
  const { browser, session } = page();
  const states = [session.currentState];
  session.connect('T1==');
  states.push(session.currentState);
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  states.push(session.currentState);
  assert.deepEqual(states, ['disconnected', 'connecting', 'connected']);
  assert.equal(session.is('connected'), true);
  assert.equal(session.is('connecting', 'connected'), true);
  assert.equal(session.is(['connecting', 'connected']), false, 'a list is no state, as in OpenTok');
  assert.equal(session.isNot(['connected']), true);
  assert.equal(session.isNot('connected'), false);
  assert.equal(session.isNot('connecting', 'disconnected'), true);
});

// Connections

test('a Connection has both names of its id, its time and data, and capabilities if it is the own one', () => {
  const { session } = joined();
  const mine = session.connection;
  const hers = session.connections.get('ada-id');
  assert.deepEqual(
    [mine.id, mine.connectionId, mine.creationTime, mine.data, mine.quality, mine.destroyedReason()],
    ['bob-id', 'bob-id', bob.creationTime, 'Bob', null, undefined],
  );
  assert.deepEqual([mine.capabilities.publish, mine.permissions.publish, hers.capabilities.publish], [1, 1, 0]);
  assert.equal(hers.on('x', () => {}).off('x'), hers);
});

test('a connection that the server names without time and data has null and an empty text', () => {
  const { session } = joined({ changes: { connections: [{ connectionId: 'x' }, bob] } });
  const bare = session.connections.get('x');
  assert.deepEqual([bare.creationTime, bare.data], [null, '']);
});

test('session.connections: toString, isEmpty, and where and find with nothing, a context, or no match', () => {
  const { session } = joined();
  const { connections } = session;
  assert.equal(String(connections), '[ada-id, bob-id]');
  assert.equal(connections.isEmpty(), false);
  assert.equal(connections.where().length, 2);
  assert.deepEqual(connections.where({ data: 'nobody' }), []);
  assert.equal(connections.find({ data: 'nobody' }), null);
  assert.equal(connections.find(() => false), null);
  assert.equal(connections.find({ destroyed: false, data: 'Ada' }), connections.get('ada-id'), 'a method is a property');
  const found = connections.find(function (connection) { return connection.data === this.wanted; }, { wanted: 'Bob' });
  assert.equal(found, session.connection);
  const context = { names: [] };
  assert.equal(connections.forEach(function (connection) { this.names.push(connection.data); }, context), connections);
  const given = [];
  assert.deepEqual(connections.map(function (...args) { given.push([this, ...args]); return args[1]; }, context), [0, 1]);
  assert.deepEqual(given[0].slice(0, 2), [undefined, connections.get('ada-id')], 'map takes no context, as in OpenTok');
});

test('collection: a collection emits add and remove, also with the id, and has on and off', () => {
  const { browser, session } = joined();
  const { connections } = session;
  const heard = [];
  const handler = (connection, reason) => heard.push([connection.connectionId, reason]);
  assert.equal(connections.on('add remove add:cy-id remove:ada-id', handler), connections);
  browser.socket.receive({ ev: 'connectionCreated', seq: 3, connection: cy });
  browser.socket.receive({
    ev: 'connectionDestroyed', seq: 4, connectionId: 'ada-id', reason: 'networkDisconnected',
  });
  const added = ['cy-id', undefined];
  const removed = ['ada-id', 'networkDisconnected'];
  assert.deepEqual(heard, [added, added, removed, removed]);
  assert.equal(connections.off('add remove').listenerCount('add'), 0);
});

test('collection: a handler of add that disconnects leaves the collection empty, and gets no more events', async () => {
  const { browser, session, names } = page();
  session.connections.once('add', () => session.disconnect());
  session.connect('T1==', () => assert.fail('connected'));
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  await settled();
  assert.deepEqual([session.connections.length(), session.connection, names()], [0, null, ['sessionDisconnected']]);
});

test('destroyed: a connection says that it ended, and emits it, and those of an ended session do, too', async () => {
  const { browser, session } = joined();
  const mine = session.connection;
  const hers = session.connections.get('ada-id');
  const heard = [];
  hers.on('destroyed', (event) => heard.push([event.type, event.target === hers, event.reason]));
  session.on('connectionDestroyed', () => heard.push('session'));
  assert.deepEqual([hers.destroyed(), mine.destroyed()], [false, false]);
  browser.socket.receive({
    ev: 'connectionDestroyed', seq: 3, connectionId: 'ada-id', reason: 'clientDisconnected',
  });
  assert.deepEqual(heard, [['destroyed', true, 'clientDisconnected'], 'session']);
  assert.deepEqual([hers.destroyed(), hers.destroyedReason()], [true, 'clientDisconnected']);
  browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false });
  assert.deepEqual([mine.destroyed(), mine.destroyedReason()], [true, 'forceDisconnected']);
});

// forceDisconnect

test('forceDisconnect: takes a connection or an id, and its handler gets nothing on success', () => {
  const { browser, session, exceptions } = joined({ changes: moderator });
  const calls = [];
  session.forceDisconnect('ada-id', (...args) => calls.push(args));
  session.forceDisconnect(session.connections.get('ada-id'));
  assert.deepEqual(browser.socket.sent.slice(1), [
    { op: 'forceDisconnect', connectionId: 'ada-id', id: 2 },
    { op: 'forceDisconnect', connectionId: 'ada-id', id: 3 },
  ]);
  browser.socket.receive({ ev: 'ack', id: 2 });
  assert.deepEqual(calls, [[undefined]]);
  assert.deepEqual(exceptions, []);
});

for (const [sent, code, name, title] of [
  [1010, 1010, 'OT_NOT_CONNECTED', 'Not Connected'],
  [1011, 1011, 'OT_INVALID_PARAMETER', 'Invalid Parameter'],
  [1520, 1520, 'OT_PERMISSION_DENIED', 'Unable to Force Disconnect'],
  [777, 1011, 'OT_INVALID_PARAMETER', 'Invalid Parameter'],
]) {
  test(`forceDisconnect: the server's ${sent} is ${code} ${name}, with an exception`, () => {
    const { browser, session, exceptions } = joined({ changes: moderator });
    const errors = [];
    session.forceDisconnect('x', (error) => errors.push([error.code, error.name]));
    browser.socket.receive({ ev: 'error', id: 2, code: sent, message: 'No.' });
    assert.deepEqual(errors, [[code, name]]);
    assert.deepEqual(exceptions.map((event) => [event.code, event.title, event.message]), [[code, title, 'No.']]);
  });
}

// connectionEventsSuppressed

test('suppressed: no presence events even if the server sends some, and the own connection is known', () => {
  const { browser, session, names } = joined({ connectionEventsSuppressed: true, changes: { connections: [bob] } });
  browser.socket.receive(
    { ev: 'connectionCreated', seq: 3, connection: cy },
    { ev: 'connectionDestroyed', seq: 4, connectionId: 'cy-id', reason: 'clientDisconnected' },
  );
  assert.deepEqual(names(), ['sessionConnected']);
  assert.equal(session.connections.get('bob-id'), session.connection);
});

// The text-chat accelerator for browsers

test('the JavaScript text-chat accelerator finds all members that it needs after connecting', () => {
  const { browser, session } = joined();
  const said = [];
  const partners = [];
  session.on('connectionCreated', (event) => partners.push(event.connection.connectionId));
  session.on('streamCreated', () => assert.fail('there are no streams'));
  session.on('signal:text-chat', (event) => {
    if (event.from.connectionId !== session.connection.connectionId) said.push(JSON.parse(event.data).text);
  });
  assert.deepEqual(
    [session.id, session.apiKey, session.connection.connectionId, session.streams.length()], ['1_x', '100', 'bob-id', 0]
  );
  const outcomes = [];
  const data = JSON.stringify({ text: 'hi', sender: { id: 'r1_xr2', alias: 'User' }, sentOn: 1700000000000 });
  session.signal({ type: 'text-chat', data }, (error) => outcomes.push(error ? error.code : 'sent'));
  session.signal({ type: 'text-chat', data: 'x'.repeat(9000) }, (error) => outcomes.push(error ? error.code : 'sent'));
  browser.socket.receive(
    { ev: 'connectionCreated', seq: 3, connection: cy },
    { ev: 'signal', seq: 4, from: 'bob-id', type: 'text-chat', data },
    { ev: 'ack', id: 2, seq: 4 },
    { ev: 'signal', seq: 5, from: 'cy-id', type: 'text-chat', data: JSON.stringify({ text: 'hello' }) },
  );
  assert.deepEqual(outcomes, [413, 'sent']);
  assert.deepEqual(partners, ['cy-id']);
  assert.deepEqual(said, ['hello']);
});
