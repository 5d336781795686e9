import assert from 'node:assert/strict';
import test from 'node:test';
import { ClientState, CONNECT_TIMEOUT } from '../opentok/client-state.js';
import { ada, bob, connectedMessage } from '../test-support/fake-browser.js';

const credentials = { apiKey: '100', sessionId: '1_x', token: 'T1==' };

function opening(now = 0) {
  const state = new ClientState({ random: () => 0.5 });
  const effects = state.handle({ event: 'connectRequested', ...credentials }, now);
  return { state, effects };
}

function connecting(now = 0) {
  const { state } = opening(now);
  const effects = state.handle({ event: 'socketOpened', socket: 1 }, now);
  return { state, effects };
}

function connected(now = 0, changes = {}) {
  const { state } = connecting(now);
  const effects = hear(state, now, connectedMessage(changes));
  return { state, effects };
}

function hear(state, now, ...messages) {
  return state.handle({ event: 'messagesReceived', socket: 1, messages }, now);
}

const kinds = (effects) => effects.map((effect) => effect.happening?.what ?? effect.do);

test('CON-1 connect is the first thing said, once the socket is open', () => {
  assert.deepEqual(opening().effects, [{ do: 'openSocket', socket: 1 }]);
  assert.deepEqual(connecting().effects, [{ do: 'send', socket: 1, message: { op: 'connect', ...credentials, id: 1 } }]);
});

test('CON-4 options are sent when there are any', () => {
  const state = new ClientState({ random: () => 0.5 });
  const options = { connectionEventsSuppressed: true };
  state.handle({ event: 'connectRequested', ...credentials, options }, 0);
  const [effect] = state.handle({ event: 'socketOpened', socket: 1 }, 0);
  assert.deepEqual(effect.message.options, options);
});

test('CON-5 connected tells who one is and who is here', () => {
  const { state, effects } = connected();
  assert.deepEqual(kinds(effects), ['connected']);
  assert.deepEqual(effects[0].happening.connections, [ada, bob]);
  assert.deepEqual(effects[0].happening.connection, bob);
  assert.equal(state.seq, 2);
});

test('CON-3 a refused connect is told with its code, and the socket is closed', () => {
  for (const code of [1004, 1005, 1027]) {
    const { state } = connecting();
    const effects = hear(state, 0, { ev: 'error', id: 1, code, name: 'X', message: 'no', retryable: false });
    assert.deepEqual(kinds(effects), ['closeSocket', 'refuse']);
    assert.deepEqual(effects[1].error, { code, message: 'no' });
    assert.equal(state.phase, 'idle');
  }
});

test('ERR-1 a connect refused with a code of another kind is an unexpected answer', () => {
  const { state } = connecting();
  assert.equal(hear(state, 0, { ev: 'error', id: 1, code: 9999, message: 'no' })[1].error.code, 2001);
});

test('ERR-1 an answer to connect that makes no sense is an unexpected answer', () => {
  for (const answer of [undefined, {}, connectedMessage({ seq: 'two' }), connectedMessage({ connection: null }), connectedMessage({ heartbeatSeconds: 0 })]) {
    const { state } = connecting();
    assert.equal(hear(state, 0, answer).at(-1).error?.code, 2001, JSON.stringify(answer));
  }
});

test('CON-2 an answer that does not come in time is a failed connect', () => {
  const { state } = connecting(100);
  assert.equal(state.nextDeadline, 100 + CONNECT_TIMEOUT);
  assert.deepEqual(state.advance(100 + CONNECT_TIMEOUT - 1), []);
  const effects = state.advance(100 + CONNECT_TIMEOUT);
  assert.deepEqual(kinds(effects), ['closeSocket', 'refuse']);
  assert.equal(effects[1].error.code, 1006);
  assert.equal(state.nextDeadline, null);
});

