import assert from 'node:assert/strict';
import test from 'node:test';
import { Emitter } from '../opentok/api/emitter.js';

function recorder() {
  const heard = [];
  return { heard, hear: (word) => (value) => heard.push(`${word}${value ?? ''}`) };
}

test('on takes several names separated by spaces, and returns the emitter', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  assert.equal(emitter.on('a  b', hear('x')), emitter);
  emitter.emit('a', 1).emit('b', 2).emit('c', 3);
  assert.deepEqual(heard, ['x1', 'x2']);
});

test('on takes a map of handlers, whose second argument is the context', () => {
  const emitter = new Emitter();
  const context = { heard: [] };
  emitter.on({ 'a b': function () { this.heard.push('ab'); }, c: function () { this.heard.push('c'); } }, context);
  emitter.emit('a').emit('b').emit('c');
  assert.deepEqual(context.heard, ['ab', 'ab', 'c']);
});

test('handlers run in the order in which they were added, with their context', () => {
  const heard = [];
  const emitter = new Emitter();
  emitter.on('a', function () { heard.push(this.name); }, { name: 'first' });
  emitter.on('a', function () { heard.push(this.name); }, { name: 'second' });
  emitter.emit('a');
  assert.deepEqual(heard, ['first', 'second']);
});

test('once with several names runs once for each of them, as each name is registered on its own', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  emitter.once('a', hear('one')).once('b c', hear('two')).once({ d: hear('three'), e: hear('four') });
  for (const name of ['a', 'a', 'c', 'b', 'c', 'd', 'e', 'd']) emitter.emit(name);
  assert.deepEqual(heard, ['one', 'two', 'two', 'three', 'four']);
});

test('a once handler may emit the same name without running again', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  emitter.once('a', () => { hear('x')(); emitter.emit('a'); });
  emitter.emit('a');
  assert.deepEqual(heard, ['x']);
});

test('off forgets by name, by handler, by context, by map, or everything', () => {
  const emitter = new Emitter();
  const heard = [];
  const first = () => heard.push('first');
  const second = () => heard.push('second');
  const context = {};
  const refill = () => emitter.off().on('a b', first).on('a', second, context);
  const after = (forget) => {
    refill();
    heard.length = 0;
    forget();
    emitter.emit('a').emit('b');
    return heard.join(' ');
  };
  assert.equal(after(() => {}), 'first second first');
  assert.equal(after(() => emitter.off('a')), 'first');
  assert.equal(after(() => emitter.off('a b')), '');
  assert.equal(after(() => emitter.off('a', first)), 'second first');
  assert.equal(after(() => emitter.off('a', null, context)), 'first first');
  assert.equal(after(() => emitter.off('a', second, {})), 'first second first');
  assert.equal(after(() => emitter.off({ a: second, b: first })), 'first');
  assert.equal(after(() => emitter.off({ a: second }, {})), 'first second first');
  assert.equal(after(() => emitter.off()), '');
});

test('off also forgets a once handler by the function that was given', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  const handler = hear('x');
  emitter.once('a', handler).off('a', handler).emit('a');
  assert.deepEqual(heard, []);
});

test('a handler that throws is reported, and the others still run', () => {
  const { heard, hear } = recorder();
  const reported = [];
  const emitter = new Emitter((failure, name) => reported.push([failure.message, name]));
  emitter.on('a', () => { throw new Error('broken'); }).on('a', hear('x'));
  emitter.emit('a');
  assert.deepEqual(heard, ['x']);
  assert.deepEqual(reported, [['broken', 'a']]);
});

test('a handler added during a dispatch waits for the next, one removed during it is not called', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  const doomed = hear('doomed');
  emitter.on('a', () => { emitter.off('a', doomed); emitter.once('a', hear('late')); });
  emitter.on('a', doomed);
  emitter.emit('a');
  assert.deepEqual(heard, []);
  emitter.emit('a');
  assert.deepEqual(heard, ['late']);
});

test('names such as __proto__ and constructor are names like any other', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  emitter.emit('constructor').on('__proto__', hear('x')).emit('__proto__');
  assert.deepEqual(heard, ['x']);
});

test('a handler that is no function is reported where it is added, and nothing else happens', () => {
  const { heard, hear } = recorder();
  const reported = [];
  const emitter = new Emitter((failure, name) => reported.push([failure.name, name]));
  assert.equal(emitter.on('a b', undefined).once({ c: null }).on('a', hear('x')), emitter);
  emitter.emit('a').emit('b').emit('c');
  assert.deepEqual(heard, ['x']);
  assert.deepEqual(reported, [['TypeError', 'a b'], ['TypeError', 'c']]);
});

test('once takes a context, and off forgets one of its names while the other stays', () => {
  const emitter = new Emitter();
  const context = { heard: [] };
  const handler = function (value) { this.heard.push(value); };
  emitter.once('a b', handler, context).off('a', handler, context);
  emitter.emit('a', 1).emit('b', 2).emit('b', 3);
  assert.deepEqual(context.heard, [2]);
});

test('emit, trigger and dispatchEvent are one thing; addEventListener and removeEventListener are on and off', () => {
  const { heard, hear } = recorder();
  const emitter = new Emitter();
  const handler = hear('x');
  assert.equal(emitter.addEventListener('a', handler), emitter);
  assert.equal(emitter.emit('a', 1), emitter);
  assert.equal(emitter.trigger('a', 2), emitter);
  assert.equal(emitter.dispatchEvent({ type: 'a', toString: () => 3 }), emitter);
  assert.equal(emitter.removeEventListener('a', handler), emitter);
  emitter.emit('a', 4);
  assert.deepEqual(heard, ['x1', 'x2', 'x3']);
});

test('opentok_6_2_off: a list of names, and an event of the application’s own gets its target', () => {
  const emitter = new Emitter();
  const heard = [];
  emitter.on('a b c', (event) => heard.push([event.type, event.target === emitter]));
  emitter.off(['a', 'b']);
  for (const type of ['a', 'b', 'c']) emitter.dispatchEvent({ type });
  assert.deepEqual(heard, [['c', true]]);
});
