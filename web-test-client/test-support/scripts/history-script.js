import { readerCalendar } from '../../text-chat/timeline/reader-calendar.js';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';
import { applyChanges } from '../../text-chat/timeline/timeline-change.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

/** The time of a kept message that names none. */
const timeOf = (seq) => 1_700_000_000_000 + seq * 1000;

/**
 * Runs one case of `Tests/Vectors/history`: a component on a channel whose history the script gives. Calls `found(step,
 * seen)` after each step, `seen` being `{asks, rows, earlier, loading, unread, error, received}`.
 */
export async function runHistoryScript({ timeZone, limit, wireForm, steps }, found) {
  let asks = [];
  let received = [];
  const waiting = [];
  const channel = {
    connectionId: null,
    user: null,
    hasHistory: false,
    epoch: null,
    send: ({ data }) => new Promise((resolve, reject) => sends.push({ data, resolve, reject })),
    history(request) {
      asks.push(askOf(request));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  };
  const sends = [];
  const shown = [];
  const chat = new TextChatComponent({
    channel,
    wireForm,
    timeline: new ChatTimeline({ calendar: timeZone ? readerCalendar(timeZone) : null, limit }),
    changed(changes, activity) {
      applyChanges(shown, changes);
      if (activity?.kind === 'messageReceived') received.push(activity.message.text);
    },
  });
  chat.isVisible = true;
  let now = 0;
  const enter = ({ id, user, epoch, history }) => {
    if (id !== undefined) channel.connectionId = id;
    if (user !== undefined) channel.user = user;
    if (epoch !== undefined) channel.epoch = epoch;
    if (history !== undefined) channel.hasHistory = history;
  };
  const acts = {
    connected(step) {
      enter(step);
      chat.handle({ kind: 'connected', connectionId: step.id }, now);
    },
    reconnecting: () => chat.handle({ kind: 'reconnecting' }, now),
    lost: () => chat.handle({ kind: 'lost' }, now),
    reconnected(step) {
      enter(step);
      chat.handle({ kind: 'reconnected', connectionId: channel.connectionId }, now);
    },
    disconnected() {
      chat.handle({ kind: 'disconnected' }, now);
      channel.connectionId = null;
    },
    signal: (step) => chat.handle({ kind: 'signal', ...signalOf(step) }, now),
    page: ({ page }) => waiting.shift().resolve(pageOf(page)),
    fail: ({ code = 500 }) => waiting.shift().reject(Object.assign(new Error('no'), { code })),
    history: ({ page }) => chat.handle({ kind: 'history', page: pageOf(page) }, now),
    erased: ({ do: kind, rows, ...erasure }) => chat.handle({ kind, ...erasure }, now),
    loadEarlier: () => chat.loadEarlier(),
    visible: ({ value }) => (chat.isVisible = value),
    senderId: ({ id }) => (chat.senderId = id),
    send({ text, localId }) {
      chat.edit(text);
      chat.enqueue(now, localId);
    },
    refuse: () => sends.shift().reject(Object.assign(new Error('lost'), { code: 500 })),
    restore: ({ own }) => chat.restore({ messages: [], draft: '', ownConnectionIds: own }, now),
  };
  for (const step of steps) {
    asks = [];
    received = [];
    now = step.at ?? timeOf(step.seq ?? 0);
    acts[step.do](step);
    // Runs all pending promises of the component.
    await new Promise((resolve) => setImmediate(resolve));
    const rows = chat.rows.map(shortLineOf);
    if (shown.map(shortLineOf).join() !== rows.join()) throw new Error('The changes lead to other rows.');
    found(step, {
      asks,
      received,
      rows,
      earlier: chat.hasEarlier,
      loading: chat.isLoadingEarlier,
      unread: chat.unreadCount,
      error: chat.historyError?.code ?? null,
    });
  }
}

function askOf({ before, after, limit }) {
  return `${before !== undefined ? `before ${before}` : after !== undefined ? `after ${after}` : 'newest'}, ${limit}`;
}

function signalOf({ seq, from, user = null, text, localId, sentOn, type = 'text-chat' }) {
  const data = type === 'TextChat' ? text : JSON.stringify({ text, localId, sentOn });
  return { seq, from: from ? { connectionId: from, data: '', user } : null, type, data };
}

function pageOf({ messages, ...page }) {
  return {
    ...page,
    messages: messages.map(({ time, erased, ...message }) =>
      erased
        ? { seq: message.seq, from: signalOf(message).from, time: time ?? timeOf(message.seq), erased }
        : { ...signalOf(message), time: time ?? timeOf(message.seq) },
    ),
  };
}

/** A row as the vectors of the history write it: without groups. */
export function shortLineOf({ kind, day, message }) {
  if (kind === 'day') return `day ${day}`;
  if (kind === 'unreadDivider') return 'unread';
  if (kind !== 'message') return kind;
  return `${message.text} ${message.state === 'sent' ? message.direction : message.state}`;
}
