// Random histories of loss, reload and paging. However they go, the chat ends with each message once and in order.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';
import { applyChanges } from '../../text-chat/timeline/timeline-change.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

const CASES = 10_000;
/** So few that a history has many pages. */
const PAGE_COUNT = 3;

test('CHAT-10 after any losses, reloads and pages each message is there once and in order', async () => {
  for (let seed = 0; seed < CASES; seed += 1) {
    const world = new World(seed);
    for (let step = 0; step < 24; step += 1) await world.step();
    await world.settle();
    assert.deepEqual(world.shownTexts, world.keptTexts, `seed ${seed}`);
    assert.ok(!world.chat.rows.some(({ kind }) => kind === 'gap'), `seed ${seed}`);
    assert.equal(world.chat.unreadCount, 0, `seed ${seed}`);
    assert.deepEqual(world.shown, world.chat.rows, `seed ${seed}`);
  }
});

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

  constructor(seed) {
    this.#random = randomNumbers(seed);
    for (let count = this.#random(8); count > 0; count -= 1) this.#accept('bob');
    this.#start();
  }

  get shownTexts() {
    const sent = this.chat.timeline.messages.filter(({ state }) => state === 'sent');
    return sent.map(({ text, direction }) => `${text} ${direction}`);
  }

  get keptTexts() {
    return this.#kept.map(({ text, from }) => `${text} ${this.#own.includes(from.connectionId) ? 'sent' : 'received'}`);
  }

  async step() {
    const act = this.#random(16);
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
    else if (this.#random(3) === 0) this.#start();
    await settled();
  }

  /** The network is quiet now, and the user reads up to the beginning. */
  async settle() {
    this.#resume(false);
    for (let rounds = 0; rounds < 100; rounds += 1) {
      this.#deliver(Infinity);
      while (this.#sends.length > 0) this.#answerSend();
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
    this.shown = [];
    const world = this;
    const channel = {
      get connectionId() {
        return world.#connection;
      },
      hasHistory: true,
      epoch: 'e',
      send: ({ data }) => new Promise((resolve, reject) => this.#sends.push({ data, resolve, reject })),
      history: (request) => new Promise((resolve, reject) => this.#pages.push({ request, resolve, reject })),
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
    const message = { seq, from: { connectionId: from, data: '' }, type: 'text-chat', data, time: seq, text };
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
    // Sessions do not tell the seq.
    if (fate === 0) send.resolve(this.#random(2) === 0 ? { seq: this.#lastSeq } : {});
    else send.reject(Object.assign(new Error('lost'), { code: 500 }));
    this.chat.passFailed();
  }

  #deliver(count) {
    for (const event of this.#inbox.splice(0, count)) this.chat.handle(event, 0);
  }

  #answerPage(isRefused) {
    const { request, resolve, reject } = this.#pages.splice(this.#random(Math.max(this.#pages.length, 1)), 1)[0] ?? {};
    if (request === undefined) return;
    if (isRefused) reject(Object.assign(new Error('busy'), { code: 503 }));
    else resolve(pageOf(this.#kept, request));
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

function pageOf(kept, { before, after }) {
  const range = kept.length === 0 ? {} : { first: kept[0].seq, last: kept.at(-1).seq };
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
