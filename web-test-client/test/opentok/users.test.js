// The users of a session: `session.users` and the events. OpenTok's own events stay as they are.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ada, bob, settled } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const adaUser = { ...ada, user: 'u-17' };
const bobUser = { ...bob, user: 'u-3' };
const tab = { connectionId: 'ada-2', creationTime: 1700000001000, data: 'Ada', user: 'u-17' };
const withUsers = { connection: bobUser, connections: [adaUser, bobUser] };

/** The names of the events, with the user or the connection. */
const storyOf = (received) => received.map(({ type, user, connection }) => {
  return [type, user ?? connection?.connectionId].filter(Boolean).join(' ');
});
const usersOf = (session) => session.users.map(({ user, connections }) => [user, connections.map(({ id }) => id)]);

test('USR-2 a connection has the user of its token, and a guest has none', () => {
  const { session } = joined({ changes: { connection: bobUser, connections: [ada, bobUser] } });
  assert.equal(session.connection.user, 'u-3');
  assert.equal(session.connections.get('ada-id').user, null);
  assert.deepEqual(usersOf(session), [['u-3', ['bob-id']]]);
});

test('USR-3 userJoined follows the connectionCreated of the first connection, userLeft the departure of the last', () => {
  const { browser, session, received } = joined({ changes: withUsers });
  assert.deepEqual(storyOf(received), [
    'sessionConnected', 'connectionCreated ada-id', 'userJoined u-17', 'connectionCreated bob-id', 'userJoined u-3',
  ]);
  received.length = 0;
  browser.socket.receive({ ev: 'connectionCreated', seq: 3, connection: tab });
  assert.deepEqual(usersOf(session), [['u-17', ['ada-id', 'ada-2']], ['u-3', ['bob-id']]]);
  browser.socket.receive({ ev: 'connectionDestroyed', seq: 4, connectionId: 'ada-id', reason: 'clientDisconnected' });
  browser.socket.receive({ ev: 'connectionDestroyed', seq: 5, connectionId: 'ada-2', reason: 'clientDisconnected' });
  assert.deepEqual(storyOf(received), [
    'connectionCreated ada-2', 'connectionDestroyed ada-id', 'connectionDestroyed ada-2', 'userLeft u-17',
  ]);
  assert.deepEqual(usersOf(session), [['u-3', ['bob-id']]]);
});

test('USR-3 the users are those of the new list when sessionReconnected comes', () => {
  const seen = [];
  const { browser, session } = joined({ changes: { ...withUsers, ...resumable } });
  session.on('sessionReconnected', () => seen.push(usersOf(session)));
  comeBack(browser);
  browser.socket.receive(resumedMessage(2, { outcome: 'lost', connection: bobUser, connections: [tab, bobUser] }));
  assert.deepEqual(seen, [[['u-3', ['bob-id']], ['u-17', ['ada-2']]]]);
});

test('USR-3 after recovered a user of both lists has neither left nor joined, the own one included', () => {
  const { browser, received } = joined({ changes: { ...withUsers, ...resumable } });
  received.length = 0;
  comeBack(browser);
  const own = { ...bobUser, connectionId: 'bob-2' };
  const cy = { connectionId: 'cy-id', creationTime: 1700000002000, data: 'Cy', user: 'u-5' };
  browser.socket.receive(resumedMessage(2, { outcome: 'recovered', connection: own, connections: [tab, cy, own] }));
  assert.deepEqual(storyOf(received), [
    'sessionReconnecting', 'connectionDestroyed ada-id', 'connectionDestroyed bob-id', 'connectionCreated ada-2',
    'connectionCreated cy-id', 'connectionCreated bob-2', 'userJoined u-5', 'sessionReconnected',
  ]);
});

test('USR-3 after lost a user who is gone has left once', () => {
  const { browser, session, received } = joined({ changes: { ...withUsers, ...resumable } });
  received.length = 0;
  comeBack(browser);
  browser.socket.receive(resumedMessage(2, { outcome: 'lost', connection: bobUser, connections: [bobUser] }));
  assert.deepEqual(storyOf(received), [
    'sessionReconnecting', 'connectionDestroyed ada-id', 'userLeft u-17', 'sessionReconnected',
  ]);
  assert.deepEqual(usersOf(session), [['u-3', ['bob-id']]]);
});

test('USR-3 after the end nobody is there, and nobody is said to leave; the next connect begins anew', async () => {
  const { browser, session, received } = joined({ changes: withUsers });
  received.length = 0;
  session.disconnect();
  assert.deepEqual(session.users, []);
  await settled();
  assert.deepEqual(storyOf(received), ['sessionDisconnected']);
  assert.equal(browser.sockets.length, 1);
});

test('USR-3 a handler that disconnects gets no more of the users', () => {
  const { browser, session, received } = joined({ changes: { ...withUsers, ...resumable } });
  received.length = 0;
  session.on('connectionCreated', () => session.disconnect());
  browser.socket.receive({ ev: 'connectionCreated', seq: 3, connection: { ...tab, user: 'u-9' } });
  assert.deepEqual(storyOf(received), ['connectionCreated ada-2']);
});

test('CON-4 a program that suppresses presence gets no events of users', () => {
  const { received, session } = joined({
    connectionEventsSuppressed: true, changes: { connection: bobUser, connections: [bobUser] },
  });
  assert.deepEqual(storyOf(received), ['sessionConnected']);
  assert.deepEqual(usersOf(session), [['u-3', ['bob-id']]]);
});
