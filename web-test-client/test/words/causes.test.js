import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import {
  causeOfEnd, causeOfFailedConnect, causeOfFailure, causeOfUnsent, endOf, mayComeBack,
} from '../../chat/words/causes.js';
import { errorForClose, mayReconnectAfter, reasonForClose } from '../../client/reconnect-policy.js';

const PROTOCOL = readFileSync(new URL('../../../docs/PROTOCOL.md', import.meta.url), 'utf8');

/** The codes in the first column of the table of a section. */
function codesOf(heading) {
  const [, rest] = PROTOCOL.split(`\n## ${heading}\n`);
  const section = rest.split('\n## ')[0];
  return [...new Set([...section.matchAll(/^\| (\d{3,4}) \|/gm)].map(([, code]) => Number(code)))];
}

/** Why a connect fails. The other codes are faults of a program: the user reads that it is the server's or the page's. */
const CONNECT = { 1004: 'refused', 1005: 'wrongChat', 1006: 'unreachable', 1027: 'full', 1570: 'banned', 500: 'unreachable' };

const UNSENT = {
  400: ['failedOther', null], 403: ['failedNotAllowed', null], 404: ['failedOther', null], 413: ['failedTooLarge', 'edit'],
  429: ['failedTooFast', 'retry'], 500: ['failedLost', 'retry'],
};

/** Of moderation, of streams and of the library: no chat gets them for a message. */
const FOR_DEVELOPERS = [1004, 1005, 1006, 1010, 1011, 1015, 1027, 1500, 1520, 1570, 1605, 2001];

const CLOSES = { 4502: 'removed', 4505: 'expired' };

test('ERR-1 every error code of a connect has a sentence', () => {
  const codes = codesOf('10. Errors');
  assert.equal(codes.length, 18);
  for (const code of codes) {
    const cause = causeOfFailedConnect({ code, message: '' });
    assert.equal(cause, CONNECT[code] ?? 'serverFault', String(code));
    assert.ok(CHAT_STRINGS.en[cause], cause);
  }
});

test('ERR-1 every error code of a message has a sentence, and the one button that may help', () => {
  const codes = codesOf('10. Errors');
  assert.deepEqual(codes.filter((code) => !UNSENT[code]), FOR_DEVELOPERS);
  for (const code of [...codes, null, undefined, 9999]) {
    const { key, remedy } = causeOfUnsent(code);
    assert.deepEqual([key, remedy], UNSENT[code] ?? ['failedOther', 'retry'], String(code));
    assert.ok(CHAT_STRINGS.en[key], key);
  }
});

test('CLOSE-1 every close code that ends a session has a sentence', () => {
  const codes = codesOf('11. Close codes').filter((code) => !mayReconnectAfter(code));
  assert.deepEqual(codes, [1000, 1003, 1007, 1009, 4501, 4502, 4503, 4505]);
  for (const code of codes) {
    const cause = causeOfEnd(reasonForClose(code), errorForClose(code));
    assert.equal(cause, CLOSES[code] ?? 'lost', String(code));
    assert.ok(CHAT_STRINGS.en[cause], cause);
  }
});

test('a token that has expired, and one that the server does not accept, are told apart by the server’s words', () => {
  const refused = (message) => causeOfFailedConnect({ code: 1004, message });
  assert.equal(refused('the token is refused: it has expired'), 'expired');
  assert.equal(refused('the token is refused: its signature is wrong'), 'refused');
  assert.equal(causeOfEnd('networkDisconnected', { code: 1004, message: 'the token has expired' }), 'expired');
});

test('TOK-10 a token that was revoked is told from one that has expired, by its dates', () => {
  const end = { reason: 'networkDisconnected', error: errorForClose(4505) };
  const base64 = (text) => Buffer.from(text).toString('base64');
  const t1 = (fields) => `T1==${base64(`partner_id=1&sig=0:session_id=1_x&${fields}`)}`;
  const jwt = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
  const causeAt = (token, seconds) => {
    const { reason, error } = endOf(end, token, seconds * 1000);
    return causeOfEnd(reason, error);
  };
  for (const token of [t1('create_time=100&expire_time=1000'), jwt({ iat: 100, exp: 1000 })]) {
    // The server accepts an expired token for 30 s more.
    assert.deepEqual([500, 1010, 1030, 2000].map((now) => causeAt(token, now)), ['revoked', 'revoked', 'expired', 'expired']);
  }
  for (const token of [t1('create_time=100'), jwt({ iat: 100 })]) {
    assert.deepEqual([1000, 100 + 86_430].map((now) => causeAt(token, now)), ['revoked', 'expired']);
  }
  for (const token of ['', null, 'T1==', jwt({})]) assert.equal(causeAt(token, 0), 'expired');
  assert.equal(causeOfFailedConnect({ code: 1004, message: 'the token is refused: it was revoked; get a newer one' }), 'revoked');
});

test('a server that cannot be reached is told from a device without a network', () => {
  assert.equal(causeOfFailedConnect({ code: 1006 }, false), 'offline');
});

test('what no server has said is told from what a server refuses', () => {
  const cause = (failure) => causeOfFailure({ code: 1006, message: '', ...failure }, true);
  const told = { isBlocked: 'blocked', isFinal: 'oldBrowser', isSilent: 'noAnswer', isOfPage: 'notSetUp' };
  for (const [fact, key] of Object.entries(told)) assert.equal(cause({ [fact]: true }), key);
  assert.equal(cause({ isBlocked: true, isFinal: true }), 'blocked', 'a policy is why this browser cannot');
  assert.equal(cause({}), 'unreachable');
});

test('the reasons of an end, and any that a later server may give', () => {
  const reasons = ['forceDisconnected', 'networkDisconnected', 'clientDisconnected', 'maintenance', undefined];
  assert.deepEqual(reasons.map((reason) => causeOfEnd(reason)), ['removed', 'lost', 'ended', 'ended', 'ended']);
});

test('no button tries in vain, or brings back at once a user who was removed', () => {
  const pointless = ['banned', 'expired', 'revoked', 'removed', 'notSetUp', 'blocked', 'oldBrowser'];
  assert.deepEqual(Object.keys(CHAT_STRINGS.en).filter((key) => !mayComeBack(key)).sort(), pointless.sort());
});

test('MOD-3 a ban is told from a removal, and nobody tries again in vain', () => {
  assert.equal(causeOfEnd('forceDisconnected', null, { kind: 'ban' }), 'banned');
  assert.equal(causeOfEnd('networkDisconnected', { code: 1570 }), 'banned');
  assert.equal(causeOfEnd('forceDisconnected', null, null), 'removed');
  assert.deepEqual([mayComeBack('banned'), mayComeBack('removed'), mayComeBack('lost')], [false, false, true]);
});

test('MOD-4 a message that a restriction has stopped can be sent later', () => {
  assert.deepEqual(causeOfUnsent(403, { kind: 'mute' }), { key: 'failedRestricted', remedy: 'retry' });
  assert.deepEqual(causeOfUnsent(403), { key: 'failedNotAllowed', remedy: null });
});
