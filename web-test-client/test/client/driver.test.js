import assert from 'node:assert/strict';
import test from 'node:test';
import { Driver } from '../../opentok/client/driver.js';
import { connectedMessage, FakeBrowser } from '../../test-support/fake-browser.js';

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
