// What `<signalbox-chat>` shows of messages, and of what the user writes, in a session without a server.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { Words } from '../../chat/words/words.js';
import { ChatTimeline, TYPING_PRESETS, typingPolicy } from '../../text-chat/index.js';
import {
  all, attached, click, FakeSession, frame, leavePage, newChat, notes, part, press, rows, send, shown, texts, type,
} from '../../test-support/fakes/chat-page.js';

afterEach(leavePage);

/** A user keeps a draft over a reload; a guest with another connection is another guest. */
const AS_USER = { connection: { connectionId: 'own', data: 'Ada', user: 'u-1' } };

// Messages that fail

test('CHAT-8: a failed message says why, holds back the next, and can be sent again', async () => {
  const { chat, session } = attached();
  await send(chat, 'unlucky');
  await session.answer(429);
  await send(chat, 'later');
  assert.deepEqual(rows(chat).slice(-2), ['sent failed: unlucky', 'sent held: later']);
  assert.match(notes(chat)[0], /^Not sent: too many messages at once\. Wait a moment, then try again\./);
  assert.match(notes(chat)[1], /^Waiting for the failed message above\./);
  await click(chat, 'Try again');
  await session.answer();
  await session.answer();
  assert.deepEqual(rows(chat).slice(-2), ['sent sent: unlucky', 'sent sent: later']);
  assert.deepEqual(notes(chat), []);
  const marks = all(chat, '.mark').map((each) => [each.getAttribute('role'), each.getAttribute('aria-label')]);
  assert.deepEqual(marks, [['img', 'Sent'], ['img', 'Sent']]);
});

test('CHAT-8: discarding a failed message sends the next', async () => {
  const { chat, session } = attached();
  await send(chat, 'unlucky');
  await session.answer(429);
  await send(chat, 'later');
  await click(chat, 'Discard');
  await session.answer();
  assert.deepEqual(rows(chat).slice(-1), ['sent sent: later']);
  assert.deepEqual(texts(chat), ['later']);
});

test('CHAT-8: a user can send the next message before a failed one', async () => {
  const { chat, session } = attached();
  await send(chat, 'unlucky');
  await session.answer(429);
  await send(chat, 'later');
  await click(chat, 'Send without it');
  await session.answer();
  assert.deepEqual(rows(chat).filter((each) => each.startsWith('sent ')).sort(), ['sent failed: unlucky', 'sent sent: later']);
  await click(chat, 'Try again');
  await session.answer();
  assert.deepEqual(session.sent.filter((each) => each.type === 'text-chat').map(({ data }) => JSON.parse(data).text),
    ['unlucky', 'later', 'unlucky']);
});

test('a refusal because of the role blocks no queue, and offers no other try', async () => {
  const { chat, session } = attached();
  for (const text of ['one', 'two']) await send(chat, text);
  await session.answer(403);
  assert.deepEqual([rows(chat).at(-1), session.waitingCount], ['sent pending: two', 1]);
  assert.match(notes(chat)[0], /^Not sent: you cannot write in this chat\./);
  assert.deepEqual(all(chat, '.row-state button').map((each) => each.textContent), ['Discard']);
  assert.equal(part(chat, 'composer-text').readOnly, true);
});

test('a message that is too large goes back into the field', async () => {
  const { chat, session } = attached();
  await send(chat, 'much too large');
  await session.answer(413);
  assert.match(notes(chat)[0], /^Not sent: the message is too large\. Shorten it\./);
  await click(chat, 'Edit');
  assert.deepEqual([chat.draft, texts(chat)], ['much too large', []]);
  assert.equal(chat.shadowRoot.activeElement, part(chat, 'composer-text'));
});

test('a listener that refuses a message keeps it in the field, and the user reads so', async () => {
  const { chat, session } = attached();
  chat.addEventListener('signalbox-send', (event) => event.preventDefault());
  await send(chat, 'refuse me');
  assert.deepEqual([chat.draft, shown(chat, 'composer-hint'), session.waitingCount], ['refuse me', CHAT_STRINGS.en.notSent, 0]);
});

