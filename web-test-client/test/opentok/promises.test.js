// The promises of opentok.js 2.35: `.promise` on methods that return their object, and promises in place of nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { bob, connectedMessage, settled } from '../../test-support/fakes/fake-browser.js';
import { FakeCamera } from '../../test-support/fakes/fake-camera.js';
import { comeBack, joined, moderator, page, resumable } from '../../test-support/fakes/fake-page.js';

const stream = { streamId: 's', connection: { connectionId: 'ada-id' } };

/** The state of a promise now: `pending`, `['resolved', value]` or `['rejected', reason]`. */
async function stateOf(promise) {
  await settled();
  const pending = {};
  return Promise.race([promise, Promise.resolve(pending)]).then(
    (value) => (value === pending ? 'pending' : ['resolved', value]),
    (reason) => ['rejected', reason],
  );
}

function accept(browser, changes) {
  browser.socket.open();
  browser.socket.receive(connectedMessage(changes));
}

function refuse(browser, code) {
  browser.socket.open();
  browser.socket.receive({ ev: 'error', id: 1, code, message: 'No.' });
}

/** Runs `act`, and returns the rejections that no one looked at. */
async function unhandledRejections(act) {
  const reasons = [];
  const note = (reason) => reasons.push(reason);
  process.on('unhandledRejection', note);
  try {
    await act();
    await settled();
    await settled();
  } finally {
    process.off('unhandledRejection', note);
  }
  return reasons;
}

// connect

test('promises: connect.promise is resolved with the session, after the handlers of sessionConnected', async () => {
  const { browser, session } = page();
  const order = [];
  session.on('sessionConnected', () => order.push('event'));
  const promise = session.connect.promise('T1==', (error, event) => order.push(['handler', error, event.type]));
  promise.then((value) => order.push(value === session));
  assert.equal(await stateOf(promise), 'pending');
  accept(browser);
  assert.deepEqual(order, ['event', ['handler', undefined, 'sessionConnected']]);
  await settled();
  assert.equal(order.at(-1), true);
  assert.equal(browser.socket.sent[0].token, 'T1==');
});

test('promises: a refused connect rejects with the error that the handler and the exception get', async () => {
  const { browser, session, exceptions } = page();
  const errors = [];
  const promise = session.connect.promise('T1==', (error) => errors.push(error));
  refuse(browser, 1004);
  const [state, reason] = await stateOf(promise);
  assert.deepEqual([state, reason.code, reason.name], ['rejected', 1004, 'OT_AUTHENTICATION_ERROR']);
  assert.deepEqual([reason === errors[0], reason === exceptions[0].error, errors.length], [true, true, 1]);
});

test('promises: connect.promise takes the older form, too', async () => {
  const { browser, OT } = page();
  const session = OT.initSession('1_old');
  const promise = session.connect.promise(100, 'T1==old');
  accept(browser);
  assert.deepEqual([await promise === session, browser.socket.sent[0].apiKey], [true, '100']);
});

test('promises: connect.promise while connecting is rejected with 1015, and while connected resolved', async () => {
  const { browser, session, exceptions } = page();
  const first = session.connect.promise('T1==');
  const second = await stateOf(session.connect.promise('T2=='));
  assert.deepEqual([second[0], second[1].code, second[1].name], ['rejected', 1015, 'OT_ILLEGAL_STATE']);
  accept(browser);
  assert.equal(await first, session);
  assert.deepEqual(await stateOf(session.connect.promise('T3==', () => {})), ['resolved', session]);
  assert.deepEqual(exceptions, []);
});

test('promises: disconnect and destroy while connecting reject connect.promise with 1006', async () => {
  for (const leave of ['disconnect', 'destroy']) {
    const { session } = page();
    const promise = session.connect.promise('T1==');
    session[leave]();
    assert.equal((await stateOf(promise))[1].code, 1006, leave);
  }
});

test('promises: off removes the connect handler, and connect.promise is settled nevertheless', async () => {
  const { browser, session } = page();
  const promise = session.connect.promise('T1==');
  session.off();
  accept(browser);
  assert.deepEqual(await stateOf(promise), ['resolved', session]);
});

