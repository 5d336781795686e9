import assert from 'node:assert/strict';
import test from 'node:test';
import { Emitter } from '../../opentok/api/emitter.js';
import { SessionChannel } from '../../text-chat/session-channel.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

const ada = { connectionId: 'ada-id', data: 'Ada' };

/** A session that records its calls. */
class StubSession extends Emitter {
  connection = null;
  sent = [];

  signal(options, handler) {
    this.sent.push({ options, handler });
  }
}

function channelOn(session) {
  const received = [];
  return { received, channel: new SessionChannel(session, (event) => received.push(event)) };
}

test('CHAT a session’s events become events of the channel, and none arrives after stop', () => {
  const session = new StubSession();
  const { received, channel } = channelOn(session);
  assert.equal(channel.connectionId, null);
  session.connection = { connectionId: 'me' };
  session.emit('sessionConnected', {});
  session.emit('connectionCreated', { connection: ada });
  session.emit('signal', { type: 'signal:text-chat', data: '{}', from: ada });
  session.emit('signal', { type: 'signal:text-chat', data: { text: 'hi' }, from: ada });
  session.emit('signal', { type: 'signal', from: null });
  session.emit('sessionReconnecting', {});
  session.emit('sessionReconnected', { outcome: 'resumed' });
  session.emit('sessionReconnected', { outcome: 'lost' });
  session.emit('connectionDestroyed', { connection: ada });
  session.emit('sessionDisconnected', {});
  channel.stop();
  session.emit('signal', { type: 'signal', from: null });
  assert.deepEqual(received, [
    { kind: 'connected', connectionId: 'me' },
    { kind: 'connectionCreated', connection: ada },
    { kind: 'signal', type: 'text-chat', data: '{}', from: ada, seq: null },
    { kind: 'signal', type: 'text-chat', data: '{"text":"hi"}', from: ada, seq: null },
    { kind: 'signal', type: undefined, data: undefined, from: null, seq: null },
    { kind: 'reconnecting' },
    { kind: 'reconnected', connectionId: 'me' },
    { kind: 'lost' },
    { kind: 'reconnected', connectionId: 'me' },
    { kind: 'connectionDestroyed', connection: ada },
    { kind: 'disconnected' },
  ]);
});

test('MOD-5 what keeps the user from writing is what the session says; one of another library says nothing', () => {
  const session = new StubSession();
  const { received, channel } = channelOn(session);
  assert.equal(channel.restriction(), null);
  session.restrictedBy = [{ kind: 'freeze' }, { kind: 'mute', until: 5 }];
  session.emit('restricted', {});
  session.emit('unrestricted', {});
  assert.deepEqual(received, [{ kind: 'restrictionsChanged' }, { kind: 'restrictionsChanged' }]);
  assert.deepEqual(channel.restriction(), { kind: 'freeze' });
  session.restrictedBy = [];
  assert.equal(channel.restriction(), null);
});

test('CHAT-9 a session of this library has a history, and any other has none', async () => {
  const session = new StubSession();
  const { received, channel } = channelOn(session);
  assert.equal(channel.hasHistory, false);
  assert.equal(channel.epoch, null);
  const kept = { seq: 3, from: ada, type: 'signal:text-chat', data: { text: 'hi' }, time: 5 };
  const page = { first: 3, last: 4, more: false, messages: [kept, { seq: 4, from: null, time: 6, erased: true }] };
  const asked = [];
  Object.assign(session, { hasHistory: true, epoch: 'e', history: async (request) => (asked.push(request), page) });
  assert.equal(channel.hasHistory, true);
  assert.equal(channel.epoch, 'e');
  const messages = [
    { seq: 3, from: ada, type: 'text-chat', data: '{"text":"hi"}', time: 5 },
    { seq: 4, from: null, type: undefined, data: undefined, time: 6, erased: true },
  ];
  assert.deepEqual(await channel.history({ before: 5, limit: 2 }), { ...page, messages });
  assert.deepEqual(asked, [{ before: 5, limit: 2 }]);
  session.emit('history', { page });
  session.emit('messagesErased', { ref: 3 });
  session.emit('messagesErased', { through: 4 });
  session.emit('messagesErased', { user: 'u-17', before: 9 });
  assert.deepEqual(received, [
    { kind: 'history', page: { ...page, messages } }, { kind: 'erased', ref: 3 }, { kind: 'erased', through: 4 },
    { kind: 'erased', user: 'u-17', before: 9 },
  ]);
});

