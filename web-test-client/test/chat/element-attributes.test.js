// The attributes and properties of `<signalbox-chat>`. What the browser adds, such as the upgrade of elements that a page
// has made before the script is there, the tests in a browser show.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { TYPING_PRESETS } from '../../text-chat/index.js';
import { complaints, FakeSession, frame, leavePage, newChat, send, SignalboxChat } from '../../test-support/fakes/chat-page.js';

afterEach(leavePage);

/** Property, attribute, a value, its text in the attribute, and the value of the property without the attribute. */
const REFLECTED = [
  ['session', 'session', 's', 's', null], ['apiKey', 'api-key', '100', '100', null], ['token', 'token', 't', 't', null],
  ['server', 'server', 'https://a.example', 'https://a.example', null], ['alias', 'alias', 'Ada', 'Ada', null],
  ['senderId', 'sender-id', 'ada', 'ada', null], ['maxLength', 'max-length', 7, '7', 1000],
  ['look', 'look', 'opentok', 'opentok', 'bubbles'], ['scheme', 'scheme', 'dark', 'dark', null],
  ['placeholder', 'placeholder', 'Say it', 'Say it', null], ['isTypingShown', 'typing', false, 'off', true],
  ['isAdaptive', 'adapt', false, 'off', true], ['hasEmoji', 'emoji', false, 'off', true],
  ['hasMarkup', 'markup', true, 'on', false], ['hasEdits', 'edits', false, 'off', true],
  ['hasDeletes', 'deletes', false, 'off', true], ['hasReplies', 'replies', false, 'off', true],
  ['hasReactions', 'reactions', false, 'off', true], ['hasReceipts', 'receipts', false, 'off', true],
];

for (const [property, attribute, value, text, initial] of REFLECTED) {
  test(`the property ${property} is reflected both ways, and no value removes the attribute`, () => {
    const chat = document.createElement('signalbox-chat');
    assert.equal(chat[property], initial);
    chat[property] = value;
    assert.equal(chat.getAttribute(attribute), text);
    chat.removeAttribute(attribute);
    assert.equal(chat[property], initial);
    chat.setAttribute(attribute, text);
    assert.equal(chat[property], value);
    // Templates write `condition && value`.
    for (const nothing of [null, undefined, ...(value === false ? [] : [false])]) {
      chat[property] = value;
      chat[property] = nothing;
      assert.equal(chat.hasAttribute(attribute), false, String(nothing));
    }
  });
}

test('the attributes of this table are those of the element', () => {
  const names = REFLECTED.map(([, attribute]) => attribute);
  // The style alone reads the scheme, and `key` is the older name of `api-key`.
  assert.deepEqual(names.filter((name) => name !== 'scheme').concat('key').sort(), [...SignalboxChat.observedAttributes].sort());
});

test('a new element has no attributes, no content and no members of its own', () => {
  for (const made of [document.createElement('signalbox-chat'), new SignalboxChat()]) {
    assert.deepEqual([made.getAttributeNames(), made.childNodes.length, Object.keys(made)], [[], 0, []]);
  }
});

test('a property that was set before the definition has its effect when the element comes into the page', () => {
  const chat = document.createElement('signalbox-chat');
  const early = { placeholder: 'Say it', maxLength: 7, draft: 'early', look: 'opentok', state: 'wrong', unreadCount: 9 };
  // Such properties hide those of the class. A program may try to set what can only be read.
  for (const [name, value] of Object.entries(early)) {
    Object.defineProperty(chat, name, { value, configurable: true, enumerable: true, writable: true });
  }
  document.body.append(chat);
  assert.deepEqual(Object.keys(chat), []);
  const { placeholder, maxLength, draft, look, state, unreadCount } = chat;
  assert.deepEqual([placeholder, maxLength, draft, look], ['Say it', 7, 'early', 'opentok']);
  assert.deepEqual([state, unreadCount], ['disconnected', 0]);
  assert.deepEqual([chat.getAttribute('max-length'), chat.getAttribute('look')], ['7', 'opentok']);
});

