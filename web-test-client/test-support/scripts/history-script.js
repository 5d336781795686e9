import { readerCalendar } from '../../text-chat/timeline/reader-calendar.js';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';
import { applyChanges } from '../../text-chat/timeline/timeline-change.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { HandClock } from '../fakes/hand-clock.js';
import { reactionActs, reactionChannel, reactionsSeen, keptReactions } from './reaction-script.js';

/** The time of a kept message that names none. */
const timeOf = (seq) => 1_700_000_000_000 + seq * 1000;

/**
 * Runs one case of `Tests/Vectors/history`, or of a folder of `Tests/Vectors/chat`: a component on a channel whose
 * history the script gives. Calls `found(step, seen)` after each step, `seen` being what the vectors name. `lineOf` writes a row.
 */
export async function runHistoryScript({ timeZone, limit, wireForm, steps }, found, lineOf = shortLineOf) {
  let asks = [];
  let received = [];
  let requests = [];
  let outcomes = [];
  const waiting = [];
  const changing = [];
  const awaited = { reactions: [], reactors: [], markers: [] };
  const clock = new HandClock();
  let updates = [];
  const channel = {
    connectionId: null,
    user: null,
    hasHistory: false,
    epoch: null,
    changes: null,
    readState: null,
    ...reactionChannel(awaited, (request) => requests.push(request)),
    send({ data }) {
      requests.push(`send ${requestOf({ data })}`);
      return new Promise((resolve, reject) => sends.push({ data, resolve, reject }));
    },
    change({ ref, rel, data }) {
      requests.push(`${rel} ${ref}: ${requestOf({ data })}`);
      return new Promise((resolve, reject) => changing.push({ resolve, reject }));
    },
    erase({ ref }) {
      requests.push(`erase ${ref}`);
      return new Promise((resolve, reject) => changing.push({ resolve, reject }));
    },
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
    timers: clock.options(),
    changed(changes, activity) {
      for (const { update } of changes) if (update) updates.push(update.message.seq ?? update.message.localId);
      applyChanges(shown, changes);
      if (activity?.kind === 'messageReceived') received.push(activity.message.text);
    },
  });
  chat.isVisible = true;
  let now = 0;
  const enter = ({ id, user, epoch, history, changes, read }) => {
    if (read !== undefined) channel.readState = read;
    if (changes !== undefined) channel.changes = changes;
    if (id !== undefined) channel.connectionId = id;
    if (user !== undefined) channel.user = user;
    if (epoch !== undefined) channel.epoch = epoch;
    if (history !== undefined) channel.hasHistory = history;
  };
  const rowOf = ({ seq = null, localId = null }) =>
    chat.rows.find(({ message }) => message && (seq === null ? message.localId === localId : message.seq === seq));
  const idOf = (step) => rowOf(step)?.id ?? 'none';
  const follow = (word, promise) => promise.then(
    (result) => outcomes.push(`${word} ${result === undefined ? 'done' : result}`),
    ({ reason, code }) => outcomes.push(`${word} ${reason ?? code}`),
  );
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
    erased: ({ ref, through, user, before }) => chat.handle({ kind: 'erased', ref, through, user, before }, now),
    changed({ seq, ref, rel = 'edit', data, ...content }) {
      chat.handle({ kind: 'changed', seq, ref, rel, data: data ?? dataOf(content) }, now);
    },
    edit: (step) => follow(`edit ${step.seq ?? step.localId}`, chat.editMessage(idOf(step), step.text)),
    delete: (step) => follow(`delete ${step.seq}`, chat.deleteMessage(idOf(step))),
    acknowledgeChange: ({ seq }) => changing.shift().resolve({ seq }),
    refuseChange: ({ code }) => changing.shift().reject(Object.assign(new Error('no'), { code })),
    reply: (step) => chat.reply('seq' in step && step.seq === null ? null : idOf(step)),
    draft: ({ text }) => chat.edit(text),
    loadQuoted(step) {
      const seqOf = (id) => chat.timeline.messageOf(id)?.seq ?? 'null';
      follow(`quoted by ${step.seq}:`, chat.loadQuoted(rowOf(step).message).then(seqOf));
    },
    loadEarlier: () => chat.loadEarlier(),
    visible: ({ value }) => (chat.isVisible = value),
    senderId: ({ id }) => (chat.senderId = id),
    send({ text, localId }) {
      chat.edit(text);
      chat.enqueue(now, localId);
    },
    acknowledge: ({ seq = null }) => sends.shift().resolve({ seq }),
    refuse: () => sends.shift().reject(Object.assign(new Error('lost'), { code: 500 })),
    restore: ({ own }) => chat.restore({ messages: [], draft: '', ownConnectionIds: own }, now),
    ...reactionActs({ chat, clock, awaited, idOf, follow, now: () => now }),
  };
  for (const step of steps) {
    asks = [];
    received = [];
    requests = [];
    outcomes = [];
    updates = [];
    now = step.at ?? timeOf(step.seq ?? 0);
    acts[step.do](step);
    // Runs all pending promises of the component.
    await new Promise((resolve) => setImmediate(resolve));
    const rows = chat.rows.map(lineOf);
    if (shown.map(lineOf).join() !== rows.join()) throw new Error('The changes lead to other rows.');
    const messages = chat.rows.filter(({ kind }) => kind === 'message');
    found(step, {
      asks,
      received,
      rows,
      earlier: chat.hasEarlier,
      loading: chat.isLoadingEarlier,
      unread: chat.unreadCount,
      error: chat.historyError?.code ?? null,
      requests,
      outcomes,
      draft: chat.draft,
      replyTarget: chat.timeline.messageOf(chat.replyTarget)?.seq ?? null,
      may: messages.map(({ id, message }) => mayLine(chat, id, message)),
      quotes: messages.flatMap(({ message }) => quoteLine(message, chat.quoteOf(message))),
      updates: [...new Set(updates)],
      ...reactionsSeen(chat, messages),
      edited: messages.flatMap(({ message: { seq, editedAt } }) => (editedAt === null ? [] : [`${seq} ${editedAt}`])),
    });
  }
}

