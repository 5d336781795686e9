// A page with a `<signalbox-chat>` in it, without a browser: its sessions or its sockets are those of the test.
import { FakeKey, frame, installDocument } from './fake-document.js';
import { FakeSocket } from './fake-socket.js';

installDocument();

/** The sockets that the page has opened. */
export const sockets = [];
globalThis.WebSocket = class extends FakeSocket {
  constructor(...given) {
    super(...given);
    sockets.push(this);
  }
};

// No other request gets an answer.
globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));

/** What the console has been told of errors and warnings. */
export const complaints = [];
for (const name of ['error', 'warn']) console[name] = (...words) => complaints.push(words.join(' '));

const { SignalboxChat } = await import('../../chat/index.js');
export { frame, SignalboxChat };

/** The credentials of a server that is not there. */
export const ACCESS = Object.freeze({ session: '1_x', apiKey: '100', token: 'T1==', server: 'https://chat.example' });

/** An element in the page, with these properties. `within` is its parent. */
export function newChat(properties = {}, within = document.body) {
  const chat = document.createElement('signalbox-chat');
  Object.assign(chat, { id: 'chat' }, properties);
  within.append(chat);
  return chat;
}

/** Where the test ends, the page is empty again, and nothing waits. */
export function leavePage() {
  for (const each of [sessionStorage, localStorage]) each.clear();
  for (const chat of document.querySelectorAll('signalbox-chat')) {
    chat.disconnect();
    chat.component?.typing.stop();
  }
  document.body.replaceChildren();
  document.documentElement.removeAttribute('lang');
  sockets.length = 0;
  complaints.length = 0;
}

/** The element with this id in the chat. */
export const part = (chat, id) => chat.shadowRoot.getElementById(id);

/** The text of an element of the chat, or null while it is hidden. */
export function shown(chat, id) {
  const found = part(chat, id);
  return found.checkVisibility() ? found.textContent : null;
}

/** The texts of the messages. */
export const texts = (chat) => all(chat, '.bubble').map((each) => each.textContent);

export const all = (chat, selector) => chat.shadowRoot.querySelectorAll(selector);

/** The rows in short: `sent pending: hello`, `day`, `gap`. */
export function rows(chat) {
  return all(chat, '#messages [data-kind]').map((each) => {
    const { kind, state } = each.dataset;
    const direction = each.classList.contains('sent') ? 'sent ' : '';
    return kind === 'message' ? `${direction}${state}: ${each.querySelector('.bubble').textContent}` : kind;
  });
}

/** What each message says below it, with its buttons. */
export const notes = (chat) => all(chat, '.row-state').map((each) => each.textContent);

/** The user types a text in place of what is in the box. */
export function type(chat, text) {
  const box = part(chat, 'composer-text');
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
}

export function press(chat, key, changes = {}) {
  const event = new FakeKey(key, changes);
  part(chat, 'composer-text').dispatchEvent(event);
  return event;
}

export async function send(chat, text) {
  type(chat, text);
  press(chat, 'Enter');
  await frame();
}

/** Waits until this is true: after many new rows the view rests before it shows more. */
export async function until(isTrue) {
  const deadline = Date.now() + 60_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${isTrue}.`);
    await frame();
  }
}

/** Clicks the button with this text at a message. */
export async function click(chat, text) {
  const found = all(chat, '.row-state button').find((each) => each.textContent === text);
  if (found === undefined) throw new Error(`No message has the button ${text}.`);
  found.click();
  await frame();
}

/** A session of the program's own library. A message waits until the test answers it, with a code if it is refused. */
export class FakeSession {
  sessionId;
  connection = { connectionId: 'own', data: 'Ada' };
  connections = { length: () => 3, where: () => [], get: () => undefined };
  sent = [];
  #listeners = [];
  #answers = [];
  #seq = 0;

  constructor(members = {}) {
    Object.assign(this, { sessionId: 'room' }, members);
  }

  on(name, act) {
    this.#listeners.push({ name, act });
  }

  off(name, act) {
    this.#listeners = this.#listeners.filter((each) => each.name !== name || each.act !== act);
  }

  emit(name, event = {}) {
    for (const each of this.#listeners.filter((one) => one.name === name)) each.act(event);
  }

  signal({ type, data }, done) {
    this.sent.push({ type, data });
    if (type === 'text-chat' || type === 'TextChat') this.#answers.push(done);
    else done();
  }

  get waitingCount() {
    return this.#answers.length;
  }

  async answer(code, changes = {}) {
    this.#answers.shift()(code === undefined ? undefined : { code, message: `refused with ${code}`, ...changes });
    await frame();
  }

  /** A message of another user. */
  async receive(text, connectionId = 'bob', { type = 'TextChat', data = 'Bob', ...changes } = {}) {
    this.#seq += 1;
    const from = connectionId && { connectionId, data };
    this.emit('signal', { type: `signal:${type}`, data: text, from, seq: this.#seq, ...changes });
    await frame();
  }
}

/** A chat that is attached to a session of the program. */
export function attached(members = {}, properties = {}) {
  const session = new FakeSession(members);
  const chat = newChat(properties);
  chat.attach(session);
  return { chat, session };
}
