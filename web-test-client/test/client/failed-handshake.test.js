// The cause of a WebSocket that does not open, which browsers hide.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOT } from '../../opentok/api/ot.js';
import { FakeBrowser, connectedMessage, settled } from '../../test-support/fakes/fake-browser.js';

const WITHOUT_UPGRADES = /^The proxy in front does not pass WebSocket upgrades\./;
const HTTP_ONLY = /^The server answers HTTP requests, but no WebSocket to it opens\./;
const CLOSED = 'The server closed the connection (close code 1006).';

/** A client whose first WebSocket fails; plain requests get `answer`. */
function failing(answer) {
  const browser = new FakeBrowser();
  const requests = [];
  const environment = browser.environment();
  environment.fetch = (url, options) => {
    requests.push({ url, ...options });
    return answer(options);
  };
  const errors = [];
  const session = createOT(environment, 'https://chat.example/prefix').initSession('100', '1_x');
  session.connect('T', (error) => errors.push(error));
  browser.socket.drop();
  return { browser, session, errors, requests };
}

const responding = (status, body) => () => Promise.resolve({ status, json: () => Promise.resolve(body) });

test('WIRE-1 a proxy that removes the upgrade is named in the error', async () => {
  const { errors, requests, browser } = failing(responding(426, { code: 426, upgradeMissing: true }));
  assert.deepEqual(errors, []);
  await settled();
  assert.deepEqual([errors.length, errors[0].code, errors[0].name], [1, 1006, 'OT_CONNECT_FAILED']);
  assert.match(errors[0].message, WITHOUT_UPGRADES);
  assert.deepEqual(requests.map((each) => each.url), ['https://chat.example/prefix/v1/signaling?sessionId=1_x']);
  assert.deepEqual([requests[0].credentials, requests[0].cache], ['omit', 'no-store']);
  assert.equal(browser.timers.size, 0);
});

test('WIRE-1 without such a handshake at the server the error says that only HTTP works', async () => {
  for (const body of [{ code: 426, upgradeMissing: false }, { code: 426 }, { upgradeMissing: 'true' }]) {
    const { errors } = failing(responding(426, body));
    await settled();
    assert.match(errors[0].message, HTTP_ONLY);
  }
});

test('WIRE-1 an answer that explains nothing leaves the close code', async () => {
  for (const answer of [
    responding(200, { upgradeMissing: true }), responding(503, {}), responding(404, {}), responding(426, null),
    () => Promise.reject(new TypeError('Failed to fetch')),
    () => {
      throw new TypeError('refused by the policy of the page');
    },
    () => Promise.resolve({ status: 426, json: () => Promise.reject(new SyntaxError('not JSON')) }),
  ]) {
    const { errors } = failing(answer);
    await settled();
    assert.deepEqual(errors.map((error) => error.message), [CLOSED]);
  }
});

test('WIRE-1 a server that does not answer the question delays the error by three seconds', async () => {
  const { browser, errors } = failing(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  browser.pass(2999);
  await settled();
  assert.deepEqual(errors, []);
  browser.pass(1);
  await settled();
  assert.deepEqual(errors.map((error) => error.message), [CLOSED]);
});

test('WIRE-1 a disconnect ends the wait for the cause, and the answer comes too late', async () => {
  let answer;
  const { session, errors, browser } = failing(() => new Promise((resolve) => (answer = resolve)));
  session.disconnect();
  const second = [];
  session.connect('T', (error) => second.push(error));
  answer({ status: 426, json: () => Promise.resolve({ upgradeMissing: true }) });
  await settled();
  assert.equal(browser.sockets.length, 2);
  assert.deepEqual([errors.length <= 1, second], [true, []]);
});

test('WIRE-1 the late close of a former connection’s socket asks for no cause', async () => {
  const browser = new FakeBrowser();
  const requests = [];
  const environment = browser.environment();
  environment.fetch = (url) => {
    requests.push(url);
    return responding(426, { upgradeMissing: false })();
  };
  const session = createOT(environment, 'https://chat.example').initSession('100', '1_x');
  session.connect('T');
  const former = browser.socket;
  former.open();
  former.receive(connectedMessage());
  session.disconnect();
  const errors = [];
  session.connect('T', (error) => errors.push(error));
  assert.equal(browser.sockets.length, 2);
  former.drop();
  await settled();
  assert.deepEqual([requests, errors], [[], []]);
});