function mayLine(chat, id, { seq, localId }) {
  const acts = {
    edit: chat.canEdit(id), delete: chat.canDelete(id), reply: chat.canReply(id), react: chat.canReact(id),
  };
  return [seq ?? localId, ...Object.keys(acts).filter((act) => acts[act])].join(' ');
}

function quoteLine({ seq, text }, quote) {
  if (quote === null) return [];
  const said = quote.state === 'shown' ? `: ${quote.message.text}` : quote.state === 'earlier' ? ` ${quote.seq}` : '';
  return [`${seq ?? text} ${quote.state}${said}`];
}

/** The data of a signal or an edit: JSON with the members in a fixed order, or bare text. */
function requestOf({ data }) {
  if (!data.startsWith('{')) return data;
  const { text, sender, sentOn, localId, re } = JSON.parse(data);
  const named = Object.entries({ by: sender?.alias, sentOn, localId, re }).filter(([, value]) => value !== undefined);
  return [text, ...named.map(([name, value]) => `${name}=${value}`)].join(' ');
}

function askOf({ before, after, changedAfter, limit }) {
  if (changedAfter !== undefined) return `changed after ${changedAfter}, ${limit}`;
  return `${before !== undefined ? `before ${before}` : after !== undefined ? `after ${after}` : 'newest'}, ${limit}`;
}

function signalOf({ seq, from, user = null, name = '', type = 'text-chat', data, ...content }) {
  const sender = from ? { connectionId: from, data: name, user } : null;
  return { seq, from: sender, type, data: data ?? (type === 'TextChat' ? content.text : dataOf(content)) };
}

function dataOf({ text, localId, sentOn, re, alias }) {
  return JSON.stringify({ text, localId, sentOn, re, ...(alias === undefined ? {} : { sender: { alias } }) });
}

function pageOf({ messages, ...page }) {
  return {
    ...page,
    messages: messages.map(({ time, erased, changed, edited, reactions, reacted, ...message }) =>
      erased
        ? { seq: message.seq, from: signalOf(message).from, time: time ?? timeOf(message.seq), erased }
        : {
            ...signalOf(message),
            time: time ?? timeOf(message.seq),
            ...(changed === undefined ? {} : { changed, edited: edited ?? timeOf(changed) }),
            ...keptReactions({ reactions, reacted }),
          },
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

/** The same where messages change: without the words for an erased one. */
export function changeLineOf(row) {
  const { kind, message } = row;
  if (kind !== 'message') return shortLineOf(row);
  const line = shortLineOf({ ...row, message: { ...message, text: message.isErased ? '(erased)' : message.text } });
  return message.version === null ? line : `${line} edited`;
}