test('CON-3 a socket that cannot be opened, or closes before the answer, is a failed connect', () => {
  for (const { state } of [opening(), connecting()]) {
    const effects = state.handle({ event: 'socketClosed', socket: 1, code: 1006 }, 0);
    assert.equal(effects.at(-1).error.code, 1006);
  }
});

test('CON-8 connect while connecting or connected only warns', () => {
  for (const { state } of [opening(), connecting(), connected()]) {
    assert.deepEqual(kinds(state.handle({ event: 'connectRequested', ...credentials }, 0)), ['warn']);
  }
});

test('WIRE-6 an unknown happening is ignored, before and after connecting', () => {
  const { state } = connecting();
  assert.deepEqual(hear(state, 0, { ev: 'somethingNew', seq: 9 }), []);
  hear(state, 0, connectedMessage());
  assert.deepEqual(hear(state, 0, { ev: 'somethingNew', seq: 9 }), []);
  assert.equal(state.seq, 2);
});

test('WIRE-7 absent members of a signal are absent on the wire', () => {
  const { state } = connected();
  assert.deepEqual(state.handle({ event: 'signalRequested', tag: 't' }, 0)[0].message, { op: 'signal', id: 2 });
  const whole = { type: 'chat', data: '', to: 'ada-id', onlineOnly: true };
  assert.deepEqual(state.handle({ event: 'signalRequested', tag: 't', ...whole }, 0)[0].message, { op: 'signal', id: 3, ...whole });
  assert.equal('onlineOnly' in state.handle({ event: 'signalRequested', tag: 't', onlineOnly: false }, 0)[0].message, false);
});

test('WIRE-8 an answer settles the request whose id it carries, once', () => {
  const { state } = connected();
  state.handle({ event: 'signalRequested', tag: 'first' }, 0);
  state.handle({ event: 'signalRequested', tag: 'second' }, 0);
  assert.deepEqual(hear(state, 0, { ev: 'ack', id: 3, seq: 4 }), [{ do: 'settle', tag: 'second', error: null }]);
  assert.deepEqual(hear(state, 0, { ev: 'ack', id: 3, seq: 4 }), []);
  assert.deepEqual(hear(state, 0, { ev: 'error', id: 2, code: 404, message: 'nobody' }), [
    { do: 'settle', tag: 'first', error: { code: 404, message: 'nobody' } },
  ]);
});

test('WIRE-8 an error without id settles nothing and is only warned of', () => {
  const { state } = connected();
  state.handle({ event: 'signalRequested', tag: 'first' }, 0);
  assert.deepEqual(kinds(hear(state, 0, { ev: 'error', code: 400, message: 'malformed' })), ['warn']);
});

test('ERR-1 a signal is refused with the code it has, or 2001 when signals have no such code', () => {
  for (const [code, seen] of [[400, 400], [403, 403], [404, 404], [413, 413], [429, 429], [500, 500], [1011, 2001], [777, 2001]]) {
    const { state } = connected();
    state.handle({ event: 'signalRequested', tag: 't' }, 0);
    assert.equal(hear(state, 0, { ev: 'error', id: 2, code, message: 'no' })[0].error.code, seen);
  }
});

test('LEAVE-2 a forced disconnect is refused with 1010, 1520, or 1011 for anything else', () => {
  for (const [code, seen] of [[1010, 1010], [1520, 1520], [1011, 1011], [400, 1011]]) {
    const { state } = connected();
    const [{ message }] = state.handle({ event: 'forceDisconnectRequested', tag: 't', connectionId: 'x' }, 0);
    assert.deepEqual(message, { op: 'forceDisconnect', connectionId: 'x', id: 2 });
    assert.equal(hear(state, 0, { ev: 'error', id: 2, code, message: 'no' })[0].error.code, seen);
  }
});

