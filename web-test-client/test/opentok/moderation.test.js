// Moderation in the library: the calls, the events, and what holds for this client.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled } from '../../test-support/fakes/fake-browser.js';
import { comeBack, joined, moderator, page, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

const requestOf = (browser) => browser.socket.sent.at(-1);
const refusal = (id, code, more = {}) => ({ ev: 'error', id, code, name: 'x', message: 'no', retryable: false, ...more });
const soon = () => Date.now() + 60_000;

test('MOD-1 moderate sends the action, and its handler and its promise have the seq', async () => {
  const { browser, session } = joined({ changes: moderator });
  const results = [];
  for (const request of [
    { action: 'mute', user: 'u-17', seconds: 600, reason: 'Please stay on topic' },
    { action: 'mute', connectionId: 'ada-id' },
    { action: 'unmute', ref: 901 },
    { action: 'ban', user: 'u-17', eraseMessages: true },
    { action: 'unban', user: 'u-17' },
    { action: 'freeze', seconds: 60 },
    { action: 'unfreeze' },
  ]) {
    const promise = session.moderate(request, (...answer) => results.push(answer));
    const { id, op, ...sent } = requestOf(browser);
    assert.equal(op, 'moderate');
    assert.deepEqual(sent, request);
    browser.socket.receive({ ev: 'ack', id, seq: 900 + id });
    assert.deepEqual(await promise, { seq: 900 + id });
    assert.deepEqual(results.pop(), [undefined, { seq: 900 + id }]);
  }
});

test('MOD-1 members without a value are left out', () => {
  const { browser, session } = joined({ changes: moderator });
  session.moderate({ action: 'ban', user: 'u', seconds: null, reason: '', eraseMessages: false, connectionId: undefined });
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'moderate', action: 'ban', user: 'u' });
});

test('MOD-1 an action without a sense is refused, and nothing is sent', async () => {
  const { browser, session } = joined({ changes: moderator });
  const sent = browser.socket.sent.length;
  for (const request of [
    undefined, {}, { action: 'kick', user: 'u' }, { action: 'toString' }, { action: 'mute' },
    { action: 'mute', user: 'u', connectionId: 'c' }, { action: 'mute', ref: 3 }, { action: 'mute', user: '' },
    { action: 'mute', user: 'u'.repeat(129) }, { action: 'mute', user: 'u', seconds: 0 },
    { action: 'mute', user: 'u', seconds: 1.5 }, { action: 'mute', user: 'u', seconds: 31_536_001 },
    { action: 'mute', user: 'u', reason: 'x'.repeat(257) }, { action: 'mute', user: 'u', eraseMessages: true },
    { action: 'unmute', connectionId: 'c' }, { action: 'unmute', ref: -1 }, { action: 'unmute', user: 'u', seconds: 3 },
    { action: 'freeze', user: 'u' }, { action: 'unfreeze', reason: 'x' }, { action: 'ban', user: 'u', eraseMessages: 1 },
  ]) {
    const answers = [];
    const promise = session.moderate(request, (error) => answers.push(error.code));
    await assert.rejects(promise, { code: 400, name: 'OT_INVALID_PARAMETER' }, JSON.stringify(request));
    assert.deepEqual(answers, [400]);
  }
  assert.equal(browser.socket.sent.length, sent);
});

test('MOD-1 a refusal has the code and the name, and is no exception of the program', async () => {
  const { browser, session, exceptions } = joined();
  for (const [code, passed, name] of [
    [403, 403, 'OT_PERMISSION_DENIED'], [404, 404, 'OT_NOT_FOUND'], [400, 400, 'OT_INVALID_PARAMETER'],
    [1520, 2001, 'OT_UNEXPECTED_SERVER_RESPONSE'],
  ]) {
    const promise = session.moderate({ action: 'freeze' });
    browser.socket.receive(refusal(requestOf(browser).id, code));
    await assert.rejects(promise, { code: passed, name, message: 'no' });
  }
  assert.deepEqual(exceptions, []);
  session.disconnect();
  await assert.rejects(session.moderate({ action: 'freeze' }), { code: 500, name: 'OT_NOT_CONNECTED' });
  await assert.rejects(session.restrictions(), { code: 500 });
});

test('MOD-6 a moderator reads what holds, and hears of each action', async () => {
  const { browser, session, received } = joined({ changes: moderator });
  const held = [{ kind: 'mute', ref: 901, user: 'u-17', until: 5, reason: 'r', time: 1, by: { connectionId: 'b', user: 'u' } }];
  const answers = [];
  const promise = session.restrictions((...answer) => answers.push(answer));
  assert.deepEqual(requestOf(browser), { op: 'restrictions', id: 2 });
  browser.socket.receive({ ev: 'restrictions', id: 2, restrictions: held });
  assert.deepEqual(await promise, held);
  assert.deepEqual(answers, [[undefined, held]]);
  browser.socket.receive({ ev: 'moderated', seq: 9, action: 'mute', user: 'u-17', until: 5, by: { connectionId: 'b' } });
  const { type, seq, action, user, until, by } = received.at(-1);
  assert.deepEqual(
    { type, seq, action, user, until, by },
    { type: 'moderated', seq: 9, action: 'mute', user: 'u-17', until: 5, by: { connectionId: 'b' } },
  );
});

test('MOD-5 restrictedBy is what holds for this client: that of connected, and what the events change', () => {
  const mute = { kind: 'mute', until: soon(), reason: 'Please stay on topic' };
  const { browser, session, received } = joined({ changes: { restrictions: [mute] } });
  assert.deepEqual(session.restrictedBy, [mute]);
  browser.socket.receive({ ev: 'restricted', seq: 3, kind: 'freeze' });
  assert.deepEqual(session.restrictedBy, [{ kind: 'freeze' }, mute]);
  assert.deepEqual([received.at(-1).type, received.at(-1).restriction], ['restricted', { kind: 'freeze' }]);
  browser.socket.receive({ ev: 'unrestricted', seq: 4, kind: 'mute' });
  assert.deepEqual(session.restrictedBy, [{ kind: 'freeze' }]);
  assert.deepEqual([received.at(-1).type, received.at(-1).kind], ['unrestricted', 'mute']);
});

