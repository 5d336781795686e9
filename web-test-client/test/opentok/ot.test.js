import assert from 'node:assert/strict';
import test from 'node:test';
import { createOT } from '../../opentok/api/ot.js';
import { FakeBrowser, settled } from '../../test-support/fake-browser.js';
import { joined, page } from '../../test-support/fake-page.js';

test('OT: requirements are met only where there are WebSockets', () => {
  const { OT, browser } = page();
  assert.deepEqual([OT.checkSystemRequirements(), OT.HAS_REQUIREMENTS, OT.NOT_HAS_REQUIREMENTS], [1, 1, 0]);
  const poor = createOT({ ...browser.environment(), WebSocket: undefined }, null);
  assert.equal(poor.checkSystemRequirements(), 0);
});

test('OT: the levels of its log, each with the levels that it prints', () => {
  const { OT, browser } = page();
  assert.deepEqual([OT.NONE, OT.ERROR, OT.WARN, OT.INFO, OT.LOG, OT.DEBUG], [0, 1, 2, 3, 4, 5]);
  const printedAt = (level) => {
    browser.printed.length = 0;
    OT.setLogLevel(level);
    for (const name of ['error', 'warn', 'info', 'log', 'debug']) OT[name]('words');
    return browser.printed.map(([name]) => name).join(' ');
  };
  assert.equal(printedAt(OT.NONE), '');
  assert.equal(printedAt(OT.ERROR), 'error');
  assert.equal(printedAt(OT.WARN), 'error warn');
  assert.equal(printedAt(OT.INFO), 'error warn info');
  assert.equal(printedAt(OT.LOG), 'error warn info log');
  assert.equal(printedAt(OT.DEBUG), 'error warn info log debug');
});

test('OT: titles by code are those of OpenTok, and the codes of signals have none', () => {
  const { OT } = page();
  const titles = {
    1004: 'Authentication error', 1005: 'Invalid Session ID', 1006: 'Connect Failed', 1010: 'Not Connected',
    1011: 'Invalid Parameter', 1013: 'Connection Failed', 1027: 'Connection Limit Exceeded',
    1520: 'Unable to Force Disconnect', 1530: 'Unable to Force Unpublish',
    2000: 'Internal Error', 2001: 'Unexpected Server Response',
  };
  for (const [code, title] of Object.entries(titles)) {
    assert.equal(OT.getErrorTitleByCode(Number(code)), title);
    assert.equal(OT.getErrorTitleByCode(code), title, 'also for a code written as text');
  }
  for (const code of [400, 404, 413, 500]) assert.equal(OT.getErrorTitleByCode(code), undefined);
});

test('OT: on, once and off return OT, and receive exceptions', () => {
  const { OT, session } = page();
  const received = [];
  const handler = (event) => received.push(['on', event.type, event.cancelable]);
  assert.equal(OT.on('exception', handler), OT);
  assert.equal(OT.once({ exception: () => received.push('once') }), OT);
  session.signal({});
  session.signal({});
  assert.equal(OT.off('exception', handler), OT);
  session.signal({});
  assert.deepEqual(received, [['on', 'exception', false], 'once', ['on', 'exception', false]]);
});

test('OT: an exception carries code, title, message, target and the error', () => {
  const { session, exceptions } = page();
  let given;
  session.forceDisconnect('x', (error) => (given = error));
  const [{ code, title, message, target, error }] = exceptions;
  assert.deepEqual([code, title, message], [1010, 'Not Connected', given.message]);
  assert.equal(target, session);
  assert.equal(error, given);
});

test('OT: a handler of exceptions that throws is logged, and the next one runs', () => {
  const { OT, session, browser } = page();
  let ran = false;
  OT.off().on('exception', () => { throw new Error('broken'); }).on('exception', () => (ran = true));
  session.signal({});
  assert.equal(ran, true);
  assert.deepEqual(browser.printed.map(([level]) => level), ['error']);
});

test('OT: sessions holds every session that was made, until it is destroyed', async () => {
  const { OT, session, browser, received } = joined();
  assert.equal(OT.sessions.get('1_x'), session);
  received.length = 0;
  session.destroy();
  assert.deepEqual([session.isConnected(), session.connection, OT.sessions.length()], [false, null, 0]);
  assert.equal(browser.socket.sent.at(-1).op, 'disconnect');
  await settled();
  assert.deepEqual(
    received.map((event) => [event.type, event.reason]), [['sessionDisconnected', 'clientDisconnected']]
  );
  session.emit('signal', {});
  assert.equal(received.length, 1, 'its handlers are gone');
  assert.notEqual(OT.initSession('100', '1_x'), session);
});

test('OT: destroying an old session leaves the new one of the same id alone', () => {
  const { OT, session } = page();
  session.destroy();
  const next = OT.initSession('100', '1_x');
  session.destroy();
  assert.equal(OT.sessions.get('1_x'), next);
});

test('OT: initSession takes the options of OpenTok, and those without a meaning here change nothing', () => {
  const { OT, browser } = page();
  const session = OT.initSession(
    '100', '1_opt', { iceConfig: {}, ipWhitelist: true, encryptionSecret: 'x', connectionEventsSuppressed: false }
  );
  session.connect('T');
  browser.socket.open();
  assert.deepEqual(browser.socket.sent[0].options, { connectionPages: true });
  assert.equal(OT.initSession('100', '1_none', null).id, '1_none');
});

test('OT: its classes are exported, and the objects that it creates are instances of them', () => {
  const { OT, session, received, exceptions, browser } = joined();
  browser.socket.receive({ ev: 'signal', seq: 3, from: null, type: 'chat' });
  session.forceDisconnect('ada-id');
  assert.ok(session instanceof OT.Session);
  assert.ok(session.connection instanceof OT.Connection);
  assert.ok(session.capabilities instanceof OT.Capabilities);
  assert.ok(received[0] instanceof OT.SessionConnectEvent && received[0] instanceof OT.Event);
  assert.ok(received[1] instanceof OT.ConnectionEvent);
  assert.ok(received.at(-1) instanceof OT.SignalEvent);
  assert.ok(exceptions[0] instanceof OT.ExceptionEvent);
  assert.ok(exceptions[0].error instanceof OT.Error);
  assert.deepEqual(new OT.Signal({ type: 'a b' }).valid, false);
  assert.deepEqual(new OT.Signal({ type: 'ab', data: 'x' }).valid, true);
});

test('OT: a version and properties, as pages print them', () => {
  const { OT } = page();
  assert.match(OT.version, /^v2\.\d+\.\d+$/);
  assert.equal(OT.properties.version, OT.version);
  assert.equal(OT.getErrors, undefined);
});

test('OT: two OTs, as in two frames, share nothing', () => {
  const one = page();
  const two = createOT(new FakeBrowser().environment(), 'https://signals.example');
  assert.notEqual(two.initSession('100', '1_x'), one.session);
  assert.equal(two.sessions.length(), 1);
});

test('opentok_6_1_init_session: a list of one session id is that id', () => {
  const { OT, session } = page();
  assert.equal(OT.initSession('100', ['1_x']), session);
  assert.equal(OT.initSession(['1_y']).sessionId, '1_y');
});

test('opentok_6_1_module: each member of OT is exported by name, too, for import * as OT', async () => {
  const module = await import('../../opentok/index.js');
  assert.deepEqual(Object.keys(module).sort(), ['default', ...Object.keys(module.default)].sort());
  for (const [name, value] of Object.entries(module.default)) assert.equal(module[name], value, name);
});