test('promises: connect.promise is settled when a handler of sessionConnected disconnects, and connects again', async () => {
  const { browser, session } = page();
  session.once('sessionConnected', () => session.disconnect());
  const first = session.connect.promise('T1==');
  accept(browser);
  assert.equal((await stateOf(first))[1].code, 1006, 'the session was left before the handler of connect ran');
  const second = session.connect.promise('T1==');
  accept(browser);
  assert.equal(await second, session);
});

test('promises: connect.promise without a token, and without a server, is rejected', async () => {
  const { OT, session } = page();
  assert.equal((await stateOf(session.connect.promise()))[1].code, 1004);
  OT.setServer('not an address');
  assert.equal((await stateOf(session.connect.promise('T1==')))[1].code, 1006);
});

test('promises: the page is left while connecting: connect.promise is rejected', async () => {
  const { browser, session } = page();
  const promise = session.connect.promise('T1==');
  browser.report('pageLeft');
  assert.equal((await stateOf(promise))[1].code, 1006);
});

test('promises: a method taken from its session, wrapped or replaced keeps its session', async () => {
  const { browser, session } = page();
  const { connect } = session;
  session.connect = (...args) => connect(...args);
  const taken = connect.promise;
  const promise = taken('T1==');
  accept(browser);
  assert.equal(await promise, session);
});

test('promises: a patched prototype counts, before and after the session was made', async () => {
  const { OT, browser, session } = page();
  const original = OT.Session.prototype.connect;
  const tokens = [];
  OT.Session.prototype.connect = function (token, ...rest) {
    tokens.push(token);
    return original.call(this, `${token}!`, ...rest);
  };
  try {
    assert.equal(session.connect('T1=='), session);
    session.disconnect();
    const promise = session.connect.promise('T2==');
    accept(browser);
    await promise;
  } finally {
    OT.Session.prototype.connect = original;
  }
  assert.deepEqual([tokens, browser.socket.sent[0].token], [['T1==', 'T2=='], 'T2==!']);
});

// signal

test('promises: signal is resolved without a value once acknowledged, after its handler', async () => {
  const { browser, session } = joined();
  const order = [];
  const promise = session.signal({ type: 'a' }, () => order.push('handler'));
  promise.then((value) => order.push(['promise', value]));
  assert.equal(await stateOf(promise), 'pending');
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 });
  assert.deepEqual(order, ['handler']);
  await settled();
  assert.deepEqual(order, ['handler', ['promise', undefined]]);
});

test('promises: signal rejects with the error object that the handler gets: not connected, malformed, refused, lost', async () => {
  const outcome = async (session, options, then = () => {}) => {
    let given;
    const promise = session.signal(options, (error) => (given = error));
    then();
    const [state, reason] = await stateOf(promise);
    assert.deepEqual([state, reason === given], ['rejected', true]);
    return reason.code;
  };
  assert.equal(await outcome(page().session, {}), 500);
  const { browser, session } = joined();
  assert.equal(await outcome(session, { type: 'a b' }), 400);
  assert.equal(await outcome(session, 'text'), 400);
  assert.equal(await outcome(session, { data: 'x' }, () => {
    browser.socket.receive({ ev: 'error', id: 2, code: 403, message: 'No.' });
  }), 403);
  assert.equal(await outcome(session, { data: 'x' }, () => browser.socket.drop()), 500);
});

test('promises: signal(handler) has a promise, and each signal of a list has its own', async () => {
  const { browser, session } = joined();
  const promises = ['a', 'b'].map((type) => session.signal({ type }));
  promises.push(session.signal(() => {}));
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 }, { ev: 'ack', id: 3, seq: 4 }, { ev: 'ack', id: 4, seq: 5 });
  assert.deepEqual(await Promise.all(promises), [undefined, undefined, undefined]);
});

test('promises: a signal that waits while reconnecting is settled when the session is given up or left', async () => {
  const { browser, session } = joined({ changes: resumable });
  browser.socket.drop();
  const given = session.signal({ type: 'a' });
  assert.equal(await stateOf(given), 'pending');
  browser.pass(400_000);
  assert.equal((await stateOf(given))[1].code, 500);
  const left = joined({ changes: resumable });
  comeBack(left.browser);
  const signal = left.session.signal({ type: 'a' });
  left.session.disconnect();
  assert.equal((await stateOf(signal))[1].code, 500);
});

