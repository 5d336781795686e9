// The element edits, deletes, copies and answers messages: what it asks the session for, and what the user reads. How it
// looks and feels, the tests in a browser show.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { FakeKey } from '../../test-support/fakes/fake-document.js';
import { all, FakeSession, frame, leavePage, newChat, part, press, texts, type, until } from '../../test-support/fakes/chat-page.js';

afterEach(leavePage);

const OWN = { connectionId: 'own', data: 'Ada', user: 'u-ada' };
const BOB = { connectionId: 'bob', data: 'Bob', user: 'u-bob' };

/** A session with a history whose server permits changes. Each change waits until the test answers it. */
class ChangingSession extends FakeSession {
  hasHistory = true;
  epoch = 'e';
  changes = ['edit', 'erase'];
  connection = OWN;
  asked = [];
  kept = [];
  seq = 0;

  history({ before = Infinity, after = -1, changedAfter, limit }) {
    if (changedAfter !== undefined) return Promise.resolve({ more: false, messages: [], changedThrough: this.seq });
    const found = this.kept.filter(({ seq }) => seq < before && seq > after);
    const messages = found.slice(-limit);
    return Promise.resolve({ first: this.kept[0]?.seq, last: this.kept.at(-1)?.seq, more: found.length > messages.length, messages });
  }

  change(request) {
    return this.#ask(request);
  }

  erase(request) {
    return this.#ask(request);
  }

  #ask(request) {
    return new Promise((resolve, reject) => this.asked.push({ request, resolve, reject }));
  }

  keep(from, text, members = {}) {
    this.seq += 1;
    const data = JSON.stringify({ text, localId: `l${this.seq}`, ...members });
    const message = { seq: this.seq, from, type: 'signal:text-chat', data, time: 1_700_000_000_000 + this.seq * 1000 };
    this.kept.push(message);
    return message;
  }

  async say(from, text, members) {
    this.emit('signal', this.keep(from, text, members));
    await frame();
  }

  async edited(ref, text, members = {}) {
    this.seq += 1;
    this.emit('messageChanged', { seq: this.seq, ref, rel: 'edit', from: OWN, data: JSON.stringify({ text, ...members }) });
    await frame();
  }

  async erased(ref) {
    this.seq += 1;
    this.emit('messagesErased', { ref });
    await frame();
  }

  async answer() {
    this.seq += 1;
    this.asked.shift().resolve({ seq: this.seq });
    await frame();
  }

  async refuse(code, members = {}) {
    this.asked.shift().reject(Object.assign(new Error('refused'), { code, ...members }));
    await frame();
  }
}

/** A chat whose user, Ada, has read these messages, and has entered the chat. */
async function chatWith(messages, members = {}, properties = {}) {
  const session = Object.assign(new ChangingSession(), members);
  for (const [from, text, more] of messages) session.keep(from, text, more);
  const chat = newChat(properties);
  chat.attach(session);
  session.emit('sessionConnected');
  await until(() => texts(chat).length === messages.length);
  part(chat, 'chat-frame').dispatchEvent(new Event('focusin'));
  await until(() => part(chat, 'composer').querySelector('.reply-bar') !== null);
  await frame();
  return { chat, session };
}

const row = (chat, index) => all(chat, '#messages [data-kind="message"]')[index];
const editor = (chat) => all(chat, '.editor textarea')[0] ?? null;
const noteOf = (chat) => all(chat, '.editor-note')[0].textContent;
const hint = (chat) => part(chat, 'composer-hint').textContent;
const said = (chat) => all(chat, '.visually-hidden').find((each) => each.getAttribute('role') === 'status').textContent;

/** The texts of the items of the menu of a message. */
async function menuOf(chat, index) {
  const button = row(chat, index).querySelector('.row-menu');
  button.click();
  // A second click closes it.
  if (button.getAttribute('aria-expanded') === 'false') button.click();
  await frame();
  return all(chat, '#action-menu button').map((each) => each.textContent);
}

