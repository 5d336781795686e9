// Messages that change: what the session object offers, and what programs that know only OpenTok see of it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ada } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const permitting = { history: true, changes: ['edit', 'erase'] };
const requestOf = (browser) => browser.socket.sent.at(-1);

test('CHG-1 change sends an edit, and its promise and its handler have the seq of the change', async () => {
  const { browser, session } = joined({ changes: permitting });
  const handled = [];
  const promise = session.change({ ref: 812, rel: 'edit', data: 'x' }, (error, result) => handled.push([error, result]));
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'change', ref: 812, rel: 'edit', data: 'x' });
  browser.socket.receive({ ev: 'ack', id, seq: 933 });
  assert.deepEqual(await promise, { seq: 933 });
  assert.deepEqual(handled, [[undefined, { seq: 933 }]]);
  session.change({ ref: 0, rel: 'edit', data: { a: 1 } }).catch(() => {});
  assert.deepEqual(requestOf(browser), { op: 'change', ref: 0, rel: 'edit', data: '{"a":1}', json: true, id: id + 1 });
});

test('CHG-1 a change without a sense is rejected, and nothing is sent', async () => {
  const { browser, session } = joined({ changes: permitting });
  const sent = browser.socket.sent.length;
  const circle = {};
  circle.circle = circle;
  for (const change of [
    undefined, {}, { ref: 1, rel: 'edit' }, { ref: 1, rel: 'edit', data: null }, { ref: '1', rel: 'edit', data: 'x' },
    { ref: -1, rel: 'edit', data: 'x' }, { ref: 1, rel: 'paint', data: 'x' }, { ref: 1, rel: 'edit', data: circle },
    { ref: 1, rel: 'edit', data: () => {} }, { ref: 1, rel: 'edit', data: 'x'.repeat(8193) },
  ]) {
    await assert.rejects(session.change(change), { code: 400 }, JSON.stringify(Object.keys(change ?? {})));
  }
  assert.equal(browser.socket.sent.length, sent);
  session.change({ ref: 1, rel: 'edit', data: '"'.repeat(8192) }).catch(() => {});
  assert.equal(browser.socket.sent.length, sent + 1);
  await session.disconnect();
  await assert.rejects(session.change({ ref: 1, rel: 'edit', data: 'x' }), { code: 500 });
});

test('CHG-5 a refusal keeps its code, and one because of a mute says what holds', async () => {
  const { browser, session } = joined({ changes: permitting });
  const refuse = async (code, more = {}) => {
    const promise = session.change({ ref: 1, rel: 'edit', data: 'x' });
    browser.socket.receive({ ev: 'error', id: requestOf(browser).id, code, name: 'x', message: 'no', retryable: false, ...more });
    return promise.catch((error) => error.code);
  };
  for (const code of [403, 404, 413, 429]) assert.equal(await refuse(code), code);
  assert.deepEqual(session.restrictedBy, []);
  assert.equal(await refuse(403, { restriction: { kind: 'mute' } }), 403);
  assert.deepEqual(session.restrictedBy, [{ kind: 'mute' }]);
});

test('RES-9 the promise of a change survives a short cut', async () => {
  const { browser, session } = joined({ changes: { ...permitting, ...resumable } });
  const promise = session.change({ ref: 1, rel: 'edit', data: 'x' });
  comeBack(browser);
  browser.socket.receive(resumedMessage(3, permitting));
  assert.deepEqual(requestOf(browser), { op: 'change', ref: 1, rel: 'edit', data: 'x', id: 2 });
  browser.socket.receive({ ev: 'ack', id: 2, seq: 9 });
  assert.deepEqual(await promise, { seq: 9 });
});

test('CHG-2 messageChanged says what has changed, and who has done it', () => {
  const { browser, session, received } = joined({ changes: permitting });
  const gone = { connectionId: 'gone-id', creationTime: 1, data: 'Gone' };
  const line = (seq, more) => ({ ev: 'change', seq, ref: 1, rel: 'edit', from: ada.connectionId, data: 'x', ...more });
  browser.socket.receive(line(10), line(11, { from: null, data: '{"a":1}', json: true }));
  browser.socket.receive(line(12, { from: 'gone-id', connection: gone }), line(13, { from: 'unknown', rel: 'paint', data: undefined }));
  const [first, second, third, fourth] = received.slice(-4);
  assert.equal(first.type, 'messageChanged');
  assert.equal(first.target, session);
  assert.equal(first.from, session.connections.get('ada-id'));
  const { seq, ref, rel, data } = first;
  assert.deepEqual({ seq, ref, rel, data }, { seq: 10, ref: 1, rel: 'edit', data: 'x' });
  assert.deepEqual([second.from, second.data], [null, { a: 1 }]);
  assert.deepEqual([third.from.connectionId, third.from.data], ['gone-id', 'Gone']);
  assert.deepEqual([fourth.from.connectionId, fourth.rel, fourth.data], ['unknown', 'paint', undefined]);
});

test('CHG-3 changes is what the last connected permits, and ends with the connection', async () => {
  const { browser, session } = joined({ changes: { ...permitting, ...resumable } });
  assert.deepEqual(session.changes, ['edit', 'erase']);
  comeBack(browser);
  browser.socket.receive(resumedMessage(2, { history: true, changes: [] }));
  assert.deepEqual(session.changes, []);
  comeBack(browser);
  browser.socket.receive(resumedMessage(3, { history: true }));
  assert.equal(session.changes, null);
  comeBack(browser);
  browser.socket.receive(resumedMessage(4, { outcome: 'lost', history: true, changes: ['edit'] }));
  assert.deepEqual(session.changes, ['edit']);
  await session.disconnect();
  assert.equal(session.changes, null);
});

test('CHG-9 history asks for what has changed; a page has the forms, and says where to go on', async () => {
  const { browser, session } = joined({ changes: permitting });
  const promise = session.history({ changedAfter: 931 });
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'history', changedAfter: 931, limit: 50 });
  const kept = { seq: 7, from: 'ada-id', connection: ada, type: 'chat', data: 'y', time: 5, changed: 933, edited: 6 };
  browser.socket.receive({ ev: 'history', id, first: 1, last: 9, more: true, changedThrough: 933, messages: [kept] });
  const { messages: [message], ...page } = await promise;
  assert.deepEqual(page, { first: 1, last: 9, more: true, changedThrough: 933 });
  assert.deepEqual([message.data, message.changed, message.edited, message.erased], ['y', 933, 6, false]);
  for (const messages of [undefined, []]) {
    const next = session.history({ changedAfter: 933 });
    browser.socket.receive({
      ev: 'history', id: requestOf(browser).id, first: 1, last: 9, more: false, changedThrough: 940, all: true, messages,
    });
    assert.deepEqual(await next, { first: 1, last: 9, more: false, changedThrough: 940, all: true, messages: [] });
  }
  for (const position of [{ before: 1, changedAfter: 2 }, { after: 1, changedAfter: 2 }, { changedAfter: 'x' }]) {
    await assert.rejects(session.history(position), { code: 400 });
  }
});

test('CHG-3 a change is one event, which OpenTok has not', () => {
  const { browser, names } = joined({ changes: permitting });
  const before = names().length;
  browser.socket.receive({ ev: 'change', seq: 10, ref: 1, rel: 'edit', from: 'ada-id', data: 'x' });
  assert.deepEqual(names().slice(before), ['messageChanged']);
});
