// The history of a session: the option of `initSession`, the calls, and the events.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ada } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const gone = { connectionId: 'gone-id', creationTime: 1600000000000, data: 'Gone' };
const kept = (seq, more = {}) => ({ seq, from: gone.connectionId, connection: gone, time: 1600000000000 + seq, ...more });
const historyLine = (id, messages, more = {}) => ({ ev: 'history', id, first: 1, last: 9, more: false, messages, ...more });
const requestOf = (browser) => browser.socket.sent.at(-1);

test('HIS-5 the option is sent with the connect, within the limits of a page', () => {
  const optionOf = (history) => joined({ history }).browser.socket.sent[0].options.history;
  assert.deepEqual(optionOf({ last: 20 }), { last: 20 });
  assert.deepEqual(optionOf({ last: 1000 }), { last: 200 });
  assert.deepEqual(optionOf({}), { last: 50 });
  assert.deepEqual(optionOf({ after: 812, limit: 0 }), { after: 812, limit: 1 });
  assert.equal(optionOf(undefined), undefined);
});

test('HIS-5 an option that is none is left out, with a warning', () => {
  for (const history of [{ last: 'many' }, { after: -1 }, { after: 0.5 }]) {
    const { browser } = joined({ history });
    assert.equal(browser.socket.sent[0].options.history, undefined);
    assert.equal(browser.printed.filter(([level]) => level === 'warn').length, 1);
  }
});

test('HIS-5 the page of the connect is the event history, after sessionConnected', () => {
  const { browser, session, received, names } = joined({ history: { last: 50 }, changes: { history: true } });
  browser.socket.receive(historyLine(1, [
    kept(3, { type: 'chat', data: 'See you' }),
    { seq: 4, from: null, data: '{"a":1}', json: true, time: 1600000000004 },
    { ...kept(5), from: ada.connectionId, connection: ada, erased: true },
  ], { more: true }));
  assert.deepEqual([names()[0], names().at(-1)], ['sessionConnected', 'history']);
  const { page, target } = received.at(-1);
  assert.equal(target, session);
  assert.deepEqual([page.first, page.last, page.more], [1, 9, true]);
  const [first, second, third] = page.messages;
  assert.deepEqual(
    [first.from.connectionId, first.from.data, first.from.creationTime], ['gone-id', 'Gone', 1600000000000]
  );
  assert.equal(session.connections.get('gone-id'), undefined, 'a sender of the past is not in the session');
  assert.deepEqual({ ...first, from: null }, {
    seq: 3, from: null, type: 'signal:chat', data: 'See you', time: 1600000000003, erased: false,
  });
  assert.deepEqual(second, {
    seq: 4, from: null, type: 'signal', data: { a: 1 }, time: 1600000000004, erased: false,
  });
  assert.equal(third.from, session.connections.get('ada-id'), 'a sender who is there is the same Connection');
  assert.deepEqual({ ...third, from: null }, { seq: 5, from: null, time: 1600000000005, erased: true });
});

test('HIS-5 hasHistory and epoch are those of the last connected, and end with the connection', async () => {
  const { browser, session } = joined({ changes: { ...resumable, history: true } });
  assert.deepEqual([session.hasHistory, session.epoch], [true, 'e']);
  comeBack(browser);
  browser.socket.receive(resumedMessage(2));
  assert.deepEqual([session.hasHistory, session.epoch], [false, 'e']);
  comeBack(browser);
  browser.socket.receive(resumedMessage(3, { history: true }));
  assert.equal(session.hasHistory, true);
  comeBack(browser);
  browser.socket.receive(resumedMessage(4, { outcome: 'lost', epoch: 'f' }));
  assert.deepEqual([session.hasHistory, session.epoch], [false, 'f']);
  await session.disconnect();
  assert.deepEqual([session.hasHistory, session.epoch], [false, null]);
});

test('HIS-6 history asks for a page, and its promise has the page', async () => {
  const { browser, session } = joined();
  const asked = [
    [{ before: 812, limit: 20 }, { before: 812, limit: 20 }],
    [{ after: 0 }, { after: 0, limit: 50 }],
    [undefined, { limit: 50 }],
    [{ before: null, limit: 1000 }, { limit: 200 }],
  ];
  for (const [position, message] of asked) {
    const promise = session.history(position);
    const { id, ...sent } = requestOf(browser);
    assert.deepEqual(sent, { op: 'history', ...message });
    browser.socket.receive(historyLine(id, [kept(7, { data: 'x' })]));
    assert.deepEqual((await promise).messages.map(({ seq, data }) => [seq, data]), [[7, 'x']]);
  }
  const promise = session.history();
  browser.socket.receive({ ev: 'history', id: requestOf(browser).id, more: false, messages: [] });
  assert.deepEqual(await promise, { first: null, last: null, more: false, messages: [] });
});

test('HIS-8 a refused read rejects with the code and the name; a code that does not belong to it becomes 2001', async () => {
  const { browser, session, exceptions } = joined();
  for (const [code, passed, name] of [
    [403, 403, 'OT_PERMISSION_DENIED'], [404, 404, 'OT_NOT_FOUND'], [1004, 2001, 'OT_UNEXPECTED_SERVER_RESPONSE'],
  ]) {
    const promise = session.history();
    browser.socket.receive({ ev: 'error', id: requestOf(browser).id, code, name: 'x', message: 'no', retryable: false });
    await assert.rejects(promise, { code: passed, name, message: 'no' });
  }
  assert.deepEqual(exceptions, []);
});

test('HIS-6 a read of a session that is not connected, or without a sense, is rejected, and nothing is sent', async () => {
  const { browser, session } = joined();
  const sent = browser.socket.sent.length;
  for (const position of [{ before: 1, after: 2 }, { before: -1 }, { after: '7' }, { limit: 'all' }, { before: 2 ** 60 }]) {
    await assert.rejects(session.history(position), { code: 400 });
  }
  for (const erasure of [undefined, {}, { ref: 1, through: 2 }, { ref: 'x' }]) {
    await assert.rejects(session.erase(erasure), { code: 400 });
  }
  assert.equal(browser.socket.sent.length, sent);
  await session.disconnect();
  await assert.rejects(session.history(), { code: 500, name: 'OT_NOT_CONNECTED' });
  await assert.rejects(session.erase({ ref: 1 }), { code: 500 });
});

test('RES-9 the promise of a read survives a short cut', async () => {
  const { browser, session } = joined({ changes: resumable });
  const promise = session.history({ before: 9 });
  comeBack(browser);
  browser.socket.receive(resumedMessage(3));
  assert.deepEqual(requestOf(browser), { op: 'history', before: 9, limit: 50, id: 4 });
  browser.socket.receive(historyLine(4, [kept(8)]));
  assert.equal((await promise).messages.length, 1);
});

test('HIS-9 erase asks for one message or all up to one; messagesErased names what is gone', async () => {
  const { browser, session, received } = joined();
  for (const erasure of [{ ref: 7 }, { through: 9 }]) {
    const promise = session.erase(erasure);
    const { id, ...sent } = requestOf(browser);
    assert.deepEqual(sent, { op: 'erase', ...erasure });
    browser.socket.receive({ ev: 'erased', seq: 10 + id, ...erasure }, { ev: 'ack', id, seq: 10 + id });
    assert.equal(await promise, undefined);
    const { type, ref, through } = received.at(-1);
    assert.deepEqual({ type, ref, through }, { type: 'messagesErased', ref: undefined, through: undefined, ...erasure });
  }
});
