import assert from 'node:assert/strict';
import test from 'node:test';
import { ANSWER_TIMEOUT, ClientState } from '../../client/client-state.js';
import { CloseCode, Code } from '../../client/wire/codes.js';
import { classify } from '../../client/wire/wire.js';
import { ada, bob, connectedMessage } from '../../test-support/fakes/fake-browser.js';

const credentials = { apiKey: '100', sessionId: '1_x', token: 'T1==' };

function opening(now = 0) {
  const state = new ClientState({ random: () => 0.5 });
  const effects = state.handle({ is: 'connect', ...credentials }, now);
  return { state, effects };
}

function connecting(now = 0) {
  const { state } = opening(now);
  const effects = state.handle({ is: 'socketOpened', socket: 1 }, now);
  return { state, effects };
}

function connected(now = 0, changes = {}) {
  const { state } = connecting(now);
  const effects = receive(state, now, connectedMessage(changes));
  return { state, effects };
}

function receive(state, now, ...messages) {
  return messages.flatMap((message) => state.handle({ ...classify(message), socket: 1 }, now));
}

const kinds = (effects) => effects.map((effect) => effect.event?.name ?? effect.do);

test('CON-1 connect is the first message, sent when the socket is open', () => {
  assert.deepEqual(opening().effects, [{ do: 'openSocket', socket: 1 }]);
  assert.deepEqual(
    connecting().effects, [{ do: 'send', socket: 1, message: { op: 'connect', ...credentials, options: { connectionPages: true }, id: 1 } }]
  );
});

test('CON-4, CON-11 the options are sent, and the list of connections may always come in pages', () => {
  const state = new ClientState({ random: () => 0.5 });
  const options = { connectionEventsSuppressed: true };
  state.handle({ is: 'connect', ...credentials, options }, 0);
  const [effect] = state.handle({ is: 'socketOpened', socket: 1 }, 0);
  assert.deepEqual(effect.message.options, { ...options, connectionPages: true });
});

test('CON-5 a successful connect names the own connection and all others', () => {
  const { state, effects } = connected();
  assert.deepEqual(kinds(effects), ['connectSucceeded']);
  assert.deepEqual(effects[0].welcome.connections, [ada, bob]);
  assert.deepEqual(effects[0].welcome.connection, bob);
  assert.equal(state.seq, 2);
});

test('CON-3 a refused connect fails with the code of the server, and the socket is closed', () => {
  for (const code of [1004, 1005, 1027]) {
    const { state } = connecting();
    const effects = receive(state, 0, { ev: 'error', id: 1, code, name: 'X', message: 'no', retryable: false });
    assert.deepEqual(kinds(effects), ['closeSocket', 'connectFailed']);
    assert.deepEqual(effects[1].error, { code, message: 'no' });
    assert.equal(state.stateName, 'disconnected');
  }
});

test('ERR-1 a malformed answer to connect is an unexpected answer', () => {
  for (const answer of [
    undefined, {}, connectedMessage({ seq: 'two' }), connectedMessage({ connection: null }),
    connectedMessage({ heartbeatSeconds: 0 }),
  ]) {
    const { state } = connecting();
    assert.equal(receive(state, 0, answer).at(-1).error?.code, 2001, JSON.stringify(answer));
  }
});

test('CON-2 an answer that does not come in time is a failed connect', () => {
  const { state } = connecting(100);
  assert.equal(state.nextDeadline, 100 + ANSWER_TIMEOUT);
  assert.deepEqual(state.advance(100 + ANSWER_TIMEOUT - 1), []);
  const effects = state.advance(100 + ANSWER_TIMEOUT);
  assert.deepEqual(kinds(effects), ['closeSocket', 'connectFailed']);
  assert.equal(effects[1].error.code, 1006);
  assert.equal(state.nextDeadline, null);
});

test('CON-3 a socket that cannot be opened, or closes before the answer, is a failed connect', () => {
  for (const { state } of [opening(), connecting()]) {
    const effects = state.handle({ is: 'socketClosed', socket: 1, code: 1006 }, 0);
    assert.equal(effects.at(-1).error.code, 1006);
  }
});

