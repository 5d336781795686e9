import assert from 'node:assert/strict';
import test from 'node:test';
import { isBlocked, watchPolicy } from '../../client/blocked-hosts.js';
import { causeOfFailedHandshake } from '../../client/failed-handshake.js';

function violation(changes = {}) {
  return Object.assign(new Event('securitypolicyviolation'), {
    disposition: 'enforce', effectiveDirective: 'connect-src', blockedURI: 'wss://one.example/v1/signaling', ...changes,
  });
}

const document = new EventTarget();
watchPolicy(document);

test('a socket that the policy of the page has blocked is known', () => {
  assert.equal(isBlocked('wss://one.example/v1/signaling'), false);
  document.dispatchEvent(violation());
  assert.equal(isBlocked('wss://one.example/v1/signaling'), true);
  assert.equal(isBlocked('wss://other.example/v1/signaling'), false);
});

test('policies that only report, other directives, requests and keywords block no socket', () => {
  const address = 'wss://two.example/v1/signaling';
  for (const changes of [
    { disposition: 'report' }, { effectiveDirective: 'script-src-elem' }, { blockedURI: 'https://two.example/' },
    { blockedURI: 'inline' }, { blockedURI: '' },
  ]) {
    document.dispatchEvent(violation({ blockedURI: address, ...changes }));
    assert.equal(isBlocked(address), false);
  }
});

test('the cause of a blocked socket names the source to add, without a request', async () => {
  const environment = {
    isBlocked: () => true,
    fetch: () => assert.fail('there is nothing to ask the server'),
  };
  assert.equal(
    await causeOfFailedHandshake(environment, 'wss://chat.example:8443/app/v1/signaling'),
    'The page’s Content-Security-Policy blocks the connection to wss://chat.example:8443. ' +
      'Add wss://chat.example:8443 to its connect-src.',
  );
});