// disconnect, forceDisconnect, refreshToken

test('promises: disconnect is resolved after sessionDisconnected', async () => {
  const { session, names } = joined();
  const promise = session.disconnect();
  assert.equal(names().includes('sessionDisconnected'), false);
  assert.equal(await promise, undefined);
  assert.equal(names().at(-1), 'sessionDisconnected');
});

test('promises: disconnect is resolved while not connected, while connecting, when called twice, and while reconnecting', async () => {
  const { session } = page();
  assert.deepEqual(await stateOf(session.disconnect()), ['resolved', undefined]);
  session.connect('T1==');
  assert.deepEqual(await stateOf(session.disconnect()), ['resolved', undefined]);
  const connected = joined().session;
  const both = [connected.disconnect(), connected.disconnect()];
  assert.deepEqual(await Promise.all(both), [undefined, undefined]);
  const { browser, session: lost } = joined({ changes: resumable });
  browser.socket.drop();
  assert.deepEqual(await stateOf(lost.disconnect()), ['resolved', undefined]);
});

test('promises: disconnect is resolved even if a handler of sessionDisconnected throws', async () => {
  const { session } = joined();
  session.on('sessionDisconnected', () => { throw new Error('broken'); });
  assert.deepEqual(await stateOf(session.disconnect()), ['resolved', undefined]);
});

test('promises: a program may connect again as soon as disconnect is resolved', async () => {
  const { browser, session } = joined();
  await session.disconnect();
  const promise = session.connect.promise('T1==');
  accept(browser);
  assert.equal(await promise, session);
});

test('promises: forceDisconnect and refreshToken have the outcome of their handlers', async () => {
  const { browser, session, exceptions } = joined({ changes: moderator });
  let given;
  const done = session.forceDisconnect('ada-id');
  const refused = session.forceDisconnect('x', (error) => (given = error));
  const refreshed = session.refreshToken('T2==');
  browser.socket.receive(
    { ev: 'ack', id: 2 }, { ev: 'error', id: 3, code: 1011, message: 'No.' }, { ev: 'ack', id: 4 }
  );
  assert.deepEqual(await stateOf(done), ['resolved', undefined]);
  assert.deepEqual(await stateOf(refused), ['rejected', given]);
  assert.equal(exceptions[0].error, given);
  assert.deepEqual(await stateOf(refreshed), ['resolved', undefined]);
  assert.equal(session.token, 'T2==');
  const early = page().session;
  assert.equal((await stateOf(early.forceDisconnect('x')))[1].code, 1010);
  assert.equal((await stateOf(early.refreshToken('x')))[1].code, 500);
});

// Media

test('promises: publish.promise, subscribe.promise and forceUnpublish reject with the error that the handler gets', async () => {
  const { OT, browser, session, exceptions } = joined({ publish: 'fail' });
  browser.mediaDevices = new FakeCamera();
  const publisher = OT.initPublisher('target', () => {});
  const handled = async (start) => {
    let given;
    const [state, reason] = await stateOf(start((error) => (given = error)));
    assert.deepEqual([state, reason === given], ['rejected', true]);
    return [reason.name, reason.code];
  };
  const name = 'OT_NOT_SUPPORTED';
  assert.deepEqual(await handled((note) => session.publish.promise(publisher, note)), [name, 1500]);
  assert.deepEqual(await handled((note) => session.publish.promise('target', {}, note)), [name, 1500]);
  assert.deepEqual(await handled((note) => session.subscribe.promise(stream, 'target', {}, note)), [name, 1501]);
  assert.deepEqual(await handled((note) => session.forceUnpublish(stream, note)), [name, 1530]);
  assert.equal((await stateOf(session.subscribe.promise(stream)))[1].code, 1501);
  assert.deepEqual([exceptions, browser.printed], [[], []]);
});