async function choose(chat, index, text) {
  await menuOf(chat, index);
  all(chat, '#action-menu button').find((each) => each.textContent === text).click();
  await frame();
}

function write(chat, text) {
  editor(chat).value = text;
  editor(chat).dispatchEvent(new Event('input'));
}

function pressIn(field, key, changes) {
  const event = new FakeKey(key, changes);
  field.dispatchEvent(event);
  return event;
}

test('the menu of a message has what the user may do, in this order', async () => {
  const { chat } = await chatWith([[BOB, 'hi'], [OWN, 'hello']]);
  assert.deepEqual(await menuOf(chat, 0), ['Copy', 'Reply']);
  assert.deepEqual(await menuOf(chat, 1), ['Edit', 'Delete this message…', 'Copy', 'Reply']);
});

test('CHG-3: without changes a user can copy and answer, and nothing else', async () => {
  const { chat } = await chatWith([[OWN, 'hello']], { changes: null });
  assert.deepEqual(await menuOf(chat, 0), ['Copy', 'Reply']);
  assert.equal(press(chat, 'ArrowUp').defaultPrevented, false);
  assert.equal(editor(chat), null);
});

test('each attribute takes away its own items', async () => {
  const { chat } = await chatWith([[OWN, 'hello']], {}, { hasEdits: false });
  assert.deepEqual(await menuOf(chat, 0), ['Delete this message…', 'Copy', 'Reply']);
  Object.assign(chat, { hasEdits: true, hasDeletes: false, hasReplies: false });
  assert.deepEqual(await menuOf(chat, 0), ['Edit', 'Copy']);
  assert.equal(row(chat, 0).querySelector('.reply').hidden, true);
  chat.hasReplies = true;
  assert.equal(row(chat, 0).querySelector('.reply').hidden, false);
});

test('MOD-4: a user who is muted, or whose role only reads, can copy', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  session.restrictedBy = [{ kind: 'mute', until: null, reason: null }];
  session.emit('restricted');
  await frame();
  assert.deepEqual(await menuOf(chat, 0), ['Copy']);
  assert.equal(row(chat, 0).querySelector('.reply').hidden, true);
  const reader = await chatWith([[OWN, 'hello']], { maySignal: false });
  assert.deepEqual(await menuOf(reader.chat, 0), ['Copy']);
});

test('CHAT-13: ↑, the change, Enter: the last own message is edited in its place, and the draft is free again', async () => {
  const { chat, session } = await chatWith([[OWN, 'helo'], [BOB, 'hm']]);
  assert.equal(press(chat, 'ArrowUp').defaultPrevented, true);
  assert.equal(editor(chat).value, 'helo');
  write(chat, 'hello');
  assert.equal(pressIn(editor(chat), 'Enter').defaultPrevented, true);
  await frame();
  assert.equal(noteOf(chat), 'Saving…');
  const { ref, rel, data } = session.asked[0].request;
  assert.deepEqual([ref, rel, JSON.parse(data).text], [1, 'edit', 'hello']);
  // What the user sees is what the server has.
  assert.deepEqual(texts(chat), ['helo', 'hm']);
  await session.answer();
  assert.equal(editor(chat), null);
  assert.deepEqual(texts(chat), ['hello', 'hm']);
  assert.equal(all(chat, '.edited')[0].textContent, 'edited');
  assert.equal(chat.shadowRoot.activeElement, part(chat, 'composer-text'));
  await until(() => said(chat) === 'The message was changed.');
});

test('↑ edits nothing while there is a draft, while an input method composes, and with a modifier', async () => {
  const { chat } = await chatWith([[OWN, 'hello']]);
  for (const changes of [{ isComposing: true }, { keyCode: 229 }, { shiftKey: true }, { altKey: true }]) press(chat, 'ArrowUp', changes);
  type(chat, 'draft');
  press(chat, 'ArrowUp');
  assert.equal(editor(chat), null);
});