test('CON-8 a second connect fails with 1015, and the first continues', () => {
  for (const { state } of [opening(), connecting(), connected()]) {
    const before = state.stateName;
    const [effect, ...others] = state.handle({ is: 'connect', ...credentials }, 0);
    assert.deepEqual(
      [effect.do, effect.error.code, others, state.stateName], ['connectFailed', Code.illegalState, [], before]
    );
  }
});

test('WIRE-6 an unknown event is ignored, before and after connecting', () => {
  const { state } = connecting();
  assert.deepEqual(receive(state, 0, { ev: 'somethingNew', seq: 9 }), []);
  receive(state, 0, connectedMessage());
  assert.deepEqual(receive(state, 0, { ev: 'somethingNew', seq: 9 }), []);
  assert.equal(state.seq, 2);
});

test('WIRE-7 absent members of a signal are absent on the wire', () => {
  const { state } = connected();
  assert.deepEqual(state.handle({ is: 'signal', call: 't' }, 0)[0].message, { op: 'signal', id: 2 });
  const whole = { type: 'chat', data: '', to: 'ada-id', onlineOnly: true };
  assert.deepEqual(
    state.handle({ is: 'signal', call: 't', ...whole }, 0)[0].message, { op: 'signal', id: 3, ...whole }
  );
  assert.equal('onlineOnly' in state.handle({ is: 'signal', call: 't', onlineOnly: false }, 0)[0].message, false);
});

test('WIRE-8 an answer completes the request with its id, once', () => {
  const { state } = connected();
  state.handle({ is: 'signal', call: 'first' }, 0);
  state.handle({ is: 'signal', call: 'second' }, 0);
  assert.deepEqual(
    receive(state, 0, { ev: 'ack', id: 3, seq: 4 }), [{ do: 'callSucceeded', call: 'second', generation: 1 }]
  );
  assert.deepEqual(receive(state, 0, { ev: 'ack', id: 3, seq: 4 }), []);
  assert.deepEqual(receive(state, 0, { ev: 'error', id: 2, code: 404, message: 'nobody' }), [
    { do: 'callFailed', call: 'first', error: { code: 404, message: 'nobody' }, generation: 1 },
  ]);
});

test('WIRE-8 an error without id completes nothing, and is only logged', () => {
  const { state } = connected();
  state.handle({ is: 'signal', call: 'first' }, 0);
  assert.deepEqual(kinds(receive(state, 0, { ev: 'error', code: 400, message: 'malformed' })), ['warn']);
});

test('SIG-4 a signal before connecting fails with 500, a forced disconnect with 1010', () => {
  for (const { state } of [{ state: new ClientState({ random: () => 0.5 }) }, opening(), connecting()]) {
    assert.equal(state.handle({ is: 'signal', call: 't' }, 0)[0].error.code, 500);
    assert.equal(state.handle({ is: 'forceDisconnect', call: 't', connectionId: 'x' }, 0)[0].error.code, 1010);
  }
});

test('SIG-7 a signal names its sender, null for the project’s own server', () => {
  const { state } = connected();
  const [one, two] = receive(
    state, 0,
    { ev: 'signal', seq: 3, from: 'ada-id', type: 'chat', data: 'hi' },
    { ev: 'signal', seq: 4, from: null },
  );
  assert.deepEqual(
    one.event,
    { name: 'signal', seq: 3, from: 'ada-id', connection: undefined, type: 'chat', data: 'hi', to: undefined }
  );
  assert.equal(two.event.from, null);
  assert.equal(two.event.data, undefined);
});

test('G3 an event is announced once, however often it is sent; CON-6 none from before the connect', () => {
  const { state } = connected(0, { seq: 2 });
  const signal = (seq) => ({ ev: 'signal', seq, from: 'ada-id' });
  assert.deepEqual(
    kinds(receive(state, 0, signal(1), signal(2), signal(3), signal(3), signal(5), signal(4))), ['signal', 'signal']
  );
  assert.equal(state.seq, 5);
});

test('SIG-10 an online-only signal has no seq and is always announced', () => {
  const { state } = connected();
  const typing = { ev: 'signal', from: 'ada-id', type: 'typing', data: '{}' };
  assert.deepEqual(kinds(receive(state, 0, typing, typing)), ['signal', 'signal']);
  assert.equal(state.seq, 2);
});