test('a change of the look keeps gaps, unread messages and those under way', async () => {
  const { chat, session } = attached();
  await send(chat, 'one');
  await session.answer();
  chat.component.handle({ kind: 'lost' }, Date.now());
  await send(chat, 'two');
  const { typingN } = chat.component.typing;
  for (const look of ['opentok', 'bubbles']) {
    chat.look = look;
    await frame();
    assert.deepEqual(rows(chat).filter((each) => each !== 'day'), ['sent sent: one', 'gap', 'sent pending: two']);
    assert.equal(chat.component.typing.typingN, typingN);
  }
  await session.answer();
  assert.equal(rows(chat).at(-1), 'sent sent: two');
});

test('the chat of an earlier room writes no more into the view', async () => {
  const chat = newChat();
  const [first, second] = [new FakeSession({ sessionId: 'first' }), new FakeSession({ sessionId: 'second' })];
  chat.attach(first);
  await send(chat, 'to the first room');
  const old = chat.component;
  chat.attach(second);
  await send(chat, 'to the second room');
  const counts = [];
  chat.addEventListener('signalbox-unread', ({ detail }) => counts.push(detail.count));
  await first.answer();
  old.isVisible = false;
  const from = { connectionId: 'bob', data: 'Bob' };
  old.handle({ kind: 'signal', type: 'text-chat', data: '{"text":"late"}', from, seq: 9 }, Date.now());
  await frame();
  assert.deepEqual([texts(chat), counts], [['to the second room'], []]);
});

test('a session that is detached is not disconnected, and nobody is invited to write', async () => {
  const { chat } = attached();
  assert.equal(chat.state, 'connected');
  chat.detach();
  assert.deepEqual([chat.state, part(chat, 'composer-text').disabled], ['disconnected', true]);
});

// The field

test('the remaining length is shown near its end, in characters as users count them', () => {
  const { chat } = attached();
  const left = () => [shown(chat, 'remaining'), part(chat, 'remaining').classList.contains('few')];
  assert.deepEqual([left()[0], part(chat, 'send').disabled], ['', true]);
  type(chat, '   ');
  assert.equal(part(chat, 'send').disabled, true);
  type(chat, 'x'.repeat(899));
  assert.deepEqual(left(), ['', false]);
  type(chat, 'x'.repeat(989));
  assert.deepEqual(left(), ['11 characters left', false]);
  // A family is one grapheme cluster.
  type(chat, `${'x'.repeat(989)}👨‍👩‍👧‍👦`);
  assert.deepEqual(left(), ['10 characters left', true]);
  type(chat, `${'x'.repeat(989)}👨‍👩‍👧‍👦${'y'.repeat(10)}`);
  assert.deepEqual(left(), ['0 characters left', true]);
  part(chat, 'send').click();
  assert.deepEqual(left()[0], '');
});

test('a text over the limit stays in the box, marked, until it is shorter', async () => {
  const { chat, session } = attached(AS_USER);
  const field = part(chat, 'composer-text');
  await send(chat, 'x'.repeat(1002));
  assert.deepEqual([session.waitingCount, field.value.length, field.getAttribute('aria-invalid')], [0, 1002, 'true']);
  assert.equal(shown(chat, 'composer-hint'), 'Too long by 2 characters. Shorten it to send it.');
  assert.deepEqual([shown(chat, 'remaining'), part(chat, 'send').disabled], ['2 characters over', true]);
  // What a reload brings back.
  chat.remove();
  assert.equal(attached(AS_USER).chat.draft.length, 1002);
  document.body.append(chat);
  type(chat, 'x'.repeat(1001));
  assert.equal(shown(chat, 'composer-hint'), 'Too long by 1 character. Shorten it to send it.');
  await send(chat, 'x'.repeat(1000));
  assert.deepEqual([session.waitingCount, field.getAttribute('aria-invalid'), shown(chat, 'composer-hint')], [1, 'false', '']);
});

test('another limit counts at once, for the text that is in the box, too', () => {
  const { chat } = attached({}, { maxLength: 5 });
  const field = part(chat, 'composer-text');
  type(chat, '123456');
  assert.deepEqual([field.value, field.getAttribute('aria-invalid')], ['123456', 'true']);
  chat.maxLength = 10;
  assert.equal(field.getAttribute('aria-invalid'), 'false');
});

test('the look of OpenTok always shows the counter', () => {
  const { chat } = attached({}, { look: 'opentok', maxLength: 160 });
  assert.equal(shown(chat, 'remaining'), '160 characters left');
  type(chat, 'Hello');
  assert.equal(shown(chat, 'remaining'), '155 characters left');
  chat.look = 'bubbles';
  assert.equal(shown(chat, 'remaining'), '');
});