test('SIG-4 a signal before connecting fails with 500, a forced disconnect with 1010', () => {
  for (const { state } of [{ state: new ClientState({ random: () => 0.5 }) }, opening(), connecting()]) {
    assert.equal(state.handle({ event: 'signalRequested', tag: 't' }, 0)[0].error.code, 500);
    assert.equal(state.handle({ event: 'forceDisconnectRequested', tag: 't', connectionId: 'x' }, 0)[0].error.code, 1010);
  }
});

test('SIG-7 a signal is announced with who sent it, null for the server itself', () => {
  const { state } = connected();
  const [one, two] = hear(
    state, 0,
    { ev: 'signal', seq: 3, from: 'ada-id', type: 'chat', data: 'hi' },
    { ev: 'signal', seq: 4, from: null },
  );
  assert.deepEqual({ ...one.happening }, { what: 'signal', from: 'ada-id', connection: undefined, type: 'chat', data: 'hi', to: undefined });
  assert.equal(two.happening.from, null);
  assert.equal(two.happening.data, undefined);
});

test('G3 an event is announced once, however often it is sent; CON-6 none from before the connect', () => {
  const { state } = connected(0, { seq: 2 });
  const signal = (seq) => ({ ev: 'signal', seq, from: 'ada-id' });
  assert.deepEqual(kinds(hear(state, 0, signal(1), signal(2), signal(3), signal(3), signal(5), signal(4))), ['signal', 'signal']);
  assert.equal(state.seq, 5);
});

test('SIG-10 an online-only signal has no place and is always announced', () => {
  const { state } = connected();
  const typing = { ev: 'signal', from: 'ada-id', type: 'typing', data: '{}' };
  assert.deepEqual(kinds(hear(state, 0, typing, typing)), ['signal', 'signal']);
  assert.equal(state.seq, 2);
});

test('PRES-1 joining and leaving are announced in their order', () => {
  const { state } = connected();
  const effects = hear(
    state, 0,
    { ev: 'connectionCreated', seq: 3, connection: { connectionId: 'c', creationTime: 1, data: '' } },
    { ev: 'connectionDestroyed', seq: 4, connectionId: 'c', reason: 'networkDisconnected' },
  );
  assert.deepEqual(kinds(effects), ['connectionCreated', 'connectionDestroyed']);
  assert.equal(effects[1].happening.reason, 'networkDisconnected');
});

test('WIRE-9 a message of the wrong shape is warned of and the rest goes on', () => {
  const { state } = connected();
  const effects = hear(
    state, 0,
    undefined,
    { ev: 'signal', seq: 3 },
    { ev: 'signal', seq: 3, from: 'ada-id', data: 7 },
    { ev: 'connectionCreated', seq: 3 },
    { ev: 'connectionDestroyed', seq: 3 },
    { ev: 'signal', seq: 3, from: 'ada-id' },
  );
  assert.deepEqual(kinds(effects), ['warn', 'warn', 'warn', 'warn', 'warn', 'signal']);
});

test('HB-1 each ping is answered with a pong that has no id', () => {
  const { state } = connected();
  assert.deepEqual(hear(state, 0, { ev: 'ping', seq: 2 }), [{ do: 'send', socket: 1, message: { op: 'pong' } }]);
});

test('HB-2 a ping moves the place to which everything has been heard', () => {
  const { state } = connected();
  hear(state, 0, { ev: 'ping', seq: 7 });
  assert.equal(state.seq, 7);
  hear(state, 0, { ev: 'ping', seq: 5 });
  assert.equal(state.seq, 7);
});

test('HB-3 two silent heartbeats are a lost connection', () => {
  const { state } = connected(1000);
  state.handle({ event: 'signalRequested', tag: 't' }, 1000);
  assert.equal(state.nextDeadline, 21_000);
  assert.deepEqual(state.advance(20_999), []);
  const effects = state.advance(21_000);
  assert.deepEqual(kinds(effects), ['closeSocket', 'settle', 'end']);
  assert.equal(effects[0].code, 4001);
  assert.equal(effects[1].error.code, 500);
  assert.equal(effects[2].reason, 'networkDisconnected');
});