test('PRES-1 joining and leaving are announced in their order', () => {
  const { state } = connected();
  const effects = receive(
    state, 0,
    { ev: 'connectionCreated', seq: 3, connection: { connectionId: 'c', creationTime: 1, data: '' } },
    { ev: 'connectionDestroyed', seq: 4, connectionId: 'c', reason: 'networkDisconnected' },
  );
  assert.deepEqual(kinds(effects), ['connectionCreated', 'connectionDestroyed']);
  assert.equal(effects[1].event.reason, 'networkDisconnected');
});

test('G4 a malformed message ends the connection, because it may have been an event', () => {
  for (const message of [
    undefined, [], { ev: 'signal', seq: 3 }, { ev: 'signal', seq: 3, from: 'ada-id', data: 7 },
    { ev: 'signal', seq: '3', from: 'ada-id' }, { ev: 'connectionCreated', seq: 3 },
    { ev: 'connectionDestroyed', seq: 3 }, { ev: 'ack' }, { ev: 'error' },
  ]) {
    const { state } = connected();
    const effects = receive(state, 0, message, { ev: 'signal', seq: 4, from: 'ada-id' });
    assert.deepEqual(kinds(effects), ['warn', 'closeSocket', 'disconnected'], JSON.stringify(message));
    assert.equal(effects[1].code, CloseCode.normal);
  }
});

test('HB-1 each ping is answered with a pong that has no id', () => {
  const { state } = connected();
  assert.deepEqual(receive(state, 0, { ev: 'ping', seq: 2 }), [{ do: 'send', socket: 1, message: { op: 'pong' } }]);
});

test('HB-2 a ping advances the seq up to which the client has received everything', () => {
  const { state } = connected();
  receive(state, 0, { ev: 'ping', seq: 7 });
  assert.equal(state.seq, 7);
  receive(state, 0, { ev: 'ping', seq: 5 });
  assert.equal(state.seq, 7);
});

test('HB-3 two silent heartbeats are a lost connection', () => {
  const { state } = connected(1000);
  state.handle({ is: 'signal', call: 't' }, 1000);
  assert.equal(state.nextDeadline, 21_000);
  assert.deepEqual(state.advance(20_999), []);
  const effects = state.advance(21_000);
  assert.deepEqual(kinds(effects), ['closeSocket', 'callFailed', 'disconnected']);
  assert.equal(effects[0].code, 4001);
  assert.equal(effects[1].error.code, 500);
  assert.equal(effects[2].event.reason, 'networkDisconnected');
});

test('HB-1 a heartbeat is taken as between one second and one hour, as in Swift', () => {
  assert.equal(connected(0, { heartbeatSeconds: 0.001 }).state.nextDeadline, 2_000);
  assert.equal(connected(0, { heartbeatSeconds: 1e12 }).state.nextDeadline, 7_200_000);
});

test('HB-3 each message counts as a sign of life', () => {
  const { state } = connected(0);
  receive(state, 15_000, { ev: 'somethingNew' });
  assert.equal(state.nextDeadline, 35_000);
  assert.deepEqual(state.advance(20_000), []);
  assert.equal(state.stateName, 'connected');
});

test('HB-3 a page that was suspended waits one more heartbeat before silence counts as a loss', () => {
  const { state } = connected(0);
  assert.deepEqual(state.advance(3_600_000), []);
  assert.equal(state.nextDeadline, 3_610_000);
  assert.deepEqual(kinds(state.advance(3_610_000)), ['closeSocket', 'disconnected']);
});

test('LEAVE-1 disconnect waits for the server, which answers the requests before it', () => {
  const { state } = connected();
  state.handle({ is: 'signal', call: 't' }, 0);
  assert.deepEqual(
    state.handle({ is: 'disconnect' }, 0), [{ do: 'send', socket: 1, message: { op: 'disconnect', id: 3 } }]
  );
  assert.equal(state.stateName, 'disconnecting');
  assert.deepEqual(kinds(receive(state, 0, { ev: 'ack', id: 2, seq: 3 })), ['callSucceeded']);
  const effects = state.handle({ is: 'socketClosed', socket: 1, code: CloseCode.normal }, 0);
  assert.deepEqual(effects.map((effect) => effect.event), [{ name: 'disconnected', reason: 'clientDisconnected' }]);
  assert.equal(state.stateName, 'disconnected');
});