test('while an input method composes, Enter and Escape stay in the editor', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  press(chat, 'ArrowUp');
  write(chat, 'こ');
  pressIn(editor(chat), 'Enter', { isComposing: true });
  pressIn(editor(chat), 'Escape', { isComposing: true });
  assert.equal(session.asked.length, 0);
  assert.equal(editor(chat).value, 'こ');
});

test('an unchanged text closes the editor, an empty one says why not, and Escape cancels', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  press(chat, 'ArrowUp');
  pressIn(editor(chat), 'Enter');
  assert.equal(editor(chat), null);
  press(chat, 'ArrowUp');
  write(chat, '  ');
  pressIn(editor(chat), 'Enter');
  assert.equal(noteOf(chat), 'A message cannot be empty. You can delete it.');
  assert.equal(pressIn(editor(chat), 'Escape').defaultPrevented, true);
  assert.equal(editor(chat), null);
  assert.deepEqual([session.asked, texts(chat)], [[], ['hello']]);
});

test('after an error the text stays in the editor, with one sentence', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  press(chat, 'ArrowUp');
  const sentences = [];
  for (const code of [403, 404, 413, 429, 500, 2000]) {
    write(chat, `hello ${code}`);
    pressIn(editor(chat), 'Enter');
    await frame();
    await session.refuse(code);
    sentences.push(noteOf(chat));
    assert.equal(editor(chat).value, `hello ${code}`);
  }
  assert.deepEqual(sentences, [
    'This message cannot be changed.', 'This message cannot be changed.',
    'This text is too large for one message. Shorten it.',
    'Too many changes at once. Wait a moment, then try again.',
    'This did not work: the connection is interrupted. Try again.', 'This did not work. Try again.',
  ]);
  session.emit('sessionDisconnected');
  write(chat, 'later');
  pressIn(editor(chat), 'Enter');
  await frame();
  assert.equal(noteOf(chat), 'This did not work: the connection is interrupted. Try again.');
});

test('a change in a second tab meanwhile is told, and saving replaces it', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  press(chat, 'ArrowUp');
  write(chat, 'mine');
  await session.edited(1, 'of the other tab');
  assert.equal(editor(chat).value, 'mine');
  assert.equal(noteOf(chat), 'This message was changed meanwhile. If you save, your text replaces that change.');
  pressIn(editor(chat), 'Enter');
  await frame();
  await session.answer();
  assert.deepEqual(texts(chat), ['mine']);
});

test('a message that is erased while it is edited leaves its text in the empty field, or in a line beside a draft', async () => {
  for (const draft of ['', 'draft']) {
    const { chat, session } = await chatWith([[OWN, 'hello']]);
    press(chat, 'ArrowUp');
    write(chat, 'what I wrote');
    chat.draft = draft;
    await session.erased(1);
    assert.equal(editor(chat), null);
    assert.equal(chat.draft, draft || 'what I wrote');
    const line = all(chat, '.saved-text')[0];
    assert.equal(line.hidden, draft === '');
    if (draft === '') assert.equal(hint(chat), 'The message that you were editing was deleted. Your text is in the input field.');
    else assert.equal(line.querySelector('.saved-content').textContent, 'what I wrote');
    leavePage();
  }
});

test('a page hears of a change before it is asked for, and may refuse it with its own words', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  const heard = [];
  chat.addEventListener('signalbox-change', ({ detail }) => {
    heard.push([detail.kind, detail.message.text, detail.text]);
    detail.refuse('Not on Sundays.');
  });
  press(chat, 'ArrowUp');
  write(chat, 'bye');
  pressIn(editor(chat), 'Enter');
  await frame();
  assert.equal(noteOf(chat), 'Not on Sundays.');
  pressIn(editor(chat), 'Escape');
  await choose(chat, 0, 'Delete this message…');
  part(chat, 'question-yes').click();
  await frame();
  assert.equal(hint(chat), 'Not on Sundays.');
  assert.deepEqual(heard, [['edit', 'hello', 'bye'], ['delete', 'hello', null]]);
  assert.deepEqual([session.asked, texts(chat)], [[], ['hello']]);
});