test('HB-3 anything heard is a sign of life', () => {
  const { state } = connected(0);
  hear(state, 15_000, { ev: 'somethingNew' });
  assert.equal(state.nextDeadline, 35_000);
  assert.deepEqual(state.advance(20_000), []);
  assert.equal(state.phase, 'connected');
});

test('HB-3 a page that slept listens for one more heartbeat before it gives up', () => {
  const { state } = connected(0);
  assert.deepEqual(state.advance(3_600_000), []);
  assert.equal(state.nextDeadline, 3_610_000);
  assert.deepEqual(kinds(state.advance(3_610_000)), ['closeSocket', 'end']);
});

test('LEAVE-1 leaving says so, closes with 1000, fails what waits, and ends', () => {
  const { state } = connected();
  state.handle({ event: 'signalRequested', tag: 't' }, 0);
  const effects = state.handle({ event: 'disconnectRequested' }, 0);
  assert.deepEqual(kinds(effects), ['send', 'closeSocket', 'settle', 'end']);
  assert.deepEqual(effects[0].message, { op: 'disconnect', id: 3 });
  assert.equal(effects[1].code, 1000);
  assert.equal(effects[3].reason, 'clientDisconnected');
});

test('LEAVE-1 leaving before being connected closes the socket and ends nothing', () => {
  for (const { state } of [opening(), connecting()]) {
    assert.deepEqual(kinds(state.handle({ event: 'disconnectRequested' }, 0)), ['closeSocket']);
    assert.equal(state.phase, 'idle');
  }
  assert.deepEqual(new ClientState({ random: () => 0.5 }).handle({ event: 'disconnectRequested' }, 0), []);
});

test('LEAVE-1 what the old socket still says is not heard by the next connection', () => {
  const { state } = connected();
  state.handle({ event: 'disconnectRequested' }, 0);
  state.handle({ event: 'connectRequested', ...credentials }, 0);
  assert.deepEqual(hear(state, 0, { ev: 'ack', id: 2 }, { ev: 'disconnected', reason: 'clientDisconnected', reconnect: false }), []);
  assert.deepEqual(state.handle({ event: 'socketClosed', socket: 1, code: 1000 }, 0), []);
  assert.equal(state.phase, 'opening');
});

test('LEAVE-3 being forced out ends with that reason, told in words or by close code alone', () => {
  const told = connected().state;
  assert.equal(hear(told, 0, { ev: 'disconnected', reason: 'forceDisconnected', reconnect: false }).at(-1).reason, 'forceDisconnected');
  assert.deepEqual(told.handle({ event: 'socketClosed', socket: 1, code: 4502 }, 0), []);
  const closed = connected().state;
  assert.equal(closed.handle({ event: 'socketClosed', socket: 1, code: 4502 }, 0).at(-1).reason, 'forceDisconnected');
});

test('LEAVE-4 nothing after disconnected is heard', () => {
  const { state } = connected();
  const effects = hear(state, 0, { ev: 'disconnected', reason: 'networkDisconnected', reconnect: true }, { ev: 'signal', seq: 3, from: null });
  assert.deepEqual(kinds(effects), ['closeSocket', 'end']);
});

test('CLOSE-1 a lost socket fails each waiting request with its own code and ends with networkDisconnected', () => {
  const { state } = connected();
  state.handle({ event: 'signalRequested', tag: 'signal' }, 0);
  state.handle({ event: 'forceDisconnectRequested', tag: 'force', connectionId: 'x' }, 0);
  const effects = state.handle({ event: 'socketClosed', socket: 1, code: 1006 }, 0);
  assert.deepEqual(effects.map((effect) => effect.error?.code ?? effect.reason), [500, 1010, 'networkDisconnected']);
  assert.equal(state.nextDeadline, null);
});
