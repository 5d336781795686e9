import assert from 'node:assert/strict';
import test from 'node:test';
import { Emitter, makeEmitter } from '../../opentok/api/emitter.js';

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
  assert.equal(after(() => emitter.off({ a: first, b: first })), 'second');
  assert.equal(after(() => emitter.off({ a: second }, context)), 'first first');
  assert.equal(after(() => emitter.off({ a: second }, {})), 'first second first');
  assert.equal(after(() => emitter.off()), '');
  assert.equal(after(() => emitter.off(null, first)), '', 'without a name everything goes, as in OpenTok');
});

test('off: with a handler, one listener of that context goes, the newest, and duplicates one at a time', () => {
  const emitter = new Emitter();
  const received = [];
  const context = { name: 'context' };
  const handler = function () { received.push(this?.name ?? 'bare'); };
  const heard = () => {
    received.length = 0;
    emitter.emit('a');
    return received.join(' ');
  };
  emitter.on('a', handler).on('a', handler, context).on('a', handler).on('a', handler, context);
  emitter.off('a', handler);
  assert.equal(heard(), 'bare context context', 'the newest without a context');
  emitter.off('a', handler, context);
  assert.equal(heard(), 'bare context');
  emitter.off('a', handler, null);
  assert.equal(heard(), 'context', 'null is no context');
  emitter.off('a', handler).off('b', handler);
  assert.equal(heard(), 'context');
  emitter.on('a', handler, { name: 'other' }).off('a', null, context);
  assert.equal(heard(), 'other', 'without a handler, all of the context');
  emitter.off('a', undefined);
  assert.equal(heard(), '');
});

test('listener count: as many as on and once added and nothing has removed', () => {
  const emitter = new Emitter();
  const handler = () => {};
  emitter.on('a b', handler).on('a', handler).once('a', handler);
  assert.deepEqual([emitter.listenerCount('a'), emitter.listenerCount('b'), emitter.listenerCount('c')], [3, 1, 0]);
  emitter.emit('a');
  assert.equal(emitter.listenerCount('a'), 2);
});

test('eventing: an object gets the methods as its own, and they return it', () => {
  const received = [];
  const object = { name: 'mine' };
  assert.equal(makeEmitter(object), object);
  assert.equal(object.on('a', (event) => received.push(event.target)).once('a', () => {}), object);
  object.dispatchEvent({ type: 'a' });
  assert.equal(object.listenerCount('a'), 1);
  assert.equal(object.off('a').emit('a'), object);
  assert.deepEqual(received, [object]);
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

test('a handler added during a dispatch waits for the next', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.once('a', () => emitter.on('a', receive('late')));
  emitter.emit('a');
  assert.deepEqual(received, []);
  emitter.emit('a');
  assert.deepEqual(received, ['late']);
});

test('removed: a handler removed during a dispatch is still called in it, and then no more', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.on('a', () => emitter.off());
  emitter.on('a', receive('on')).once('a', receive('once'));
  emitter.emit('a').emit('a');
  assert.deepEqual(received, ['on', 'once']);
});

test('names such as __proto__ and constructor are names like any other', () => {
  const { received, receive } = recorder();
  const emitter = new Emitter();
  emitter.emit('constructor').on('__proto__', receive('x')).emit('__proto__');
  assert.deepEqual(received, ['x']);
});

test('not a function: a handler that is not a function throws where it is added', () => {
  const emitter = new Emitter();
  for (const wrong of [undefined, null, 'text', {}]) {
    const expected = { name: 'TypeError', message: /"a b" must be a function/ };
    assert.throws(() => emitter.on('a b', wrong), expected);
    assert.throws(() => emitter.once('a b', wrong), expected);
    assert.throws(() => emitter.on({ 'a b': wrong }), expected);
  }
  assert.equal(emitter.listenerCount('a'), 0);
});

test('no type: dispatchEvent throws for an event without a type', () => {
  for (const wrong of [{}, { type: '' }]) {
    assert.throws(() => new Emitter().dispatchEvent(wrong), { message: /no type/ });
  }
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

test('off: a list of names, and an event of the application’s own gets its target', () => {
  const emitter = new Emitter();
  const received = [];
  emitter.on('a b c', (event) => received.push([event.type, event.target === emitter]));
  emitter.off(['a', 'b']);
  for (const type of ['a', 'b', 'c']) emitter.dispatchEvent({ type });
  assert.deepEqual(received, [['c', true]]);
});