test('CHG-6: a delete asks first, greys the row until the answer, and leaves one sentence', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello'], [BOB, 'hm']]);
  await choose(chat, 0, 'Delete this message…');
  assert.equal(part(chat, 'question-title').textContent, 'Delete your message?');
  assert.equal(session.asked.length, 0);
  part(chat, 'question-yes').click();
  await frame();
  assert.deepEqual(session.asked[0].request, { ref: 1 });
  assert.equal(row(chat, 0).classList.contains('deleting'), true);
  assert.deepEqual(texts(chat), ['hello', 'hm']);
  await session.answer();
  assert.equal(row(chat, 0).classList.contains('deleting'), false);
  assert.deepEqual(texts(chat), ['This message was deleted.', 'hm']);
  assert.equal(row(chat, 0).querySelector('.toolbar'), null);
});

test('a question that follows another one at once is answered', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello'], [BOB, 'hm']]);
  pressIn(part(chat, 'messages-scroll'), 'ArrowUp');
  pressIn(row(chat, 1), 'ArrowUp');
  pressIn(row(chat, 0), 'Delete');
  // The browser tells later that the first one is closed.
  part(chat, 'question').close();
  pressIn(row(chat, 0), 'Delete');
  await frame();
  part(chat, 'question-yes').click();
  await frame();
  assert.deepEqual(session.asked[0]?.request, { ref: 1 });
});

test('a delete that fails leaves the message as it was, and says why', async () => {
  const { chat, session } = await chatWith([[OWN, 'hello']]);
  await choose(chat, 0, 'Delete this message…');
  part(chat, 'question-yes').click();
  await frame();
  await session.refuse(403);
  assert.equal(hint(chat), 'This message cannot be changed.');
  assert.equal(row(chat, 0).classList.contains('deleting'), false);
  assert.deepEqual(texts(chat), ['hello']);
});

test('on the chosen message R answers, E edits, and Delete asks, with Shift at once', async () => {
  const { chat, session } = await chatWith([[OWN, 'one'], [OWN, 'two'], [BOB, 'three']]);
  const scroll = part(chat, 'messages-scroll');
  const up = () => pressIn(chat.shadowRoot.activeElement, 'ArrowUp');
  scroll.focus();
  pressIn(scroll, 'ArrowUp');
  // Of another user: neither.
  for (const key of ['e', 'Delete']) assert.equal(pressIn(row(chat, 2), key).defaultPrevented, false);
  assert.equal(pressIn(row(chat, 2), 'r').defaultPrevented, true);
  assert.equal(all(chat, '.reply-bar')[0].hidden, false);
  row(chat, 2).focus();
  up();
  assert.equal(pressIn(row(chat, 1), 'у', { code: 'KeyE' }).defaultPrevented, true);
  assert.equal(editor(chat).value, 'two');
  pressIn(editor(chat), 'Escape');
  assert.equal(chat.shadowRoot.activeElement, row(chat, 1));
  pressIn(row(chat, 1), 'Delete');
  assert.equal(part(chat, 'question').open, true);
  part(chat, 'question-no').click();
  await frame();
  assert.equal(chat.shadowRoot.activeElement, row(chat, 1));
  pressIn(row(chat, 1), 'Delete', { shiftKey: true });
  await frame();
  assert.equal(part(chat, 'question').open, false);
  assert.deepEqual(session.asked[0].request, { ref: 2 });
  assert.equal(chat.shadowRoot.activeElement, row(chat, 2));
});

