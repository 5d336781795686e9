import assert from 'node:assert/strict';
import test from 'node:test';
import { Emitter } from '../../opentok/api/emitter.js';

function recorder() {
  const received = [];
  return { received, receive: (word) => (value) => received.push(`${word}${value ?? ''}`) };
}

test('on takes several names separated by spaces, and returns the emitter', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  assert.equal(emitter.on('a  b', receive('x')), emitter);
  emitter.emit('a', 1).emit('b', 2).emit('c', 3);
  assert.deepEqual(received, ['x1', 'x2']);
});

test('on takes a map of handlers, whose second argument is the context', () => {
  const emitter = new Emitter();
  const context = { received: [] };
  emitter.on(
    { 'a b': function () { this.received.push('ab'); }, c: function () { this.received.push('c'); } }, context
  );
  emitter.emit('a').emit('b').emit('c');
  assert.deepEqual(context.received, ['ab', 'ab', 'c']);
});

test('handlers run in the order in which they were added, with their context', () => {
  const received = [];
  const emitter = new Emitter();
  emitter.on('a', function () { received.push(this.name); }, { name: 'first' });
  emitter.on('a', function () { received.push(this.name); }, { name: 'second' });
  emitter.emit('a');
  assert.deepEqual(received, ['first', 'second']);
});

test('once with several names runs once for each of them, as each name is registered on its own', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.once('a', receive('one')).once('b c', receive('two')).once({ d: receive('three'), e: receive('four') });
  for (const name of ['a', 'a', 'c', 'b', 'c', 'd', 'e', 'd']) emitter.emit(name);
  assert.deepEqual(received, ['one', 'two', 'two', 'three', 'four']);
});

test('a once handler may emit the same name without running again', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.once('a', () => { receive('x')(); emitter.emit('a'); });
  emitter.emit('a');
  assert.deepEqual(received, ['x']);
});

test('off forgets by name, by handler, by context, by map, or all listeners', () => {
  const emitter = new Emitter();
  const received = [];
  const first = () => received.push('first');
  const second = () => received.push('second');
  const context = {};
  const refill = () => emitter.off().on('a b', first).on('a', second, context);
  const after = (forget) => {
    refill();
    received.length = 0;
    forget();
    emitter.emit('a').emit('b');
    return received.join(' ');
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
  const { received, receive } = recorder();
  const emitter = new Emitter();
  const handler = receive('x');
  emitter.once('a', handler).off('a', handler).emit('a');
  assert.deepEqual(received, []);
});

test('a handler that throws is reported, and the others still run', () => {
  const { received, receive } = recorder();
  const reported = [];
  const emitter = new Emitter((failure, name) => reported.push([failure.message, name]));
  emitter.on('a', () => { throw new Error('broken'); }).on('a', receive('x'));
  emitter.emit('a');
  assert.deepEqual(received, ['x']);
  assert.deepEqual(reported, [['broken', 'a']]);
});

test('a handler added during a dispatch waits for the next, one removed during it is not called', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  const doomed = receive('doomed');
  emitter.on('a', () => { emitter.off('a', doomed); emitter.once('a', receive('late')); });
  emitter.on('a', doomed);
  emitter.emit('a');
  assert.deepEqual(received, []);
  emitter.emit('a');
  assert.deepEqual(received, ['late']);
});

test('names such as __proto__ and constructor are names like any other', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.emit('constructor').on('__proto__', receive('x')).emit('__proto__');
  assert.deepEqual(received, ['x']);
});

test('a handler that is not a function is reported where it is added, and ignored', () => {
  const { received, receive } = recorder();
  const reported = [];
  const emitter = new Emitter((failure, name) => reported.push([failure.name, name]));
  assert.equal(emitter.on('a b', undefined).once({ c: null }).on('a', receive('x')), emitter);
  emitter.emit('a').emit('b').emit('c');
  assert.deepEqual(received, ['x']);
  assert.deepEqual(reported, [['TypeError', 'a b'], ['TypeError', 'c']]);
});

test('once takes a context, and off forgets one of its names while the other stays', () => {
  const emitter = new Emitter();
  const context = { received: [] };
  const handler = function (value) { this.received.push(value); };
  emitter.once('a b', handler, context).off('a', handler, context);
  emitter.emit('a', 1).emit('b', 2).emit('b', 3);
  assert.deepEqual(context.received, [2]);
});

test('emit, trigger and dispatchEvent are the same; addEventListener and removeEventListener are on and off', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  const handler = receive('x');
  assert.equal(emitter.addEventListener('a', handler), emitter);
  assert.equal(emitter.emit('a', 1), emitter);
  assert.equal(emitter.trigger('a', 2), emitter);
  assert.equal(emitter.dispatchEvent({ type: 'a', toString: () => 3 }), emitter);
  assert.equal(emitter.removeEventListener('a', handler), emitter);
  emitter.emit('a', 4);
  assert.deepEqual(received, ['x1', 'x2', 'x3']);
});

test('opentok_6_2_off: a list of names, and an event of the application’s own gets its target', () => {
  const emitter = new Emitter();
  const received = [];
  emitter.on('a b c', (event) => received.push([event.type, event.target === emitter]));
  emitter.off(['a', 'b']);
  for (const type of ['a', 'b', 'c']) emitter.dispatchEvent({ type });
  assert.deepEqual(received, [['c', true]]);
});