test('promises: initPublisher.promise is resolved with the publisher when its handler is called without an error', async () => {
  const { OT, browser } = page();
  const camera = browser.mediaDevices = new FakeCamera();
  let handled = 0;
  const promise = OT.initPublisher.promise('target', { videoSource: null }, () => (handled += 1));
  await settled();
  assert.equal(await stateOf(promise), 'pending');
  camera.grant();
  const [state, publisher] = await stateOf(promise);
  assert.deepEqual([state, publisher instanceof OT.Publisher, publisher.accessAllowed, handled], ['resolved', true, true, 1]);
});

test('promises: initPublisher.promise is rejected without a camera, by a refusal, and when the publisher is destroyed', async () => {
  const { OT, browser, exceptions } = page();
  assert.equal((await stateOf(OT.initPublisher.promise()))[1].name, 'OT_NOT_SUPPORTED');
  browser.mediaDevices = new FakeCamera([]);
  const [, missing] = await stateOf(OT.initPublisher.promise('target'));
  assert.deepEqual([missing.name, missing.code], ['OT_NO_DEVICES_FOUND', 1500]);
  assert.equal(exceptions.at(-1).error, missing);
  browser.mediaDevices = new FakeCamera();
  const refused = OT.initPublisher.promise('target');
  await settled();
  browser.mediaDevices.refuse('NotAllowedError');
  assert.equal((await stateOf(refused))[1].name, 'OT_USER_MEDIA_ACCESS_DENIED');
  const destroyed = OT.initPublisher.promise('target', () => assert.fail('called'));
  OT.publishers.find().destroy();
  OT.publishers.forEach((publisher) => publisher.destroy());
  assert.equal((await stateOf(destroyed))[1].name, 'OT_MEDIA_ERR_ABORTED');
  assert.deepEqual(browser.printed, [], 'the program gets the error; the log does not');
});

test('promises: the calls of OT, the statistics and the switches', async () => {
  const { OT, browser } = page();
  browser.mediaDevices = new FakeCamera(['audioinput']);
  let devices;
  const promise = OT.getDevices((error, list) => (devices = list));
  assert.equal(await promise, devices);
  assert.equal(devices[0].deviceId, 'id0');
  let capability;
  assert.equal(await OT.checkScreenSharingCapability((answer) => (capability = answer)), capability);
  assert.equal(capability.supported, false);
  let given;
  assert.deepEqual(await stateOf(OT.reportIssue((error) => (given = error))), ['rejected', given]);
  const publisher = OT.initPublisher(() => {});
  assert.equal((await stateOf(publisher.getStats()))[1].name, 'OT_NOT_SUPPORTED');
  assert.equal(await publisher.publishVideo.promise(false), publisher);
  assert.equal(await publisher.publishAudio.promise(false), publisher);
  const subscriber = joined().session.subscribe(stream, () => {});
  assert.equal((await stateOf(subscriber.getStats()))[1].code, 1500);
  assert.equal(await subscriber.restrictFrameRate.promise(true), subscriber);
});

// Ignored promises

test('promises: a rejected promise that no one looks at raises no unhandledrejection', async () => {
  const reasons = await unhandledRejections(async () => {
    const { OT, browser, session } = page();
    session.signal({});
    session.forceDisconnect('x');
    session.refreshToken('x');
    session.forceUnpublish(stream);
    session.publish.promise();
    session.subscribe.promise(stream);
    session.connect.promise('T1==');
    session.connect.promise('T1==');
    refuse(browser, 1004);
    OT.reportIssue();
    OT.getDevices();
    const publisher = OT.initPublisher();
    publisher.getStats();
    OT.initPublisher.promise();
    publisher.destroy();
    const { session: other, browser: theirs } = joined();
    ['a b', 'c'].map((type) => other.signal({ type }));
    theirs.socket.drop();
  });
  assert.deepEqual(reasons, []);
});

test('promises: a handler that throws changes no promise', async () => {
  const { browser, session } = joined();
  const signal = session.signal({}, () => { throw new Error('broken'); });
  browser.socket.receive({ ev: 'ack', id: 2, seq: 3 });
  assert.deepEqual(await stateOf(signal), ['resolved', undefined]);
  await session.disconnect();
  const promise = session.connect.promise('T1==', () => { throw new Error('broken'); });
  accept(browser, { connection: bob });
  assert.deepEqual(await stateOf(promise), ['resolved', session]);
});
