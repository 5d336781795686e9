// Reactions and read markers: what the session object offers, and what programs that know only OpenTok see of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const permitting = { history: true, changes: ['edit', 'erase', 'react'] };
const requestOf = (browser) => browser.socket.sent.at(-1);
const thumb = { ref: 812, keys: ['👍'] };

/** A session, and the events of these names. */
function listening(changes, ...names) {
  const { browser, session } = joined({ changes });
  const heard = [];
  for (const name of names) session.on(name, ({ type, ref, reactions, keys, seq, user, through }) => {
    heard.push({ type, ref, reactions, keys, seq, user, through });
  });
  return { browser, session, heard };
}

test('CHG-11 react sends the whole set, and ends with the answer, which has no seq', async () => {
  const { browser, session } = joined({ changes: permitting });
  const handled = [];
  const promise = session.react(thumb, (...given) => handled.push(given));
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'react', ...thumb });
  browser.socket.receive({ ev: 'ack', id });
  assert.equal(await promise, undefined);
  assert.deepEqual(handled, [[undefined, undefined]]);
  session.react({ ref: 812, keys: [] }).catch(() => {});
  assert.deepEqual(requestOf(browser), { op: 'react', ref: 812, keys: [], id: id + 1 });
});

test('CHG-11 a reaction without a sense is rejected, and nothing is sent', async () => {
  const { browser, session } = joined({ changes: permitting });
  const sent = browser.socket.sent.length;
  for (const given of [
    undefined, {}, { ref: 1 }, { keys: ['👍'] }, { ref: '1', keys: [] }, { ref: 1, keys: '👍' }, { ref: 1, keys: [''] },
    { ref: 1, keys: [1] }, { ref: 1, keys: ['x'.repeat(33)] },
  ]) await assert.rejects(session.react(given), { code: 400 }, JSON.stringify(given));
  for (const given of [undefined, {}, { ref: 1, key: 1 }]) await assert.rejects(session.reactors(given), { code: 400 });
  for (const given of [undefined, {}, { through: -1 }]) await assert.rejects(session.markRead(given), { code: 400 });
  assert.equal(browser.socket.sent.length, sent);
});

test('RES-9 a reaction survives a short cut, with its id; a read marker does not', async () => {
  const { browser, session } = joined({ changes: { ...permitting, ...resumable } });
  const reacts = session.react(thumb);
  const marks = session.markRead({ through: 820 });
  assert.deepEqual(requestOf(browser), { op: 'read', through: 820, id: 3 });
  comeBack(browser);
  browser.socket.receive(resumedMessage(4, permitting));
  assert.deepEqual(requestOf(browser), { op: 'react', ...thumb, id: 2 });
  await assert.rejects(marks, { code: 500 });
  browser.socket.receive({ ev: 'ack', id: 2 });
  await reacts;
});

test('RES-9 a reaction fails with 500 when another connection has taken the place of its own', async () => {
  const { browser, session } = joined({ changes: { ...permitting, ...resumable } });
  const reacts = session.react(thumb);
  comeBack(browser);
  browser.socket.receive({ ...resumedMessage(3, permitting), outcome: 'recovered' });
  await assert.rejects(reacts, { code: 500 });
});

test('CHG-14 reactors asks who has reacted, and asks again on the next socket', async () => {
  const { browser, session } = joined({ changes: { ...permitting, ...resumable } });
  const promise = session.reactors({ ref: 812, key: '👍' });
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'reactors', ref: 812, key: '👍' });
  comeBack(browser);
  browser.socket.receive(resumedMessage(3, permitting));
  const again = requestOf(browser);
  assert.equal(again.op, 'reactors');
  assert.notEqual(again.id, id);
  const reactors = [{ key: '👍', count: 412, users: ['u-1', 'u-2'] }];
  browser.socket.receive({ ev: 'reactors', id: again.id, ref: 812, reactors });
  assert.deepEqual(await promise, reactors);
});

test('CHG-12 the events of reactions are told once, and no other event', () => {
  const { browser, heard } = listening(permitting, 'reactionsChanged', 'ownReactionsChanged', 'signal', 'messageChanged');
  const reactions = [{ key: '👍', count: 3 }];
  browser.socket.receive({ ev: 'reactions', seq: 830, ref: 812, reactions });
  browser.socket.receive({ ev: 'reactions', seq: 830, ref: 812, reactions });
  browser.socket.receive({ ev: 'reacted', seq: 831, ref: 812, keys: ['👍'] });
  const none = { reactions: undefined, keys: undefined, user: undefined, through: undefined };
  assert.deepEqual(heard, [
    { ...none, type: 'reactionsChanged', ref: 812, reactions, seq: 830 },
    { ...none, type: 'ownReactionsChanged', ref: 812, keys: ['👍'], seq: 831 },
  ]);
});

test('CHG-13 a page has the reactions of its messages, and the user’s own', async () => {
  const { browser, session } = joined({ changes: permitting });
  const promise = session.history();
  const reactions = [{ key: '👍', count: 3 }];
  const kept = { seq: 812, from: null, data: 'x', time: 5, reactions, reacted: 830 };
  browser.socket.receive({
    ev: 'history', id: requestOf(browser).id, first: 812, last: 812, more: false, messages: [kept], mine: [thumb],
  });
  const page = await promise;
  assert.deepEqual([page.messages[0].reactions, page.messages[0].reacted, page.mine], [reactions, 830, [thumb]]);
});

test('READ-1 markRead tells a marker, READ-3 readState and its event have those of others', async () => {
  const read = { markers: 'shared', through: 815, unread: 17, readers: [{ user: 'u-2', through: 812 }] };
  const user = 'u-1';
  const { browser, session, heard } = listening({ ...permitting, read }, 'messagesRead');
  assert.deepEqual(session.readState, read);
  const promise = session.markRead({ through: 820 });
  browser.socket.receive({ ev: 'ack', id: requestOf(browser).id });
  await promise;
  session.connection.user = user;
  browser.socket.receive({ ev: 'read', user: 'u-2', through: 820 });
  browser.socket.receive({ ev: 'read', user, through: 820 });
  assert.deepEqual(heard.map(({ user, through }) => [user, through]), [['u-2', 820], [user, 820]]);
  assert.deepEqual(session.readState, { markers: 'shared', through: 820, readers: [{ user: 'u-2', through: 820 }] });
  browser.socket.receive({ ev: 'erased', seq: 900, user: 'u-2' });
  assert.deepEqual(session.readState.readers, []);
  await session.disconnect();
  assert.equal(session.readState, null);
});

test('WIRE-9 malformed reactions and markers end the connection', () => {
  for (const message of [
    { ev: 'reactions', seq: 3, ref: 1 }, { ev: 'reactions', seq: 3, ref: 1, reactions: [{ key: '👍' }] },
    { ev: 'reactions', seq: 3, reactions: [] }, { ev: 'reacted', seq: 3, ref: 1, keys: [1] },
    { ev: 'reacted', ref: 1, keys: [] }, { ev: 'read', user: 'u', through: '3' }, { ev: 'read', through: 3 },
    { ev: 'reactors', id: 9, ref: 1, reactors: [{ key: '👍', count: 1 }] },
  ]) {
    const { browser, session } = joined({ changes: permitting });
    browser.socket.receive(message);
    assert.equal(session.isConnected(), false, JSON.stringify(message));
  }
});
