// The element shows reactions and receipts: what it asks the session for, and what the user reads. How it looks and
// feels, the tests in a browser show.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { reactionKey, shownKey } from '../../chat/reactions/reaction-key.js';
import { FakeKey } from '../../test-support/fakes/fake-document.js';
import { all, FakeSession, frame, leavePage, newChat, part, shown, texts, until } from '../../test-support/fakes/chat-page.js';
import { vectorCases } from '../../test-support/vectors.js';

afterEach(leavePage);

const ADA = { connectionId: 'own', data: 'Ada', user: 'u-ada' };
const BOB = { connectionId: 'bob', data: 'Bob', user: 'u-bob' };
const CY = { connectionId: 'cy', data: 'Cy', user: 'u-cy' };

/** A session whose server permits reactions, and has read markers. It accepts everything, unless it `fails`. */
class ReactingSession extends FakeSession {
  hasHistory = true;
  epoch = 'e';
  changes = ['react'];
  connection = ADA;
  readState = null;
  kept = [];
  mine = [];
  reactions = [];
  asked = [];
  marked = [];
  users = ['u-ada', 'u-bob'];
  fails = false;

  async history() {
    return { first: 1, last: this.kept.length, more: false, messages: this.kept, mine: this.mine };
  }

  async react(request) {
    this.reactions.push(request);
    if (this.fails) throw Object.assign(new Error('no'), { code: 429 });
  }

  async reactors(request) {
    this.asked.push(request);
    return [{ key: request.key, count: 5, users: this.users }];
  }

  async markRead({ through }) {
    this.marked.push(through);
  }
}

/** A chat whose user, Ada, has read these messages: `[sender, text, reactions]`. */
async function chatWith(messages, members = {}, properties = {}) {
  const session = Object.assign(new ReactingSession(), members);
  session.kept = messages.map(([from, text, reactions], index) => ({
    seq: index + 1, from, type: 'signal:text-chat', data: JSON.stringify({ text }), time: 1_700_000_000_000,
    ...(reactions ? { reactions: reactions.map(([key, count]) => ({ key, count })), reacted: 90 } : {}),
  }));
  const chat = newChat(properties);
  chat.attach(session);
  session.emit('sessionConnected');
  await until(() => texts(chat).length === messages.length);
  return { chat, session };
}

const row = (chat, index) => all(chat, '#messages [data-kind="message"]')[index];
const pills = (chat) => all(chat, '.reaction');
const labels = (chat) => pills(chat).map((each) => each.getAttribute('aria-label'));
const pressed = (chat) => pills(chat).map((each) => each.getAttribute('aria-pressed'));
const hint = (chat) => part(chat, 'composer-hint').textContent;

test('CHAT-15 a message has its reactions below it, and those of the user are pressed', async () => {
  const { chat } = await chatWith(
    [[BOB, 'hi', [['👍', 3], ['❤️', 1], ['😂', 1]]], [BOB, 'ho']], { mine: [{ ref: 1, keys: ['👍', '😂'] }] },
  );
  await until(() => pills(chat).length === 3);
  assert.deepEqual(labels(chat), ['👍, 3 people, you too', '❤️, 1 person', '😂, you']);
  assert.deepEqual(pressed(chat), ['true', 'false', 'true']);
  assert.deepEqual(pills(chat).map((each) => each.textContent), ['👍3', '❤️1', '😂1']);
  assert.equal(row(chat, 1).querySelector('.reactions'), null);
  chat.strings = { reactedToo: { one: 'you: {key}', other: '{key} of {count}' } };
  assert.deepEqual(labels(chat), ['👍 of 3', '❤️, 1 person', 'you: 😂']);
});

