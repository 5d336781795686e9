import assert from 'node:assert/strict';
import test from 'node:test';
import { createOT } from '../../opentok/api/ot.js';
import { FakeBrowser, settled } from '../../test-support/fakes/fake-browser.js';
import { joined, page } from '../../test-support/fakes/fake-page.js';

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
  assert.equal(OT.setLogLevel(OT.INFO), 3);
  assert.equal(OT.setLogLevel('x'), OT.WARN, 'not a number: the default');
  assert.equal(printedAt('5'), 'error warn');
});

test('OT: titles by code are those of OpenTok, and the codes of signals have none', () => {
  const { OT } = page();
  const titles = {
    1004: 'Authentication error', 1005: 'Invalid Session ID', 1006: 'Connect Failed', 1010: 'Not Connected',
    1011: 'Invalid Parameter', 1013: 'Connection Failed', 1026: 'Terms of Service Violation: Export Compliance',
    1027: 'Connection Limit Exceeded', 1500: 'Unable to Publish', 1501: 'Unable to Subscribe',
    1502: 'Unsupported Video Codec', 1520: 'Unable to Force Disconnect', 1530: 'Unable to Force Unpublish',
    1540: 'Unable to Force Mute', 1553: 'Publisher ICEWorkflow failed', 1554: 'Subscriber ICEWorkflow failed',
    1600: 'createOffer, createAnswer, setLocalDescription, setRemoteDescription',
    2000: 'Internal Error', 2001: 'Unexpected Server Response',
  };
  for (const [code, title] of Object.entries(titles)) {
    assert.equal(OT.getErrorTitleByCode(Number(code)), title);
    assert.equal(OT.getErrorTitleByCode(code), title, 'also for a code written as text');
    assert.equal(OT.Error.getTitleByCode(code), title);
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
  assert.equal(OT.version, 'v2.35.1');
  assert.equal(OT.properties.version, OT.version);
  assert.equal(OT.getErrors, undefined);
});

test('OT: two OTs, as in two frames, share nothing', () => {
  const one = page();
  const two = createOT(new FakeBrowser().environment(), 'https://signals.example');
  assert.notEqual(two.initSession('100', '1_x'), one.session);
  assert.equal(two.sessions.length(), 1);
});

test('init session: a list of one session id is that id', () => {
  const { OT, session } = page();
  assert.equal(OT.initSession('100', ['1_x']), session);
  assert.equal(OT.initSession(['1_y']).sessionId, '1_y');
});

test('module: each member of OT is exported by name, too, for import * as OT', async () => {
  const module = await import('../../opentok/index.js');
  assert.deepEqual(Object.keys(module).sort(), ['default', ...Object.keys(module.default)].sort());
  for (const [name, value] of Object.entries(module.default)) assert.equal(module[name], value, name);
});

test('error: an error’s own enumerable properties are code, message, name and stack', () => {
  const { session } = page();
  let error;
  session.signal({}, (given) => (error = given));
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'name', 'stack']);
  const { code, name, message } = JSON.parse(JSON.stringify(error));
  assert.deepEqual([code, name, message], [500, 'OT_NOT_CONNECTED', error.message]);
  assert.deepEqual({ ...error }.message, error.message);
  assert.equal(error.reason, error.message);
  assert.equal(String(error), `OT_NOT_CONNECTED: ${error.message}`);
  error.message = 'changed';
  assert.equal(error.reason, 'changed');
});

test('exception codes: OT.ExceptionCodes has OpenTok’s numbers by name', () => {
  const { OT, session, exceptions } = page();
  session.forceDisconnect('x');
  assert.equal(exceptions[0].code, OT.ExceptionCodes.NOT_CONNECTED);
  const { UNABLE_TO_PUBLISH, TERMS_OF_SERVICE_FAILURE, CONNECT_FAILED, JS_EXCEPTION } = OT.ExceptionCodes;
  assert.deepEqual([UNABLE_TO_PUBLISH, TERMS_OF_SERVICE_FAILURE, CONNECT_FAILED, JS_EXCEPTION], [1500, 1026, 1006, 2000]);
});

test('helpers: OT.$.eventing makes an emitter of any object, as opentok-angular does when it loads', () => {
  const { OT, browser } = page();
  const service = { init() { this.trigger('init', 'now'); } };
  assert.equal(OT.$.eventing(service), service);
  const received = [];
  service.on('init', () => { throw new Error('broken'); }).on('init', (when) => received.push(when));
  service.init();
  assert.deepEqual(received, ['now']);
  assert.deepEqual(browser.printed.map(([level, text]) => [level, text]), [['error', 'a handler for "init" failed:']]);
});

test('helpers: useLogHelpers and defaults', () => {
  const { OT, browser } = page();
  OT.$.useLogHelpers({}).warn('words');
  assert.deepEqual(browser.printed, [['warn', 'words']]);
  assert.deepEqual(OT.$.defaults({ a: 1 }, { a: 2, b: 3 }, undefined, { b: 4, c: 5 }), { a: 1, b: 3, c: 5 });
});

test('no conflict: noConflict returns the library; the script also gives the globals back', () => {
  const { OT, browser } = page();
  assert.equal(OT.noConflict(), OT);
  let restored = 0;
  const other = createOT({ ...browser.environment(), restoreGlobals: () => (restored += 1) }, null);
  assert.deepEqual([other.noConflict() === other, restored], [true, 1]);
});

test('on load: onLoad calls at once when the page is parsed, and else when it is', () => {
  const { OT, browser } = page();
  const calls = [];
  OT.onLoad(function () { calls.push(this); }, 'context');
  assert.deepEqual(calls, ['context']);
  const listeners = [];
  const document = { readyState: 'loading', addEventListener: (name, act) => listeners.push([name, act]) };
  createOT({ ...browser.environment(), document }, null).onLoad(() => calls.push('later'));
  assert.deepEqual([calls.length, listeners[0][0]], [1, 'DOMContentLoaded']);
  listeners[0][1]();
  assert.equal(calls.at(-1), 'later');
});

test('api key: OT.APIKEY is the key in the script’s address, and the key of initSession(sessionId)', () => {
  const { OT, browser } = page();
  assert.equal(OT.APIKEY, '');
  const keyed = createOT({ ...browser.environment(), scriptApiKey: '100' }, 'https://signals.example');
  assert.deepEqual([keyed.APIKEY, keyed.initSession('1_x').apiKey], ['100', '100']);
  assert.equal(keyed.initSession('200', '1_y').apiKey, '200');
});

/** What Vue 3 does with the state of a component: a proxy for each object that is tagged as a plain one. */
function reactive(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (!['[object Object]', '[object Array]'].includes(Object.prototype.toString.call(value))) return value;
  return new Proxy(value, { get: (target, name, receiver) => reactive(Reflect.get(target, name, receiver)) });
}

test('OT: a program keeps its objects in the state of Vue', async () => {
  const { OT, browser, session } = joined();
  const state = reactive({ session, OT, publisher: OT.initPublisher(() => {}), events: [] });
  state.session.on('signal', (event) => state.events.push(event));
  state.session.signal({ data: 'x', to: state.session.connections.get('ada-id') });
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', data: 'y' });
  assert.equal(state.events[0].from.destroyed(), false);
  state.events[0].preventDefault();
  assert.equal(state.events[0].isDefaultPrevented(), false);
  state.publisher.publishVideo(false).destroy();
  assert.equal(state.OT.publishers.length(), 0);
  await state.session.disconnect();
  assert.equal(browser.socket.sent.at(-1).op, 'disconnect');
});
