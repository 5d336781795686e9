import assert from 'node:assert/strict';
import test from 'node:test';
import { Driver } from '../../client/driver.js';
import { connectedMessage, FakeBrowser, settled } from '../../test-support/fakes/fake-browser.js';

const CONNECT = { is: 'connect', apiKey: '100', sessionId: '1_x', token: 'T1==', options: {} };

test('an effect that throws is reported, and those behind it and the timer are still carried out', () => {
  const browser = new FakeBrowser();
  const performed = [];
  const failures = [];
  const perform = (effect) => {
    performed.push(effect.do === 'emit' ? effect.event.name : effect.do);
    if (effect.do === 'emit' && effect.event.seq === 3) throw new Error('the third');
  };
  const driver = new Driver(browser.environment(), () => 'wss://x.example', perform, (error) => {
    failures.push(error.message);
  });
  driver.handle(CONNECT);
  browser.socket.open();
  browser.socket.receive(
    connectedMessage(), { ev: 'signal', seq: 3, from: 'ada-id' }, { ev: 'signal', seq: 4, from: 'ada-id' },
  );
  assert.deepEqual(performed, ['connectSucceeded', 'signal', 'signal']);
  assert.deepEqual(failures, ['the third']);
  browser.pass(20_000);
  assert.equal(browser.socket.closedWith, 4001);
});

test('a socket that throws is reported, and the application still gets its effects', () => {
  const browser = new FakeBrowser();
  const performed = [];
  const failures = [];
  const driver = new Driver(browser.environment(), () => 'wss://x.example', (effect) => performed.push(effect.do),
    (error) => failures.push(error.message));
  driver.handle(CONNECT);
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  browser.socket.send = () => {
    throw new Error('not open');
  };
  browser.socket.receive({ ev: 'ping', seq: 2 }, { ev: 'signal', seq: 3, from: 'ada-id' });
  assert.deepEqual(performed, ['connectSucceeded', 'emit']);
  assert.deepEqual(failures, ['not open']);
});

/** A client whose first socket is being opened, and the answers to its connects. */
function opening(changes = {}, address = 'wss://x.example') {
  const browser = new FakeBrowser();
  const errors = [];
  const performed = [];
  const perform = (effect) => {
    performed.push(effect.do === 'emit' ? effect.event.name : effect.do);
    if (effect.do === 'connectFailed') errors.push(effect.error.message);
  };
  const environment = Object.assign(browser.environment(), changes);
  const driver = new Driver(environment, () => address, perform, assert.fail);
  driver.handle(CONNECT);
  return { browser, driver, environment, errors, performed };
}

const resume = { secret: 's', resumeSeconds: 60, recoverySeconds: 60 };

test('a handshake that fails without a close event fails the connect at once', () => {
  const { browser, errors } = opening();
  browser.socket.failWithoutClose();
  assert.deepEqual(errors, ['The server closed the connection (close code 1006).']);
  assert.equal(browser.timers.size, 0);
});

test('a reconnect attempt that fails without a close event is followed by the next one', () => {
  const { browser, performed } = opening();
  browser.socket.open();
  browser.socket.receive(connectedMessage({ resume }));
  browser.socket.drop();
  for (let count = 2; count <= 4; count += 1) {
    browser.pass(1000);
    assert.equal(browser.sockets.length, count);
    browser.socket.failWithoutClose();
  }
  assert.deepEqual(performed, ['connectSucceeded', 'reconnecting']);
});

test('an error of a socket that is open leaves the answer to its close', () => {
  const { browser, performed } = opening();
  browser.socket.open();
  browser.socket.receive(connectedMessage({ resume }));
  browser.socket.dispatchEvent(new Event('error'));
  assert.deepEqual(performed, ['connectSucceeded']);
  browser.socket.drop(4502);
  assert.deepEqual(performed, ['connectSucceeded', 'disconnected']);
});

test('sockets that the client has let go of still have a listener for errors', async () => {
  const { browser, driver } = opening();
  // The first is closed before it is open, the second gets no answer in time, and the third is lost and replaced.
  driver.handle({ is: 'disconnect' });
  driver.handle(CONNECT);
  browser.pass(15_000);
  driver.handle(CONNECT);
  browser.socket.open();
  browser.socket.receive(connectedMessage({ resume }));
  browser.socket.drop();
  browser.pass(1000);
  browser.socket.open();
  driver.handle({ is: 'disconnect' });
  await settled();
  assert.deepEqual(browser.sockets.map((each) => each.closedWith), [1000, 1000, null, 1000]);
  for (const socket of browser.sockets) socket.failWithoutClose();
});

test('without a WebSocket the connect fails with the cause and the remedy, and works once there is one', async () => {
  const { WebSocket } = new FakeBrowser().environment();
  for (const missing of [undefined, null, { WebSocket }]) {
    const { errors, browser, driver, environment, performed } = opening({ WebSocket: missing });
    assert.deepEqual(errors, []);
    await settled();
    assert.equal(errors.length, 1);
    assert.match(errors[0], /^This JavaScript runtime has no WebSocket\. Use Node 22 or newer, or set /);
    assert.equal(browser.timers.size, 0);
    environment.WebSocket = browser.environment().WebSocket;
    driver.handle(CONNECT);
    browser.socket.open();
    browser.socket.receive(connectedMessage({ id: 1 }));
    assert.equal(performed.at(-1), 'connectSucceeded');
  }
});

test('an unknown server and a refused address are named in the error', async () => {
  const unknown = opening({}, null);
  const refusing = class {
    constructor() {
      throw new DOMException('The page is secure.', 'SecurityError');
    }
  };
  const refused = opening({ WebSocket: refusing });
  await settled();
  assert.deepEqual(refused.errors, ['The page is secure.']);
  assert.equal(unknown.errors.length, 1);
  assert.match(unknown.errors[0], /^The client has no valid address of a server\. Call OT\.setServer/);
});