for (const hours of [0, -1, 1]) {
  test(`MOD-2 a restriction ends at until by itself, by the server’s clock; this one is ${hours} h ahead`, (t) => {
    // The connection is of the server's 1_700_000_000_500.
    const begin = 1_700_000_000_500 + hours * 3_600_000;
    t.mock.timers.enable({ apis: ['Date'], now: begin });
    const { session } = joined({ changes: { restrictions: [{ kind: 'mute', until: 1_700_000_060_500 }] } });
    t.mock.timers.setTime(begin + 59_999);
    assert.deepEqual([session.restrictedBy.length, session.serverTime], [1, 1_700_000_060_499]);
    t.mock.timers.setTime(begin + 60_000);
    assert.deepEqual(session.restrictedBy, []);
  });
}

test('MOD-5 a freeze does not hold for moderators, and what a resumed connection tells counts alone', () => {
  const one = joined({ changes: { ...moderator, restrictions: [{ kind: 'freeze' }] } });
  assert.deepEqual(one.session.restrictedBy, []);
  const other = joined({ changes: { ...resumable, restrictions: [{ kind: 'mute' }] } });
  comeBack(other.browser);
  other.browser.socket.receive(resumedMessage(2));
  assert.deepEqual(other.session.restrictedBy, []);
  comeBack(other.browser);
  other.browser.socket.receive(resumedMessage(3, { restrictions: [{ kind: 'freeze' }] }));
  assert.deepEqual(other.session.restrictedBy, [{ kind: 'freeze' }]);
  other.session.disconnect();
  assert.deepEqual(other.session.restrictedBy, []);
});

test('ERR-1 a signal that is refused because of a restriction tells which, and for how long', async () => {
  const { browser, session } = joined();
  const promise = session.signal({ data: 'x' });
  const mute = { kind: 'mute', until: soon(), reason: 'r' };
  browser.socket.receive(refusal(requestOf(browser).id, 403, { retryable: true, restriction: mute, retryAfter: 60_000 }));
  const error = await promise.then(() => assert.fail(), (failure) => failure);
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'name', 'restriction', 'retryAfter', 'stack']);
  assert.deepEqual([error.code, error.restriction, error.retryAfter], [403, mute, 60_000]);
  assert.deepEqual(session.restrictedBy, [mute]);
});

test('ERR-1 an error without a restriction has OpenTok’s members alone', async () => {
  const { browser, session } = joined();
  const promise = session.signal({ data: 'x' });
  browser.socket.receive(refusal(requestOf(browser).id, 403));
  const error = await promise.then(() => assert.fail(), (failure) => failure);
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'name', 'stack']);
  assert.deepEqual(session.restrictedBy, []);
});

test('MOD-3 sessionDisconnected of a banned client names the ban', async () => {
  const { browser, received, exceptions } = joined();
  const ban = { kind: 'ban', reason: 'No advertising' };
  browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false, restriction: ban });
  await settled();
  const { type, reason, error, restriction } = received.at(-1);
  assert.deepEqual(
    { type, reason, error, restriction }, { type: 'sessionDisconnected', reason: 'forceDisconnected', error: null, restriction: ban },
  );
  assert.deepEqual(exceptions, []);
});

test('MOD-3 a connect of a banned client fails with 1570, and so does its way back', async () => {
  const first = page();
  const answers = [];
  first.session.connect('T1==', (error) => answers.push(error));
  first.browser.socket.open();
  const ban = { kind: 'ban', until: soon() };
  first.browser.socket.receive(refusal(1, 1570, { restriction: ban, retryAfter: 60_000 }));
  assert.deepEqual(answers.map(({ code, name, restriction }) => [code, name, restriction]), [[1570, 'OT_USER_BANNED', ban]]);
  const failed = first.received.at(-1);
  assert.deepEqual([failed.type, failed.code, failed.error.restriction], ['sessionConnectFailed', 1570, ban]);
  const second = joined({ changes: resumable });
  comeBack(second.browser);
  second.browser.socket.receive(refusal(2, 1570, { restriction: { kind: 'ban' } }));
  await settled();
  const { reason, error, restriction } = second.received.at(-1);
  assert.deepEqual([reason, error.code, restriction], ['networkDisconnected', 1570, { kind: 'ban' }]);
});

test('MOD-3 a removed client that is not banned has no restriction', async () => {
  const { browser, received } = joined();
  browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false });
  await settled();
  assert.equal(received.at(-1).restriction, null);
});

test('HIS-9 the messages of a user are erased by their id', async () => {
  const { browser, session, received } = joined({ changes: moderator });
  const promise = session.erase({ user: 'u-17' });
  const { id, ...sent } = requestOf(browser);
  assert.deepEqual(sent, { op: 'erase', user: 'u-17' });
  browser.socket.receive({ ev: 'erased', seq: 12, user: 'u-17' }, { ev: 'ack', id, seq: 12 });
  assert.equal(await promise, undefined);
  const { type, user, before, ref, through } = received.at(-1);
  assert.deepEqual([type, user, before, ref, through], ['messagesErased', 'u-17', 12, undefined, undefined]);
  for (const erasure of [{ user: '' }, { user: 7 }, { user: 'u', ref: 1 }]) {
    await assert.rejects(session.erase(erasure), { code: 400 });
  }
});