test('CHAT-15 a click toggles, and the row changes when the server has it', async () => {
  const { chat, session } = await chatWith([[BOB, 'hi', [['👍', 3]]]]);
  await until(() => pills(chat).length === 1);
  pills(chat)[0].click();
  assert.deepEqual(pressed(chat), ['false']);
  await frame();
  assert.deepEqual(session.reactions, [{ ref: 1, keys: ['👍'] }]);
  assert.deepEqual(labels(chat), ['👍, 3 people, you too']);
  session.emit('reactionsChanged', { seq: 91, ref: 1, reactions: [{ key: '👍', count: 4 }] });
  await frame();
  assert.deepEqual(labels(chat), ['👍, 4 people, you too']);
  session.emit('ownReactionsChanged', { seq: 92, ref: 1, keys: [] });
  session.emit('reactionsChanged', { seq: 93, ref: 1, reactions: [] });
  await frame();
  assert.equal(row(chat, 0).querySelector('.reactions'), null);
});

test('CHAT-15 what fails is said below the field', async () => {
  const { chat } = await chatWith([[BOB, 'hi', [['👍', 3]]]], { fails: true });
  await until(() => pills(chat).length === 1);
  pills(chat)[0].click();
  await until(() => hint(chat) === 'This did not work. Try again.');
  assert.deepEqual(pressed(chat), ['false']);
});

test('CHG-11 who may not react sees reactions, and no button does anything', async () => {
  const guest = { connectionId: 'own', data: 'Ada' };
  for (const members of [{ connection: guest }, { changes: ['edit'] }]) {
    const { chat, session } = await chatWith([[BOB, 'hi', [['👍', 3]]]], members);
    await until(() => pills(chat).length === 1);
    assert.equal(pills(chat)[0].getAttribute('aria-disabled'), 'true');
    assert.equal(row(chat, 0).querySelector('.react').hidden, true);
    pills(chat)[0].click();
    await frame();
    assert.deepEqual(session.reactions, []);
    leavePage();
  }
});

test('the attribute reactions takes them away, and gives them back', async () => {
  const { chat } = await chatWith([[BOB, 'hi', [['👍', 3]]]]);
  await until(() => pills(chat).length === 1);
  chat.hasReactions = false;
  assert.equal(pills(chat).length, 0);
  assert.equal(row(chat, 0).querySelector('.react').hidden, true);
  chat.hasReactions = true;
  assert.equal(pills(chat).length, 1);
});

test('CHAT-15 the toolbar opens six emoji, and arrow keys choose one', async () => {
  const { chat, session } = await chatWith([[BOB, 'hi']], { mine: [{ ref: 1, keys: ['❤️'] }] });
  const button = row(chat, 0).querySelector('.react');
  assert.equal(button.getAttribute('aria-label'), 'React');
  button.click();
  await until(() => all(chat, '.reaction-picker button').length === 6);
  const items = all(chat, '.reaction-picker button');
  assert.deepEqual(items.map((each) => each.textContent), ['👍', '❤️', '😂', '😮', '😢', '🙏']);
  assert.deepEqual(items.map((each) => each.getAttribute('aria-checked')), ['false', 'true', 'false', 'false', 'false', 'false']);
  assert.equal(chat.shadowRoot.activeElement, items[0]);
  items[0].dispatchEvent(new FakeKey('ArrowRight'));
  items[1].dispatchEvent(new FakeKey('ArrowRight'));
  assert.equal(chat.shadowRoot.activeElement, items[2]);
  items[2].click();
  await frame();
  assert.deepEqual(session.reactions, [{ ref: 1, keys: ['❤️', '😂'] }]);
  assert.equal(button.getAttribute('aria-expanded'), 'false');
});

test('CHAT-15 the page chooses other keys, and a key of an emoji is written in one way', async () => {
  const { chat, session } = await chatWith([[BOB, 'hi']], {}, { reactionKeys: ['❤', '❤️', '+1'] });
  row(chat, 0).querySelector('.react').click();
  await until(() => all(chat, '.reaction-picker button').length === 2);
  all(chat, '.reaction-picker button')[0].click();
  await frame();
  assert.deepEqual(session.reactions, [{ ref: 1, keys: ['\u2764\uFE0F'] }]);
  assert.deepEqual(chat.reactionKeys, ['❤', '❤️', '+1']);
  chat.reactionKeys = null;
  assert.equal(chat.reactionKeys, null);
});