test('a draft over the limit that the tab has kept is in the box, marked', () => {
  type(attached(AS_USER).chat, 'x'.repeat(1002));
  document.body.replaceChildren();
  const { chat } = attached(AS_USER);
  assert.deepEqual([chat.draft.length, part(chat, 'composer-text').getAttribute('aria-invalid')], [1002, 'true']);
});

test('a user who switches typing signals off sends none, and ends what they have announced', async () => {
  const { chat, session } = attached();
  type(chat, 'h');
  chat.isTypingShown = false;
  assert.equal(chat.component.typing.isOptedOut, true);
  await send(chat, 'hello');
  const said = session.sent.map((each) => (each.type === 'typing' ? JSON.parse(each.data).action : each.type));
  assert.deepEqual(said.filter((each) => each !== 'finish'), ['begin', 'text-chat']);
});

test('TYP-6: the rules of typing and the form of messages are those that the program names', async () => {
  const connections = { length: () => 2 };
  const { chat, session } = attached({ connections }, { typingPolicy: TYPING_PRESETS.easemob, wireForm: 'TextChat' });
  await send(chat, 'h');
  assert.deepEqual(session.sent.map((each) => each.type), ['TypingBegin', 'TextChat']);
});

test('a text that is too large for a signal is refused before it is sent', async () => {
  const { chat, session } = attached();
  await send(chat, '👨‍👩‍👧‍👦'.repeat(900));
  assert.equal(shown(chat, 'composer-hint'), 'This text is too large for one message. Shorten it.');
  assert.deepEqual([part(chat, 'send').disabled, session.waitingCount], [true, 0]);
});

test('a text that shows nothing is not sent', async () => {
  const { chat, session } = attached();
  for (const text of ['\u200b\u2060\ufeff', '\u00ad', '\u3164 \u115f', '\u2800', '\u034f', '\u{e0041}']) {
    await send(chat, text);
    assert.deepEqual([part(chat, 'send').disabled, session.waitingCount], [true, 0], escape(text));
  }
  await send(chat, '👨‍👩‍👧');
  assert.deepEqual([session.waitingCount, texts(chat)], [1, ['👨‍👩‍👧']]);
});

test('Enter in an input method picks a candidate, and does not send', async () => {
  const { chat, session } = attached();
  type(chat, '你好');
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) press(chat, 'Enter', composing);
  assert.equal(session.waitingCount, 0);
  assert.equal(press(chat, 'Enter').defaultPrevented, true);
  assert.equal(session.waitingCount, 1);
});

test('Shift and Enter are left to the browser, which begins a line', () => {
  const { chat, session } = attached();
  type(chat, 'one');
  assert.equal(press(chat, 'Enter', { shiftKey: true }).defaultPrevented, false);
  assert.equal(session.waitingCount, 0);
});

test('CON-10: a user whose role may not write sees a field that says so, and no button', () => {
  const { chat } = attached({ maySignal: false });
  const field = part(chat, 'composer-text');
  assert.deepEqual([field.readOnly, field.placeholder], [true, 'You can read this chat, but you cannot write in it.']);
  assert.equal(shown(chat, 'send'), null);
});

test('a chat that has ended shows no empty field, but keeps a draft in view', async () => {
  const { chat, session } = attached();
  session.emit('sessionDisconnected', { reason: 'forceDisconnected' });
  assert.deepEqual([chat.state, shown(chat, 'composer-text')], ['disconnected', null]);
  const second = new FakeSession();
  chat.attach(second);
  assert.equal(part(chat, 'composer-text').disabled, false);
  type(chat, 'half a sentence');
  second.emit('sessionDisconnected', { reason: 'forceDisconnected' });
  assert.deepEqual([chat.draft, part(chat, 'composer-text').checkVisibility()], ['half a sentence', true]);
});

test('a message that waited has the time of its arrival, as after a reload', async () => {
  const { chat, session } = attached({ serverTime: 1_000_000 });
  await send(chat, 'written in a tunnel');
  session.serverTime = 1_300_000;
  const { data } = session.sent.find(({ type }) => type === 'text-chat');
  await session.answer();
  await session.receive(data, 'own', { type: 'text-chat' });
  assert.deepEqual(chat.messages.map(({ sentAt, receivedAt }) => [sentAt, receivedAt]), [[1_000_000, 1_300_000]]);
});

