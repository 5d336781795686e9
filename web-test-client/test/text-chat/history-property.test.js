// Random histories of loss, reload, paging and changes. However they go, the chat ends with each message once, in order,
// and as the server has it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';
import { applyChanges } from '../../text-chat/timeline/timeline-change.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

const CASES = 10_000;
/** So few that a history has many pages. */
const PAGE_COUNT = 3;

test('CHAT-10 after any losses, reloads and pages each message is there once and in order', () => run(CASES, null));

test('CHG-10 after any losses, changes and orders each message is there once, and as the server has it', () =>
  run(CASES / 2, ['edit', 'erase']));

async function run(count, changes) {
  for (let seed = 0; seed < count; seed += 1) {
    const world = new World(seed, changes);
    for (let step = 0; step < 24; step += 1) await world.step();
    await world.settle();
    assert.deepEqual(world.shownTexts, world.keptTexts, `seed ${seed}`);
    // What was lost with an order is in no history.
    const isGap = world.epoch === 1 && world.chat.rows.some(({ kind }) => kind === 'gap');
    assert.ok(!isGap, `seed ${seed}`);
    assert.equal(world.chat.unreadCount, 0, `seed ${seed}`);
    assert.deepEqual(world.shown, world.chat.rows, `seed ${seed}`);
  }
}

/** A server with one session, and a chat in it. */
class World {
  #random;
  #lastSeq = 0;
  #kept = [];
  #lastConnection = 0;
  #lastText = 0;
  #connection = null;
  #own = [];
  /** Events that have not arrived yet. */
  #inbox = [];
  /** Requests for pages: `{request, resolve, reject}`. */
  #pages = [];
  #sends = [];
  /** What clients may change; null: nothing ever changes. */
  #permitted;
  /** Requests for changes: `{change, resolve, reject}`. */
  #changing = [];
  #lastChange = 0;
  /** The seq of the last erasure of several messages. */
  #lastErasure = 0;
  epoch = 1;