test('TYP-1 a directed signal names the connection, and fails if it is not in the session', async () => {
  const session = new StubSession();
  session.connections = new Map([[ada.connectionId, ada]]);
  const { channel } = channelOn(session);
  const sent = channel.send({ type: 'typing', onlineOnly: true, to: ada.connectionId });
  assert.deepEqual(session.sent[0].options, { type: 'typing', onlineOnly: true, to: ada });
  session.sent[0].handler();
  await sent;
  await assert.rejects(channel.send({ type: 'typing', onlineOnly: true, to: 'gone' }), { code: 404 });
  assert.equal(session.sent.length, 1);
});

test('CHAT send ends with the result of the session’s handler', async () => {
  const session = new StubSession();
  const { channel } = channelOn(session);
  const results = [channel.send({ type: 'text-chat', data: 'a' }), channel.send({ type: 'text-chat', data: 'b' })];
  session.sent[0].handler();
  session.sent[1].handler({ code: 403, message: 'no' });
  assert.deepEqual(await results[0], {});
  await assert.rejects(results[1], { code: 403 });
});

test('USR-2 a session of this library tells one’s own user, and any other none', () => {
  const session = new StubSession();
  const { channel } = channelOn(session);
  assert.equal(channel.user, null);
  session.connection = { connectionId: 'me' };
  assert.equal(channel.user, null);
  session.connection = { connectionId: 'me', user: 'u-3' };
  assert.equal(channel.user, 'u-3');
});

test('ERR-1 a message that a restriction has stopped has failed with it', async () => {
  const session = new StubSession();
  session.connection = { connectionId: 'me', user: 'u-3' };
  const { channel } = channelOn(session);
  const chat = new TextChatComponent({ channel });
  chat.edit('hi');
  const sending = chat.send(0, '1');
  const restriction = { kind: 'mute', until: 5 };
  session.sent.at(-1).handler({ code: 403, message: 'muted', restriction });
  const { outcome, failure } = await sending;
  assert.deepEqual([outcome, failure], ['failed', { code: 403, message: 'muted', restriction }]);
});

test('CHG-2 a change of a message becomes an event of the channel, and what is asked goes to the session', async () => {
  const session = new StubSession();
  const asked = [];
  for (const name of ['change', 'erase', 'history']) {
    session[name] = async (request) => {
      asked.push([name, request]);
      return name === 'history' ? { more: false, messages: [], changedThrough: 9, all: true } : { seq: 9 };
    };
  }
  const { received, channel } = channelOn(session);
  assert.equal(channel.changes, null);
  session.changes = ['edit'];
  assert.deepEqual(channel.changes, ['edit']);
  session.emit('messageChanged', { seq: 9, ref: 5, rel: 'edit', from: ada, data: { text: 'hi' } });
  session.emit('messageChanged', { seq: 10, ref: 5, rel: 'paint', from: null, data: undefined });
  assert.deepEqual(received, [
    { kind: 'changed', seq: 9, ref: 5, rel: 'edit', data: '{"text":"hi"}' },
    { kind: 'changed', seq: 10, ref: 5, rel: 'paint', data: undefined },
  ]);
  assert.deepEqual(await channel.change({ ref: 5, rel: 'edit', data: 'x' }), { seq: 9 });
  await channel.erase({ ref: 5 });
  const page = await channel.history({ changedAfter: 3, limit: 200 });
  assert.deepEqual([page.changedThrough, page.all], [9, true]);
  assert.deepEqual(asked, [
    ['change', { ref: 5, rel: 'edit', data: 'x' }], ['erase', { ref: 5 }], ['history', { changedAfter: 3, limit: 200 }],
  ]);
});
