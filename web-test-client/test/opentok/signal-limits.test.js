import assert from 'node:assert/strict';
import test from 'node:test';
import { clonedData, signalVerdict } from '../../opentok/api/signal/signal-verdict.js';
import { vectorCases, vectorProperties } from '../../test-support/vectors.js';
import { wireRefusal } from '../../test-support/wire-rule.js';

const web = (options) => signalVerdict(options, () => false)?.code ?? null;

for (const { name, signal, refused = null } of vectorCases('limits/signal.json')) {
  test(`SIG-2 to SIG-5, the wire: ${name} → ${refused ?? 'taken'}`, () => {
    assert.equal(wireRefusal(vectorProperties(signal)), refused);
  });
}

for (const { name, options, refused = null } of vectorCases('limits/web.json')) {
  test(`the web client's rule: ${name} → ${refused ?? 'sent'}`, () => {
    assert.equal(web(vectorProperties(options)), refused);
  });
}

test('every signal that the web client accepts is valid on the wire, as text and with a named target', () => {
  let checked = 0;
  for (const { name, options } of vectorCases('limits/web.json')) {
    const given = vectorProperties(options);
    if (web(given) !== null) continue;
    const text = (value) => (value === undefined || typeof value === 'string' ? value : JSON.stringify(value));
    assert.equal(wireRefusal({ type: text(given.type), data: text(clonedData(given.data)) }), null, name);
    checked += 1;
  }
  assert.ok(checked > 15);
});
