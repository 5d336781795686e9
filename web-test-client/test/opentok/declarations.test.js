import assert from 'node:assert/strict';
import test from 'node:test';
import * as entry from '../../opentok/index.js';
import { declaredMembers, declaredNames } from '../../test-support/types/declarations.js';
import { settled } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const { OT, session, received, exceptions, browser } = joined({
  history: { last: 1 }, changes: { ...resumable, history: true },
});
const kept = { seq: 2, from: null, type: 'chat', data: 'x', time: 1, changed: 2, edited: 2, reactions: [], reacted: 2 };
browser.socket.receive({
  ev: 'history', id: 1, first: 2, last: 2, more: false, changedThrough: 2, all: false, messages: [kept], mine: [],
});
session.forceDisconnect('x');
browser.socket.receive({ ev: 'signal', seq: 3, from: null });

comeBack(browser);
browser.socket.receive(resumedMessage(2, { seq: 3 }));
const { connection } = session;
browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false });
await settled();

const named = (type) => received.find((event) => event.type === type);

const subjects = {
  Library: OT,
  Session: session,
  Connection: connection,
  Capabilities: session.capabilities,
  Collection: session.connections,
  Publisher: OT.initPublisher(),
  Subscriber: session.subscribe({ streamId: 's' }, () => {}),
  Stream: new OT.Stream({ id: 's' }),
  Signal: new OT.Signal({}),
  SessionConnectEvent: named('sessionConnected'),
  SessionReconnectEvent: named('sessionReconnected'),
  SessionDisconnectEvent: named('sessionDisconnected'),
  ConnectionEvent: named('connectionCreated'),
  SignalEvent: named('signal'),
  HistoryEvent: named('history'),
  HistoryPage: named('history').page,
  HistoryMessage: named('history').page.messages[0],
  ExceptionEvent: exceptions[0],
};

/** The members of a value that an application can reach, except those that every object has. */
function membersOf(value) {
  const names = new Set();
  for (let level = value; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) if (name !== 'constructor') names.add(name);
  }
  return names;
}

/** Applications read collections; the library alone fills them. OpenTok's types have no `emit` of media objects. */
const OURS_ALONE = { Collection: ['add', 'remove', 'clear'], Publisher: ['emit'], Subscriber: ['emit'] };

for (const [name, subject] of Object.entries(subjects)) {
  test(`opentok.d.ts declares exactly the members of ${name}`, () => {
    const there = [...membersOf(subject)].filter((member) => !OURS_ALONE[name]?.includes(member));
    assert.deepEqual([...declaredMembers(name)].sort(), there.sort());
  });
}

test('opentok.d.ts declares exactly the names that index.js exports', () => {
  const { default: whole, ...named } = entry;
  assert.deepEqual(declaredNames().sort(), Object.keys(named).sort());
  assert.equal(typeof whole.initSession, 'function');
});