test('while the chat reconnects a line says so to screen readers, too, and messages wait', async () => {
  const { chat, session } = attached();
  assert.deepEqual([part(chat, 'offline-hint').getAttribute('role'), shown(chat, 'offline-hint')], ['status', null]);
  session.emit('sessionReconnecting');
  assert.equal(shown(chat, 'offline-hint'), CHAT_STRINGS.en.reconnecting);
  await send(chat, 'queued');
  assert.deepEqual([rows(chat).at(-1), session.waitingCount], ['sent pending: queued', 0]);
  session.emit('sessionReconnected', { outcome: 'resumed' });
  await frame();
  await session.answer();
  assert.deepEqual([rows(chat).at(-1), shown(chat, 'offline-hint')], ['sent sent: queued', null]);
});

test('MOD-2: a field is free again at its time by itself, and the draft is there', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const restrictedBy = [];
  const { chat, session } = attached({ restrictedBy });
  type(chat, 'half a sentence');
  restrictedBy.push({ kind: 'mute', until: Date.now() + 600_000, reason: 'No advertising' });
  session.emit('restricted');
  const field = part(chat, 'composer-text');
  assert.match(shown(chat, 'restriction'), /^You cannot write until .+: a moderator has muted you\. Reason: No advertising$/);
  assert.deepEqual([field.readOnly, shown(chat, 'send'), field.value], [true, null, 'half a sentence']);
  context.mock.timers.tick(599_000);
  assert.equal(field.readOnly, true);
  restrictedBy.pop();
  context.mock.timers.tick(1000);
  assert.deepEqual([field.readOnly, shown(chat, 'restriction'), field.value], [false, '', 'half a sentence']);
  leavePage();
});

// Rows

test('a message of OpenTok’s first sample, which is its text alone, is a message', async () => {
  const { chat, session } = attached();
  await session.receive('bare', 'bob', { type: 'TextChat' });
  assert.deepEqual(rows(chat).slice(-1), ['received: bare']);
});

test('rows are grouped by sender, with name and time on top', async () => {
  const { chat, session } = attached();
  for (const text of ['one', 'two']) await session.receive(text);
  await send(chat, 'three');
  await session.answer();
  await session.receive('four');
  const messages = all(chat, '[data-kind=message]');
  assert.deepEqual(messages.map((each) => each.dataset.position), ['first', 'last', 'single', 'single']);
  const withName = messages.filter((each) => !each.classList.contains('short'));
  assert.deepEqual(withName.map((each) => each.querySelector('.row-name').textContent), ['Bob', 'You', 'Bob']);
});

test('addresses are links with the host that they open, and other text is text', async () => {
  const { chat, session } = attached();
  await session.receive('see https://аpple.com/login, ada@example.net, javascript:alert(1) and https://example.com을');
  const links = all(chat, '.bubble a').map((each) => [each.textContent, each.href]);
  assert.deepEqual(links, [
    ['https://xn--pple-43d.com/login', 'https://xn--pple-43d.com/login'], ['ada@example.net', 'mailto:ada@example.net'],
    ['https://example.com', 'https://example.com/'],
  ]);
});

test('a name cannot look like another by marks of direction', async () => {
  const { chat, session } = attached();
  await session.receive('hi', 'alice', { data: '{"nickname":"\u202eecilA\u202c"}' });
  assert.equal(all(chat, '.row-name')[0].textContent, 'ecilA');
});

test('a user without a visible name is a guest with a number', async () => {
  const { chat, session } = attached();
  await session.receive('hi', 'b1234', { data: '\u200b\u3164' });
  assert.equal(all(chat, '.row-name')[0].textContent, 'Guest 6016');
});

test('CHAT-4: a message that claims the name of another user is shown as from a guest', async () => {
  const { chat, session } = attached();
  const claim = (alias) => JSON.stringify({ text: `I am ${alias}`, sender: { id: 'x', alias } });
  const say = (alias, id, data) => session.receive(claim(alias), id, { type: 'text-chat', data });
  session.emit('connectionCreated', { connection: { connectionId: 'ada', data: 'Ada' } });
  await say('Ada', 'm1', 'Mallory');
  await say('Ada', 'm2', '');
  await say('Cy', 'm3', '');
  const names = all(chat, '.row-name').map((each) => each.textContent);
  assert.deepEqual([names[0], names[2]], ['Mallory', 'Cy']);
  assert.match(names[1], /^Guest \d+$/);
});

