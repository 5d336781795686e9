import assert from 'node:assert/strict';
import test from 'node:test';
import { ConnectionPlan, JOIN_TIME, SETUP_TIME } from '../../chat/connection/connection-plan.js';
import { waitAfter } from '../../chat/connection/retry-policy.js';

const ALL = Object.freeze({ session: 's', apiKey: '100', token: 't1', server: 'https://chat.example' });
const UNREACHABLE = Object.freeze({ code: 1006, message: 'The server cannot be reached.' });
const REFUSED = Object.freeze({ code: 1004, message: 'The token is refused.' });

/** A plan, and what it has said to do: the names of the effects, with their most telling member. */
function started(credentials = ALL) {
  const plan = new ConnectionPlan({ random: () => 1 });
  const say = ({ do: name, ...rest }) => {
    switch (name) {
      case 'open':
        return `open ${rest.credentials.token}${rest.isQuiet ? ' quietly' : ''}`;
      case 'refresh':
        return `refresh ${rest.token}`;
      case 'lack':
        return `lack ${rest.names}${rest.isUsed ? '' : ' of all'}`;
      case 'fail':
        return `fail ${rest.error.code}${rest.comesBack ? ', comes back' : ''}`;
      case 'end':
        return `end ${rest.reason}${rest.comesBack ? ', comes back' : ''}`;
      default:
        return name;
    }
  };
  const made = {
    plan,
    now: 0,
    give: (is, rest = {}) => plan.handle({ is, ...rest }, made.now).map(say),
    want: (changes = {}) => made.give('want', { credentials: { ...ALL, ...changes } }),
    fail: (error = UNREACHABLE) => made.give('failed', { error }),
    /** Lets the next deadline pass, and returns what it brings. */
    wait() {
      made.now = plan.nextDeadline;
      return plan.advance(made.now).map(say);
    },
  };
  made.first = made.give('want', { credentials });
  return made;
}

function connected() {
  const made = started();
  made.give('connected');
  return made;
}

test('the attributes open a connection, once', () => {
  const made = started();
  assert.deepEqual(made.first, ['open t1']);
  assert.deepEqual(made.want(), []);
  assert.deepEqual(made.give('connected'), []);
  assert.deepEqual(made.want(), []);
});

test('CON-12: a new token alone is shown to the server, and opens no connection', () => {
  const made = connected();
  assert.deepEqual(made.want({ token: 't2' }), ['refresh t2']);
  assert.deepEqual(made.give('refreshed', { token: 't2' }), []);
  assert.deepEqual(made.want({ token: 't2' }), []);
});

test('the last of several tokens is shown after the answer to the first', () => {
  const made = connected();
  made.want({ token: 't2' });
  assert.deepEqual([made.want({ token: 't3' }), made.want({ token: 't4' })], [[], []]);
  assert.deepEqual(made.give('refreshed', { token: 't2' }), ['refresh t4']);
});

test('a token that the server refuses for this connection opens another one', () => {
  const made = connected();
  made.want({ token: 't2' });
  assert.deepEqual(made.give('notRefreshed', { token: 't2', isRefused: true }), ['close', 'open t2']);
});

test('a refresh without an answer is repeated, and the connection stays', () => {
  const made = connected();
  made.want({ token: 't2' });
  assert.deepEqual(made.give('notRefreshed', { token: 't2', isRefused: false }), []);
  assert.deepEqual(made.wait(), ['refresh t2']);
});

test('a connection that ends while a newer token waits is opened with it at once', () => {
  const made = connected();
  made.want({ token: 't2' });
  assert.deepEqual(made.give('ended', { reason: 'networkDisconnected' }),
    ['end networkDisconnected, comes back', 'open t2 quietly']);
});

test('a token that is taken away ends no connection, and comes back without one', () => {
  const made = connected();
  assert.deepEqual(made.want({ token: null }), []);
  assert.deepEqual(made.want(), []);
});

test('another room opens another connection', () => {
  for (const change of [{ session: 'other' }, { apiKey: '200' }, { server: 'https://other.example' }]) {
    assert.deepEqual(connected().want(change), ['close', 'open t1']);
  }
});

test('a token that changes while the element connects is the one to connect with', () => {
  const made = started();
  assert.deepEqual(made.want({ token: 't2' }), ['close', 'open t2']);
});

test('a first connect that fails is tried again with the waits of a lost connection', () => {
  const made = started();
  assert.deepEqual(made.fail(), ['fail 1006, comes back']);
  const waits = [];
  for (let count = 0; count < 6; count += 1) {
    waits.push(made.plan.nextDeadline - made.now);
    assert.deepEqual(made.wait(), ['open t1 quietly']);
    // The user has been told already.
    assert.deepEqual(made.fail(), []);
  }
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 5000]);
  assert.deepEqual(made.give('networkBack'), ['open t1 quietly']);
  assert.deepEqual(made.give('connected'), []);
});

test('after a minute of attempts the server is left alone for longer', () => {
  assert.deepEqual([waitAfter(23, 1), waitAfter(24, 1)], [5_000, 60_000]);
});

test('another failure is told, too', () => {
  const made = started();
  made.fail();
  made.wait();
  assert.deepEqual(made.fail({ code: 1027, message: 'The session is full.' }), ['fail 1027, comes back']);
});

