// The globals `OT` and `TB` of a page.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setGlobals } from '../../opentok/page-globals.js';

const OTHER = { whose: 'the other' };
const OWN = { whose: 'the own' };

/** Runs `act` in a page whose globals `before` describes, and returns what it returns. */
function inPage(before, act) {
  globalThis.document = { addEventListener() {} };
  Object.defineProperties(globalThis, before);
  try {
    return act();
  } finally {
    for (const name of ['document', 'OT', 'TB']) delete globalThis[name];
  }
}

const global = (value) => ({ value, writable: true, enumerable: true, configurable: true });
const both = () => [globalThis.OT?.whose, globalThis.TB?.whose];

for (const overOthers of [true, false]) {
  test(`globals: a page without them gets OT and a getter TB, and loses both again (${overOthers})`, () => {
    inPage({}, () => {
      const restore = setGlobals(OWN, { overOthers });
      assert.deepEqual(both(), ['the own', 'the own']);
      assert.equal(typeof Object.getOwnPropertyDescriptor(globalThis, 'TB').get, 'function');
      restore();
      assert.deepEqual(['OT' in globalThis, 'TB' in globalThis], [false, false]);
    });
  });

  test(`globals: there are none where there is no page (${overOthers})`, () => {
    setGlobals(OWN, { overOthers })();
    assert.deepEqual(['OT' in globalThis, 'TB' in globalThis], [false, false]);
  });
}

test('globals: a script takes the names of another library, and gives them back', () => {
  inPage({ OT: global(OTHER), TB: global(OTHER) }, () => {
    const restore = setGlobals(OWN, { overOthers: true });
    assert.deepEqual(both(), ['the own', 'the own']);
    restore();
    assert.deepEqual(both(), ['the other', 'the other']);
  });
});

test('globals: a module leaves the names to another library, also when it gives back', () => {
  inPage({ OT: global(OTHER), TB: global(OTHER) }, () => {
    const restore = setGlobals(OWN, { overOthers: false });
    assert.deepEqual(both(), ['the other', 'the other']);
    restore();
    assert.deepEqual(both(), ['the other', 'the other']);
  });
});

test('globals: a library that is loaded later can take both names', () => {
  inPage({}, () => {
    setGlobals(OWN, { overOthers: false });
    globalThis.OT = globalThis.TB = OTHER;
    assert.deepEqual(both(), ['the other', 'the other']);
  });
});

test('globals: a name that the page has declared with var is set, and given back', () => {
  // A property that cannot be configured cannot be removed either: the last test of this process.
  globalThis.document = { addEventListener() {} };
  Object.defineProperty(globalThis, 'TB', { ...global(undefined), configurable: false });
  const restore = setGlobals(OWN, { overOthers: true });
  assert.deepEqual(both(), ['the own', 'the own']);
  restore();
  assert.deepEqual(both(), [undefined, undefined]);
});