test('CHAT-12: a reply shows what it answers, above the field and in the list, and Escape ends it', async () => {
  const { chat, session } = await chatWith([[BOB, 'Shall we\nmeet?']]);
  row(chat, 0).querySelector('.reply').click();
  await frame();
  const bar = all(chat, '.reply-bar')[0];
  assert.deepEqual([bar.hidden, bar.querySelector('.reply-name').textContent], [false, 'Reply to Bob']);
  assert.equal(bar.querySelector('.reply-line').textContent, 'Shall we meet?');
  assert.equal(press(chat, 'Escape').defaultPrevented, true);
  assert.equal(bar.hidden, true);
  // The next one is for the page.
  assert.equal(press(chat, 'Escape').defaultPrevented, false);
  row(chat, 0).querySelector('.reply').click();
  type(chat, 'Yes');
  press(chat, 'Enter');
  await frame();
  assert.equal(bar.hidden, true);
  assert.equal(JSON.parse(session.sent.find(({ type: name }) => name === 'text-chat').data).re, 1);
  const [quote] = all(chat, '.quote');
  assert.equal(quote.textContent, 'Reply to Bob: BobShall we meet?');
});

test('CHAT-12: a quote follows its message, which is edited and deleted', async () => {
  const { chat, session } = await chatWith([[OWN, 'one'], [BOB, 'two', { re: 1 }]]);
  const line = () => all(chat, '.quote-line')[0].textContent;
  await until(() => all(chat, '.quote').length === 1);
  // Tab goes through the buttons of the chosen message only.
  const order = () => ['.quote', '.reply', '.row-menu'].map((each) => row(chat, 1).querySelector(each).getAttribute('tabindex'));
  assert.deepEqual(order(), ['-1', '-1', '-1']);
  pressIn(part(chat, 'messages-scroll'), 'ArrowUp');
  assert.deepEqual(order(), ['0', '0', '0']);
  assert.equal(line(), 'one');
  await session.edited(1, 'uno');
  await until(() => line() === 'uno');
  await session.erased(1);
  await until(() => line() === 'This message was deleted.');
});

test('CHAT-12: a quote of a message that is not loaded says so, and a click loads it', async () => {
  const many = Array.from({ length: 120 }, (_, index) => [BOB, `message ${index}`]);
  const session = new ChangingSession();
  for (const [from, text] of many) session.keep(from, text);
  session.keep(BOB, 'answer', { re: 5 });
  session.keep(BOB, 'to nothing', { re: 1000 });
  const chat = newChat();
  chat.attach(session);
  session.emit('sessionConnected');
  // A message that answers another one loads the part.
  await until(() => all(chat, '.quote').length === 1);
  const [quote] = all(chat, '.quote');
  assert.equal(quote.querySelector('.quote-line').textContent, 'Earlier message');
  quote.click();
  await until(() => all(chat, '.found').length === 1);
  assert.equal(all(chat, '.found')[0].querySelector('.bubble').textContent, 'message 4');
  await until(() => all(chat, '.quote-line')[0].textContent === 'message 4');
});

test('an edit of another user is no announcement, and its time is in the facts', async () => {
  const { chat, session } = await chatWith([[BOB, 'hm']]);
  await session.edited(1, 'hmm');
  assert.deepEqual(texts(chat), ['hmm']);
  assert.equal(row(chat, 0).getAttribute('aria-live'), 'off');
  const [mark] = all(chat, '.edited');
  assert.match(mark.title, /^Edited /);
  row(chat, 0).querySelector('.bubble').click();
  assert.match(part(chat, 'message-facts').textContent, / · Edited /);
  assert.ok(row(chat, 0).getAttribute('aria-describedby').split(' ').includes(mark.id));
});

test('the texts of the part follow the language, and the page may replace them', async () => {
  const { chat } = await chatWith([[OWN, 'hello']]);
  press(chat, 'ArrowUp');
  assert.equal(all(chat, '.editor-keys')[0].textContent, 'Escape cancels, Enter saves');
  chat.strings = { save: 'Keep it' };
  assert.equal(all(chat, '.editor-buttons button')[1].textContent, 'Keep it');
});