test('a server that does not answer is left, and asked again', () => {
  const made = started();
  assert.deepEqual(made.wait(), ['close', 'fail null, comes back']);
  assert.equal(made.now, JOIN_TIME);
  assert.deepEqual(made.wait(), ['open t1 quietly']);
});

for (const sign of ['networkBack', 'pageShown']) {
  test(`${sign} brings the next attempt at once, and nothing while there is a connection`, () => {
    const made = started();
    assert.deepEqual(made.give(sign), []);
    made.fail();
    assert.deepEqual(made.give(sign), ['open t1 quietly']);
    made.give('connected');
    assert.deepEqual(made.give(sign), []);
  });
}

test('a refusal is final until an attribute changes or the user asks', () => {
  for (const error of [REFUSED, { code: 1005 }, { code: null }, { ...UNREACHABLE, isFinal: true }]) {
    const made = started();
    assert.deepEqual(made.fail(error), [`fail ${error.code}`]);
    assert.deepEqual([made.give('networkBack'), made.give('pageShown'), made.plan.nextDeadline], [[], [], null]);
    assert.deepEqual(made.want(), []);
    assert.deepEqual(made.give('connect', { credentials: ALL }), ['close', 'open t1']);
    made.fail(error);
    assert.deepEqual(made.want({ token: 't2' }), ['close', 'open t2']);
  }
});

test('a lost connection is opened again, one that was ended on purpose is not', () => {
  const lost = connected();
  assert.deepEqual(lost.give('ended', { reason: 'networkDisconnected' }), ['end networkDisconnected, comes back']);
  assert.deepEqual(lost.wait(), ['open t1 quietly']);
  const removed = connected();
  assert.deepEqual(removed.give('ended', { reason: 'forceDisconnected' }), ['end forceDisconnected']);
  assert.deepEqual([removed.give('networkBack'), removed.want()], [[], []]);
});

test('connections that end at once count as attempts that fail', () => {
  const made = connected();
  const waits = [];
  for (const lasted of [0, 0, 0, 30_000]) {
    made.now += lasted;
    made.give('ended', { reason: 'networkDisconnected' });
    waits.push(made.plan.nextDeadline - made.now);
    made.wait();
    made.give('connected');
  }
  assert.deepEqual(waits, [250, 500, 1000, 250]);
});

test('a program that has left is left alone by a new token, until the room changes or it connects', () => {
  const made = connected();
  assert.deepEqual(made.give('leave'), ['close', 'idle']);
  assert.deepEqual(made.give('leave'), []);
  assert.deepEqual(made.want({ token: 't2' }), []);
  assert.deepEqual(made.give('networkBack'), []);
  assert.deepEqual(made.want({ session: 'other' }), ['open t1']);
  made.give('leave');
  assert.deepEqual(made.give('connect', { credentials: ALL }), ['open t1']);
});

test('an element that is removed and inserted again connects again', () => {
  const made = connected();
  assert.deepEqual(made.give('removed'), ['close', 'idle']);
  assert.deepEqual(made.want(), ['open t1']);
});

test('what is missing is told after a while, and not if it comes before', () => {
  const slow = started({ ...ALL, token: null });
  assert.deepEqual(slow.first, []);
  slow.now = SETUP_TIME - 1;
  assert.deepEqual(slow.plan.advance(slow.now), []);
  assert.deepEqual(slow.want(), ['open t1']);
  const never = started({ session: null, apiKey: null, token: null, server: 'https://chat.example' });
  assert.deepEqual(never.wait(), ['lack session,api-key,token of all']);
  assert.equal(never.plan.nextDeadline, null);
});

test('attributes that come one after the other do not put the sentence off', () => {
  const made = started({ ...ALL, token: null, apiKey: null });
  made.now = 1000;
  made.want({ token: null });
  assert.deepEqual(made.wait(), ['lack token']);
  assert.equal(made.now, SETUP_TIME);
});

test('who asks for a connection hears at once what is missing', () => {
  const made = connected();
  const effects = made.give('connect', { credentials: { ...ALL, token: null } });
  assert.deepEqual(effects, ['close', 'idle', 'lack token']);
});

test('a room that is taken away is left at once', () => {
  assert.deepEqual(connected().want({ session: null }), ['close', 'idle']);
});

test('answers that come too late change nothing', () => {
  const made = connected();
  made.want({ token: 't2' });
  made.want({ session: 'other' });
  assert.deepEqual(made.give('refreshed', { token: 't2' }), []);
  assert.deepEqual(made.give('notRefreshed', { token: 't2', isRefused: true }), []);
  assert.deepEqual(made.give('ended', { reason: 'networkDisconnected' }), []);
  made.give('leave');
  assert.deepEqual([made.fail(), made.give('connected')], [[], []]);
});

test('MOD-3: a banned user is not brought back by the plan, but may try again', () => {
  const made = connected();
  const ban = { kind: 'ban', reason: 'No advertising' };
  assert.deepEqual(made.give('ended', { reason: 'forceDisconnected', restriction: ban }), ['end forceDisconnected']);
  assert.equal(made.plan.nextDeadline, null);
  assert.deepEqual(made.want(), []);
  const [, opened] = made.give('connect', { credentials: ALL });
  assert.equal(opened, 'open t1');
  assert.deepEqual(made.fail({ code: 1570, message: 'The user is banned.', restriction: ban }), ['fail 1570']);
  assert.equal(made.plan.nextDeadline, null);
});