  constructor(seed, permitted) {
    this.#permitted = permitted;
    this.#random = randomNumbers(seed);
    for (let count = this.#random(8); count > 0; count -= 1) this.#accept('bob');
    this.#start();
  }

  get shownTexts() {
    const sent = this.chat.timeline.messages.filter(({ state }) => state === 'sent');
    return sent.map((message) => `${message.isErased ? '(erased)' : message.text} ${message.direction}`);
  }

  get keptTexts() {
    const isOwn = ({ connectionId }) => this.#own.includes(connectionId);
    return this.#kept.map((message) => `${message.erased ? '(erased)' : textOf(message)} ${isOwn(message.from) ? 'sent' : 'received'}`);
  }

  async step() {
    const act = this.#random(this.#permitted === null ? 16 : 24);
    if (act < 3) this.#accept('bob');
    else if (act < 4) this.#write();
    else if (act < 5) this.#lastSeq += 1;
    else if (act < 8) this.#deliver(1 + this.#random(3));
    else if (act < 10) this.#answerPage(this.#random(4) === 0);
    else if (act < 11) this.#answerSend();
    else if (act < 12) this.chat.loadEarlier();
    else if (act < 13) this.#lose();
    else if (act < 14) this.#resume(this.#random(2) === 0);
    else if (act < 15) this.#comeAgain();
    else if (act < 16) this.#random(3) === 0 && this.#start();
    else if (act < 19) this.#change();
    else if (act < 21) this.#changeOwn();
    else if (act < 23) this.#answerChange();
    else if (this.#random(3) === 0) this.#beginOrder();
    await settled();
  }

  /** The network is quiet now, and the user reads up to the beginning. */
  async settle() {
    this.#resume(false);
    for (let rounds = 0; rounds < 100; rounds += 1) {
      this.#deliver(Infinity);
      while (this.#sends.length > 0) this.#answerSend();
      while (this.#changing.length > 0) this.#answerChange();
      while (this.#pages.length > 0) {
        this.#answerPage(false);
        await settled();
      }
      await settled();
      if (this.#inbox.length === 0 && this.#pages.length === 0 && !this.chat.loadEarlier()) return;
    }
    throw new Error('The chat does not stop reading.');
  }

  /** A new page: it has the former connections, and nothing else. */
  #start() {
    this.#sends = [];
    this.#pages = [];
    this.#changing = [];
    this.shown = [];
    const world = this;
    const channel = {
      get connectionId() {
        return world.#connection;
      },
      hasHistory: true,
      get epoch() {
        return String(world.epoch);
      },
      changes: this.#permitted,
      send: ({ data }) => new Promise((resolve, reject) => this.#sends.push({ data, resolve, reject })),
      change: (change) => new Promise((resolve, reject) => this.#changing.push({ change, resolve, reject })),
      erase: (change) => new Promise((resolve, reject) => this.#changing.push({ change, resolve, reject })),
      history: (request) => new Promise((resolve, reject) => {
        const asked = this.#snapshot();
        this.#pages.push({ request, asked, resolve, reject });
      }),
    };
    this.chat = new TextChatComponent({
      timeline: new ChatTimeline(), changed: (changes) => applyChanges(this.shown, changes),
    });
    this.chat.isVisible = true;
    this.chat.restore({ messages: [], draft: '', ownConnectionIds: this.#own }, 0);
    this.#connect();
    this.chat.channel = channel;
    this.chat.handle({ kind: 'connected', connectionId: this.#connection }, 0);
  }

  #connect() {
    this.#inbox = [];
    this.#connection = `me ${(this.#lastConnection += 1)}`;
    this.#own.push(this.#connection);
  }

  #accept(from, text = String((this.#lastText += 1)), localId = null) {
    const seq = (this.#lastSeq += 1);
    const data = JSON.stringify({ text, localId });
    const message = { seq, from: { connectionId: from, data: '', ...(from === 'bob' ? { user: 'bob' } : {}) }, type: 'text-chat', data, time: seq };
    this.#kept.push(message);
    this.#inbox.push({ kind: 'signal', ...message });
  }

  #write() {
    this.chat.edit(`own ${(this.#lastText += 1)}`);
    this.chat.enqueue(0, String(this.#lastText));
  }

  /** The message arrives or not, and its acknowledgement arrives or not. */
  #answerSend() {
    const send = this.#sends.shift();
    if (!send) return;
    const fate = this.#random(3);
    const { text, localId } = JSON.parse(send.data);
    if (fate < 2) this.#accept(this.#connection, text, localId);
    // The events up to a message come before its acknowledgement (SIG-6). Nothing else tells of one that is erased later.
    if (fate === 0 && this.#permitted !== null) this.#deliver(Infinity);
    // Sessions do not tell the seq.
    if (fate === 0) send.resolve(this.#random(2) === 0 ? { seq: this.#lastSeq } : {});
    else send.reject(Object.assign(new Error('lost'), { code: 500 }));
    this.chat.passFailed();
  }

  #deliver(count) {
    for (const event of this.#inbox.splice(0, count)) this.chat.handle(event, 0);
  }

  #answerPage(isRefused) {
    const { request, asked, resolve, reject } = this.#pages.splice(this.#random(Math.max(this.#pages.length, 1)), 1)[0] ?? {};
    if (request === undefined) return;
    if (isRefused) reject(Object.assign(new Error('busy'), { code: 503 }));
    // The page is true as of some moment from the request on.
    else resolve(pageOf(this.#random(2) === 0 ? asked : this.#snapshot(), request));
  }

  #snapshot() {
    return { kept: [...this.#kept], lastChange: this.#lastChange, lastErasure: this.#lastErasure };
  }

  /** Somebody changes a message, or erases several. */
  #change() {
    if (this.#kept.length === 0) return;
    const { seq } = this.#kept[this.#random(this.#kept.length)];
    const kind = this.#random(8);
    if (kind === 0) this.#eraseMany(seq);
    else if (kind < 3) this.#erase(seq);
    else this.#edit(seq, null);
  }

  #replace(ref, form) {
    const index = this.#kept.findIndex(({ seq, erased = false }) => seq === ref && !erased);
    if (index < 0) return null;
    const change = (this.#lastSeq += 1);
    this.#lastChange = change;
    this.#kept[index] = form(this.#kept[index], change);
    return change;
  }

  #edit(ref, data) {
    const text = String((this.#lastText += 1));
    const whole = (former) => data ?? JSON.stringify({ ...JSON.parse(former), text });
    const seq = this.#replace(ref, (former, changed) => ({ ...former, data: whole(former.data), changed, edited: changed }));
    if (seq === null) return null;
    // Now and then a kind of change that this version does not know.
    const rel = this.#random(6) === 0 ? 'paint' : 'edit';
    const content = rel === 'edit' ? { data: this.#kept.find((each) => each.seq === ref).data } : {};
    this.#inbox.push({ kind: 'changed', seq, ref, rel, ...content });
    return seq;
  }

  #erase(ref) {
    const seq = this.#replace(ref, ({ seq: own, from, time }, version) => ({ seq: own, from, time, erased: true, version }));
    if (seq !== null) this.#inbox.push({ kind: 'erased', ref });
    return seq;
  }

  #eraseMany(through) {
    this.#lastErasure = this.#lastChange = this.#lastSeq += 1;
    if (this.#random(2) === 0) {
      this.#kept = this.#kept.filter(({ seq }) => seq > through);
      this.#inbox.push({ kind: 'erased', through });
    } else {
      this.#kept = this.#kept.map((message) =>
        message.from.user === 'bob' ? { seq: message.seq, from: message.from, time: message.time, erased: true } : message);
      this.#inbox.push({ kind: 'erased', user: 'bob', before: this.#lastSeq });
    }
  }

  #changeOwn() {
    const rows = this.chat.rows.filter(({ id, kind }) => kind === 'message' && this.chat.canEdit(id));
    if (rows.length === 0) return;
    const { id } = rows[this.#random(rows.length)];
    const isDelete = this.#random(3) === 0;
    const done = isDelete ? this.chat.deleteMessage(id) : this.chat.editMessage(id, `mine ${(this.#lastText += 1)}`);
    done.catch(() => {});
  }

  /** The change is carried out or not, and its answer arrives or not. */
  #answerChange() {
    const { change, resolve, reject } = this.#changing.shift() ?? {};
    if (change === undefined) return;
    const fate = this.#random(3);
    const act = () => (change.rel === 'edit' ? this.#edit(change.ref, change.data) : this.#erase(change.ref));
    const seq = fate < 2 ? act() : null;
    if (fate === 0 && seq !== null) resolve({ seq });
    else reject(Object.assign(new Error('lost'), { code: 500 }));
  }

  /** The server has lost its order, and perhaps the latest messages of others. */
  #beginOrder() {
    while (this.#random(3) === 0 && this.#kept.at(-1)?.from.connectionId === 'bob') this.#kept.pop();
    this.epoch += 1;
    this.#lastSeq += 1000;
    // Nobody knows which erasures were lost.
    this.#lastChange = this.#lastErasure = this.#lastSeq;
    this.#lose();
  }

  /** Another connection takes the place of this one, and the events up to it are lost. */
  #lose() {
    this.chat.handle({ kind: 'reconnecting' }, 0);
    this.#connect();
    this.chat.handle({ kind: 'lost' }, 0);
    const isEvent = this.#random(2) === 0;
    this.chat.handle({ kind: isEvent ? 'connected' : 'reconnected', connectionId: this.#connection }, 0);
  }

  /** The events that were missed follow, to the same connection or to another. */
  #resume(isAnother) {
    this.chat.handle({ kind: 'reconnecting' }, 0);
    if (isAnother) {
      const missed = this.#inbox;
      this.#connect();
      this.#inbox = missed;
    }
    this.chat.handle({ kind: 'reconnected', connectionId: this.#connection }, 0);
  }

  /** The program connects again, and nobody says that events are missing. */
  #comeAgain() {
    this.chat.handle({ kind: 'disconnected' }, 0);
    this.#connect();
    this.chat.handle({ kind: 'connected', connectionId: this.#connection }, 0);
  }
}

function textOf({ data }) {
  return JSON.parse(data).text;
}

function pageOf({ kept, lastChange, lastErasure }, { before, after, changedAfter }) {
  const range = kept.length === 0 ? {} : { first: kept[0].seq, last: kept.at(-1).seq };
  if (changedAfter !== undefined) {
    if (lastErasure > changedAfter) return { ...range, more: false, messages: [], changedThrough: lastChange, all: true };
    const version = (message) => message.changed ?? message.version ?? 0;
    const changed = kept.filter((message) => version(message) > changedAfter);
    const messages = changed.sort((one, other) => version(one) - version(other)).slice(0, PAGE_COUNT);
    const more = changed.length > PAGE_COUNT;
    return { ...range, more, messages, changedThrough: more ? version(messages.at(-1)) : lastChange };
  }
  const found = kept.filter(({ seq }) => seq < (before ?? Infinity) && seq > (after ?? -1));
  const messages = after === undefined ? found.slice(-PAGE_COUNT) : found.slice(0, PAGE_COUNT);
  return { ...range, more: found.length > PAGE_COUNT, messages };
}

/** Runs the pending promises of the component. */
async function settled() {
  for (let turn = 0; turn < 6; turn += 1) await null;
}

/** Random whole numbers below a limit; the same seed gives the same numbers. */
function randomNumbers(seed) {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