test('CHG-14 the title names who has reacted, and is asked for once', async () => {
  const { chat, session } = await chatWith([[BOB, 'hi', [['👍', 5]]]]);
  await until(() => pills(chat).length === 1);
  const [pill] = pills(chat);
  for (const name of ['pointerenter', 'focus', 'pointerenter']) pill.dispatchEvent(new Event(name));
  await until(() => pill.title !== '');
  assert.equal(pill.title, 'You, Bob, and 3 others');
  assert.deepEqual(session.asked, [{ ref: 1, key: '👍' }]);
});

const shared = (readers, through = 9) => ({ markers: 'shared', through, unread: 0, readers });
const receipts = (chat) => all(chat, '.receipt').map((each) => [each.textContent, each.getAttribute('aria-label')]);

test('CHAT-16 below the last message that others have read stand up to five of them', async () => {
  const readers = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => ({ user: `u-${letter}`, through: 2 }));
  const { chat, session } = await chatWith([[CY, 'one'], [ADA, 'two'], [ADA, 'three']], { readState: shared(readers) });
  await until(() => receipts(chat).length === 1);
  assert.deepEqual(receipts(chat), [['UUUUU+2', 'Seen by u-b, u-c, u-d, u-e, u-f, u-g, and u-h']]);
  assert.notEqual(row(chat, 1).querySelector('.receipts'), null);
  session.emit('messagesRead', { user: 'u-cy', through: 3 });
  await frame();
  assert.deepEqual(receipts(chat), [['C', 'Seen by Cy']]);
  assert.notEqual(row(chat, 2).querySelector('.receipts'), null);
  all(chat, '.receipt')[0].click();
  assert.deepEqual(all(chat, '.receipt-list li').map((each) => each.textContent), ['CCy']);
  chat.hasReceipts = false;
  assert.deepEqual(receipts(chat), []);
});

test('CHAT-16 in a chat of two it is a word', async () => {
  const { chat, session } = await chatWith([[BOB, 'one'], [ADA, 'two']], { readState: shared([{ user: 'u-bob', through: 2 }]) });
  await until(() => receipts(chat).length === 1);
  assert.deepEqual(receipts(chat), [['Seen', 'Seen by Bob']]);
  session.emit('signal', { type: 'signal:text-chat', data: '{"text":"me too"}', from: CY, seq: 4 });
  session.emit('messagesRead', { user: 'u-cy', through: 1 });
  session.emit('messagesRead', { user: 'u-bob', through: 3 });
  session.emit('reactionsChanged', { seq: 91, ref: 2, reactions: [{ key: '👍', count: 1 }] });
  await until(() => pills(chat).length === 1);
  assert.deepEqual(receipts(chat), [['B', 'Seen by Bob']]);
});

test('CHAT-16 what is unread is what is above the marker', async () => {
  const told = [];
  const page = chatWith([[BOB, 'one'], [BOB, 'two'], [BOB, 'three']], { readState: shared([], 1) });
  document.addEventListener('signalbox-unread', ({ detail }) => told.push(detail.count));
  const { chat, session } = await page;
  assert.equal(chat.unreadCount, 2);
  assert.deepEqual(told.at(-1), 2);
  const kinds = all(chat, '#messages [data-kind]').map(({ dataset }) => dataset.kind).filter((kind) => kind !== 'day');
  assert.deepEqual(kinds.slice(-4), ['message', 'unreadDivider', 'message', 'message']);
  session.emit('messagesRead', { user: 'u-ada', through: 3 });
  await frame();
  assert.deepEqual([chat.unreadCount, told.at(-1)], [0, 0]);
  assert.equal(shown(chat, 'new-messages'), null);
});

for (const { text, key, shown: seen, emoji } of vectorCases('view/reactions.json')) {
  test(`CHAT-15 the key of ${JSON.stringify(text)}`, () => {
    assert.equal(reactionKey(text), key);
    assert.deepEqual(shownKey(key), { text: seen, isEmoji: emoji });
  });
}
