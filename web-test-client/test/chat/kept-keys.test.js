import assert from 'node:assert/strict';
import test from 'node:test';
import { isKeptKey } from '../../chat/keys/kept-keys.js';

const MODIFIERS = { c: 'ctrlKey', m: 'metaKey', a: 'altKey', s: 'shiftKey' };

/** `key('Ctrl+k')`, with the initials of the modifiers in small letters: `key('c+k')`. */
function key(text, changes = {}) {
  const [name, ...modifiers] = text === '+' ? ['+'] : text.split('+').reverse();
  const held = Object.fromEntries(modifiers.map((each) => [MODIFIERS[each], true]));
  return { key: name, getModifierState: () => false, ...held, ...changes };
}

const kept = (texts, hasOptionKey = false) => texts.filter((text) => isKeptKey(key(text), hasOptionKey));

test('keys that type or edit belong to the field', () => {
  const keys = ['a', 'Z', 's+Z', '/', '?', '+', ' ', 'é', 'Ж', '字', '👍', 'Enter', 'c+Enter', 'Backspace', 'c+Backspace',
    'ArrowUp', 's+ArrowLeft', 'Home', 'Delete', 'Dead', 'Process', 'Unidentified'];
  assert.deepEqual(kept(keys), keys);
});

test('shortcuts that edit a text belong to the field', () => {
  const keys = ['c+a', 'm+a', 'c+c', 'm+v', 'c+x', 'c+z', 'm+s+Z', 'c+y'];
  assert.deepEqual(kept(keys), keys);
});

test('Escape, Tab, function keys, modifiers and other shortcuts belong to the page', () => {
  const keys = ['Escape', 'Tab', 's+Tab', 'F1', 'F12', 'Shift', 'Control', 'Alt', 'Meta', 'c+k', 'm+k', 'c+/', 'a+n',
    'c+a+z', 'ContextMenu', 'MediaPlayPause'];
  assert.deepEqual(kept(keys), []);
});

test('an Option key types characters, an Alt key commands', () => {
  assert.deepEqual(kept(['a+[', 'a+å'], true), ['a+[', 'a+å']);
  assert.deepEqual(kept(['a+[', 'a+å'], false), []);
});

test('the third level of a keyboard types, whatever modifiers the system reports', () => {
  assert.ok(isKeptKey(key('c+a+@', { getModifierState: (name) => name === 'AltGraph' }), false));
});

test('all keys of a composition belong to the field', () => {
  for (const name of ['Escape', 'Tab', 'Enter', 'a']) assert.ok(isKeptKey(key(name, { isComposing: true }), false));
});

test('an event of a program without the members of a key does not fail', () => {
  assert.equal(isKeptKey({}, false), false);
});