test('CHAT-4: whoever joins later reads the name that the token of a message had, not the one that it claims', async () => {
  const claim = JSON.stringify({ text: 'Wire the money', sender: { id: 'x', alias: 'Boss' } });
  const from = { connectionId: 'gone', creationTime: 1, data: 'Mallory', user: 'u-9' };
  const page = { first: 1, last: 1, more: false, messages: [{ seq: 1, from, type: 'signal:text-chat', data: claim, time: 1 }] };
  const { chat } = attached({ hasHistory: true, epoch: 'e', history: async () => page });
  await frame();
  assert.deepEqual(all(chat, '.row-name').map((each) => each.textContent), ['Mallory']);
});

test('CHAT-4: a name that is shown goes when it turns out to be another’s', async () => {
  const { chat, session } = attached();
  const claim = JSON.stringify({ text: 'I am Ada', sender: { id: 'x', alias: 'Ada' } });
  await session.receive(claim, 'm2', { type: 'text-chat', data: '' });
  const shown = () => [...all(chat, '.row-name'), ...all(chat, '.avatar')].map((each) => each.textContent);
  assert.deepEqual(shown(), ['Ada', 'A']);
  session.emit('connectionCreated', { connection: { connectionId: 'ada', data: 'Ada' } });
  await frame();
  assert.match(shown().join(), /^Guest \d+,G$/);
});

test('CHAT-4: two users with one name keep it, and a number tells them apart', async () => {
  const { chat, session } = attached();
  const say = (user) => session.receive('hi', `${user}-tab`, { from: { connectionId: `${user}-tab`, data: 'Anna', user } });
  const shown = () => all(chat, '[data-kind=message]').map(
    (each) => [each.querySelector('.row-name').textContent, each.querySelector('.number-mark')?.textContent ?? null],
  );
  await say('u-1');
  assert.deepEqual(shown(), [['Anna', null]]);
  await say('u-2');
  assert.deepEqual(shown(), [['Anna', '4360'], ['Anna', '4361']]);
});

test('CHAT-4: among users a guest has a mark at the name', async () => {
  const { chat, session } = attached();
  const mark = () => all(chat, '[data-kind=message]').map((each) => each.querySelector('.guest-mark')?.textContent ?? null);
  await session.receive('No, me', 'guest', { data: 'Ada' });
  assert.deepEqual(mark(), [null]);
  session.emit('signal', {
    type: 'signal:TextChat', data: 'It is me', from: { connectionId: 'ada', data: 'Ada', user: 'u-1' }, seq: 9,
  });
  await frame();
  assert.deepEqual(mark(), ['guest', null]);
});

test('“Today” becomes “Yesterday” at midnight, and then the date, without a new message', async (context) => {
  const { chat, session } = attached();
  const evening = new Date(2030, 2, 3, 23, 59, 30).getTime();
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: evening });
  await session.receive('late');
  const day = () => all(chat, '[data-kind=day] time')[0].textContent;
  context.mock.timers.tick(1000);
  assert.equal(day(), 'Today');
  context.mock.timers.tick(31_000);
  assert.equal(day(), 'Yesterday');
  context.mock.timers.tick(24 * 3_600_000);
  assert.equal(day(), 'Sunday, March 3, 2030');
  leavePage();
});

test('a group ends after two minutes, and a day at midnight, by the reader’s clock', async (context) => {
  const { chat, session } = attached();
  // The browser tells that the list is in the view.
  await null;
  const evening = new Date(2026, 2, 3, 23, 55).getTime();
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: evening });
  for (const [text, seconds] of [['a', 0], ['b', 119], ['c', 239], ['d', 305]]) {
    context.mock.timers.setTime(evening + seconds * 1000);
    await session.receive(text);
  }
  const seen = all(chat, '#messages [data-kind]').map(({ dataset: { kind, position } }) => position ?? kind);
  assert.deepEqual(seen, ['day', 'first', 'last', 'single', 'day', 'single']);
  assert.deepEqual(all(chat, '[data-kind=day] time').map((each) => each.textContent), ['Yesterday', 'Today']);
  assert.equal(all(chat, '[data-kind=day] time')[0].getAttribute('datetime'), '2026-03-03');
  leavePage();
});