test('LEAVE-1 after disconnect the events belong to an older generation, which the driver drops', () => {
  const { state } = connected();
  state.handle({ is: 'disconnect' }, 0);
  const effects = [
    ...receive(state, 0, { ev: 'signal', seq: 3, from: 'ada-id' }),
    ...receive(state, 0, { ev: 'disconnected', reason: 'clientDisconnected', reconnect: false }),
  ];
  assert.deepEqual(kinds(effects), ['signal', 'closeSocket', 'disconnected']);
  for (const { event, generation } of effects) assert.ok(!event || generation < state.generation, event?.name);
});

test('LEAVE-1 disconnect before being connected closes the socket and fails the connect', () => {
  for (const { state } of [opening(), connecting()]) {
    assert.deepEqual(kinds(state.handle({ is: 'disconnect' }, 0)), ['closeSocket', 'connectFailed']);
    assert.equal(state.stateName, 'disconnected');
  }
  assert.deepEqual(new ClientState({ random: () => 0.5 }).handle({ is: 'disconnect' }, 0), []);
});

test('LEAVE-1 a new connect does not wait for the old socket, and ignores its messages', () => {
  const { state } = connected();
  state.handle({ is: 'disconnect' }, 0);
  const effects = state.handle({ is: 'connect', ...credentials }, 0);
  assert.deepEqual(kinds(effects), ['closeSocket', 'disconnected', 'openSocket']);
  assert.ok(effects[1].generation < state.generation);
  assert.deepEqual(
    receive(state, 0, { ev: 'ack', id: 2 }, { ev: 'disconnected', reason: 'clientDisconnected', reconnect: false }), []
  );
  assert.deepEqual(state.handle({ is: 'socketClosed', socket: 1, code: CloseCode.normal }, 0), []);
  assert.equal(state.stateName, 'opening');
});

test('PRES-2 a page that is left does not wait for the server', () => {
  for (const [before, expected] of [
    [[], ['send', 'closeSocket', 'disconnected']],
    [[{ is: 'disconnect' }], ['closeSocket', 'disconnected']],
  ]) {
    const { state } = connected();
    for (const input of before) state.handle(input, 0);
    assert.deepEqual(kinds(state.handle({ is: 'pageLeft' }, 0)), expected);
    assert.equal(state.stateName, 'disconnected');
  }
});

test('LEAVE-3 a forced disconnect ends with that reason, by message or by close code alone', () => {
  const state = connected().state;
  assert.equal(
    receive(state, 0, { ev: 'disconnected', reason: 'forceDisconnected', reconnect: false }).at(-1).event.reason,
    'forceDisconnected',
  );
  assert.deepEqual(state.handle({ is: 'socketClosed', socket: 1, code: CloseCode.forceDisconnected }, 0), []);
  const closed = connected().state;
  const [effect] = closed.handle({ is: 'socketClosed', socket: 1, code: CloseCode.forceDisconnected }, 0);
  assert.equal(effect.event.reason, 'forceDisconnected');
});

test('LEAVE-4 the client ignores messages after disconnected', () => {
  const { state } = connected();
  const effects = receive(
    state,
    0,
    { ev: 'disconnected', reason: 'networkDisconnected', reconnect: true },
    { ev: 'signal', seq: 3, from: null },
  );
  assert.deepEqual(kinds(effects), ['closeSocket', 'disconnected']);
});

test('CLOSE-1 a lost socket fails each waiting request with its own code and ends with networkDisconnected', () => {
  const { state } = connected();
  state.handle({ is: 'signal', call: 'signal' }, 0);
  state.handle({ is: 'forceDisconnect', call: 'force', connectionId: 'x' }, 0);
  const effects = state.handle({ is: 'socketClosed', socket: 1, code: 1006 }, 0);
  assert.deepEqual(
    effects.map((effect) => effect.error?.code ?? effect.event.reason), [500, 1010, 'networkDisconnected']
  );
  assert.equal(state.nextDeadline, null);
});