test('a longest message that is no number above zero counts as none', () => {
  const chat = newChat();
  for (const wrong of ['0', '-1', 'many', '', '1.5']) {
    chat.setAttribute('max-length', wrong);
    assert.equal(chat.maxLength, 1000, wrong);
  }
});

test('the key is the API key, or without one the key', () => {
  for (const given of [{ 'api-key': '100' }, { key: '100' }, { 'api-key': '100', key: '200' }, { key: '100', 'api-key': ' ' }]) {
    const chat = document.createElement('signalbox-chat');
    for (const [name, value] of Object.entries(given)) chat.setAttribute(name, value);
    assert.equal(chat.apiKey, '100', JSON.stringify(given));
  }
  assert.equal(document.createElement('signalbox-chat').apiKey, null);
});

test('a property without a value has its default again', () => {
  const chat = document.createElement('signalbox-chat');
  const values = {
    ...Object.fromEntries(REFLECTED.map(([property, , value]) => [property, value])),
    draft: 'x', wireForm: 'TextChat', typingPolicy: TYPING_PRESETS.layer, strings: { send: 'Hop' },
  };
  const names = Object.keys(values);
  const before = names.map((name) => chat[name]);
  for (const nothing of [undefined, null]) {
    Object.assign(chat, values);
    assert.deepEqual(names.filter((name, index) => chat[name] === before[index]), []);
    for (const name of names) chat[name] = nothing;
    assert.deepEqual(names.map((name) => chat[name]), before);
  }
  assert.deepEqual(chat.getAttributeNames(), []);
});

test('changes by the page fire no events', async () => {
  const seen = [];
  const note = ({ type }) => seen.push(type);
  const names = ['state', 'message', 'send', 'unread', 'error'].map((name) => `signalbox-${name}`);
  for (const name of [...names, 'input', 'change', 'focusin']) document.addEventListener(name, note);
  const chat = newChat();
  Object.assign(chat, { draft: 'text', alias: 'Ada', maxLength: 2, look: 'opentok', placeholder: 'x' });
  Object.assign(chat, { scheme: 'dark', isTypingShown: false, senderId: 'ada', draft: '' });
  await frame();
  for (const name of [...names, 'input', 'change', 'focusin']) document.removeEventListener(name, note);
  assert.deepEqual([seen, complaints], [[], []]);
});

test('events bubble, leave shadow trees, and only sending can be cancelled', async () => {
  const seen = {};
  const outer = document.createElement('div');
  const note = (event) => {
    seen[event.type] = [event.bubbles, event.composed, event.cancelable, event.target === outer];
  };
  const names = ['state', 'message', 'send', 'unread'].map((name) => `signalbox-${name}`);
  for (const name of names) document.addEventListener(name, note);
  document.body.append(outer);
  const chat = document.createElement('signalbox-chat');
  outer.attachShadow({ mode: 'open' }).append(chat);
  const session = new FakeSession();
  chat.attach(session);
  outer.hidden = true;
  chat.noteReading();
  await session.receive('hi');
  chat.draft = 'mine';
  outer.hidden = false;
  chat.shadowRoot.querySelector('form').requestSubmit();
  await frame();
  for (const name of names) document.removeEventListener(name, note);
  for (const name of names) assert.deepEqual(seen[name], [true, true, name === 'signalbox-send', true], name);
});

test('with a program of OpenTok’s form the element writes its form, unless adapt is off', async () => {
  const chat = newChat();
  const session = new FakeSession();
  chat.attach(session);
  session.emit('sessionConnected');
  await session.receive('hello', 'program');
  const typesOf = async (text) => {
    session.sent.length = 0;
    await send(chat, text);
    await session.answer();
    return session.sent.map(({ type }) => type).filter((type) => type !== 'typing');
  };
  assert.deepEqual(await typesOf('1'), ['TextChat']);
  chat.setAttribute('adapt', 'off');
  assert.deepEqual(await typesOf('2'), ['text-chat']);
});