test('the time of a message tells the date to the pointer', async (context) => {
  const { chat, session } = attached();
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date(2026, 2, 3, 14, 5).getTime() });
  await session.receive('one');
  const [time] = all(chat, '.row-header time');
  assert.match(time.title, /^Tuesday, March 3, 2026 at 2:05:00\sPM$/);
  leavePage();
});

test('the list says how many of the oldest messages are gone', async () => {
  const { chatTemplate } = await import('../../chat/views/chat-template.js');
  const { MessagesView } = await import('../../chat/views/messages-view.js');
  document.body.append(chatTemplate());
  const timeline = new ChatTimeline({ limit: 3 });
  const view = new MessagesView((id) => document.getElementById(id), {
    words: new Words('en', CHAT_STRINGS), nameOf: () => 'Ada', isGuest: () => false, numberOf: () => null, hasMenu: () => false, isHeld: () => false,
    moved() {}, limit: 3, droppedCount: () => timeline.droppedCount,
  });
  for (let seq = 1; seq <= 5; seq += 1) {
    view.apply(timeline.insert({ seq, text: `message ${seq}`, senderId: 'a', direction: 'received' }, 0));
  }
  await frame();
  const bubbles = document.querySelectorAll('.bubble').map((each) => each.textContent);
  assert.deepEqual(bubbles, ['message 3', 'message 4', 'message 5']);
  assert.equal(document.getElementById('messages-dropped').textContent,
    'This page keeps 3 messages. 2 older messages are no longer here.');
});

// Texts

test('a program may replace single texts, and take them back', () => {
  document.documentElement.setAttribute('lang', 'fr');
  const chat = newChat({ strings: { send: 'Hop' } });
  assert.deepEqual([part(chat, 'send').textContent, part(chat, 'chat-retry').textContent], ['Hop', 'Réessayer']);
  chat.strings = null;
  assert.equal(part(chat, 'send').textContent, 'Envoyer');
});

test('in a Chinese chat of two nobody names the other one, and in a larger one everybody is named', async () => {
  document.documentElement.setAttribute('lang', 'zh-CN');
  const connections = { length: () => 2 };
  const { chat, session } = attached({ connections });
  const begins = (connectionId, data, n) => session.emit('signal', {
    type: 'signal:typing', data: JSON.stringify({ action: 'begin', n }), from: { connectionId, data }, seq: null,
  });
  begins('bob', 'Bob', 1);
  assert.equal(shown(chat, 'typing-text'), '对方正在输入…');
  assert.equal(part(chat, 'chat-frame').lang, 'zh-CN');
  connections.length = () => 3;
  begins('cy', 'Cy', 1);
  assert.equal(shown(chat, 'typing-text'), 'Bob和Cy正在输入…');
});

test('TYP-5, TYP-9, TYP-10: a user who types is named until they stop, leave, or have sent the message', async () => {
  const { chat, session } = attached({}, { typingPolicy: typingPolicy('standard', { linger: null }) });
  const bob = { connectionId: 'bob', data: 'Bob' };
  const signal = (action, n, from = bob) => session.emit('signal', {
    type: 'signal:typing', data: JSON.stringify({ action, n }), from, seq: null,
  });
  const line = () => [shown(chat, 'typing-text'), part(chat, 'typing').dataset.state];
  signal('begin', 1, session.connection);
  assert.deepEqual(line(), ['', 'nobody'], 'nobody sees themself typing');
  signal('begin', 1);
  assert.deepEqual(line(), ['Bob is typing…', 'typing']);
  signal('pause', 2);
  assert.deepEqual(line(), ['Bob has paused', 'paused']);
  signal('finish', 3);
  assert.deepEqual(line(), ['', 'nobody']);
  signal('begin', 4);
  await session.receive('hm');
  assert.deepEqual(line(), ['', 'nobody'], 'the message itself ends typing');
  signal('begin', 5);
  signal('begin', 1, { connectionId: 'cy', data: 'Cy' });
  assert.deepEqual(line(), ['Bob and Cy are typing…', 'typing']);
  session.emit('connectionDestroyed', { connection: bob });
  assert.deepEqual(line(), ['Cy is typing…', 'typing']);
  session.emit('sessionReconnecting');
  assert.deepEqual(line(), ['', 'nobody'], 'the loss ends typing');
});
