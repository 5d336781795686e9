// The form of a message in a signal. Writing is strict, so that every OpenTok accelerator can read it. Reading is
// lenient, since each of them writes it a little differently.

import { ERASED } from '../timeline/erased.js';
import { readData } from './message-data.js';
import { typingNumber } from './typing-signal.js';

/** @type {'text-chat'} JSON, as OpenTok's accelerators write it; the default. */
export const CHAT_TYPE = 'text-chat';

/** @type {'TextChat'} Bare text, as OpenTok's first sample component sends it. */
export const BARE_TYPE = 'TextChat';

/** Longest local id that is accepted from others, in bytes, since the timeline keeps them. */
const LOCAL_ID_LENGTH = 64;

/** The greatest seq (HIS-3). */
const LAST_SEQ = 2 ** 53;

/**
 * The message as signal data. Only Signalbox has `localId`, which identifies an echo, `typingN`, the number of the
 * sender's last typing signal (TYP-5), `re`, the message that it answers (CHAT-12), and `data` (CHAT-11). Members without
 * a value are left out.
 * @type {(message: Partial<MessageContent> & { readonly text: string }, form?: WireForm) => string}
 */
export function encodeMessage({ text, senderId, alias, sentAt, localId, typingN, replyTo, data }, form = CHAT_TYPE) {
  if (form === BARE_TYPE) return wellFormed(text);
  return JSON.stringify({
    text: wellFormed(text),
    sender: { id: senderId ?? undefined, alias: alias === null || alias === undefined ? undefined : wellFormed(alias) },
    sentOn: sentAt === null || sentAt === undefined ? undefined : Math.round(sentAt),
    localId: localId ?? undefined,
    typingN: typingN ?? undefined,
    re: replyTo ?? undefined,
    data: data ?? undefined,
  });
}

/**
 * The message in a signal; null if the signal is not a chat message. `from` is the connection that the server stamped,
 * and names the sender and the sender's user, whatever the data states (CHAT-4). Without it the message came by REST,
 * and the id in the data counts. `alias` is what the data states, or the connection's data; a name to show is a matter of
 * `NameBook`.
 * @type {(signal: Omit<ReceivedSignal, 'kind'> & { readonly receivedAt: number }) => MessageContent | null}
 */
export function decodeSignal({ type, data, from, seq = null, receivedAt }) {
  if (typeof data !== 'string') return null;
  const message = {
    text: data,
    wireForm: type,
    connectionId: from?.connectionId ?? null,
    senderId: from?.connectionId ?? null,
    user: from?.user ?? null,
    senderData: typeof from?.data === 'string' ? from.data : from ? '' : null,
    isFromServer: !from,
    alias: textOrNull(from?.data),
    sentAt: receivedAt,
    receivedAt,
    localId: null,
    typingN: null,
    replyTo: null,
    version: null,
    editedAt: null,
    data: null,
    seq,
    direction: 'received',
    state: 'sent',
  };
  if (type === BARE_TYPE) return message;
  if (type !== CHAT_TYPE) return null;
  const content = parseObject(data);
  if (typeof content?.text !== 'string') return null;
  message.text = content.text;
  message.senderId ??= textOrNull(content.sender?.id);
  message.alias = textOrNull(content.sender?.alias) ?? message.alias;
  if (isMoment(content.sentOn)) message.sentAt = Math.floor(content.sentOn);
  message.localId = localIdOrNull(content.localId);
  message.typingN = typingNumber(content.typingN);
  message.replyTo = replyTo(content.re, seq);
  message.data = readData(content.data);
  return message;
}

/**
 * A message of the session's history, as `decodeSignal` returns one: `{seq, from, type, data, time}`, perhaps with
 * `changed` and `edited`, or with `erased` in the place of its content (HIS-6, CHG-8). `time`, when the server accepted
 * it, stands for its arrival, so that days are the same as if it had arrived live. Null if it is not a chat message.
 */
export function decodeKept({ seq, from, type, data, time, erased = false, changed = null, edited = null }) {
  const signal = { type, data, from, seq, receivedAt: time };
  const isEdited = changed !== null && (type === CHAT_TYPE || type === BARE_TYPE);
  // The data of an edit that is no message has no text, so that nothing of the former edition stays (CHAT-13).
  const empty = erased || isEdited ? decodeSignal({ ...signal, type: BARE_TYPE, data: '' }) : null;
  if (erased) return { ...empty, ...ERASED, alias: empty.alias };
  const message = decodeSignal(signal) ?? empty;
  return message && { ...message, wireForm: type, version: changed, editedAt: edited };
}

/** The seq of the message that one with this seq answers; null if the value is none of an earlier message. */
function replyTo(value, seq) {
  return Number.isInteger(value) && value > 0 && value <= LAST_SEQ && value < (seq ?? Infinity) ? value : null;
}

/** Replaces lone surrogates, which cannot be sent (WIRE-4). */
function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Stricter than `JSON.parse`: refuses lone surrogates. */
function parseObject(data) {
  try {
    const value = JSON.parse(data, (name, member) => {
      if (isBroken(name) || (typeof member === 'string' && isBroken(member))) throw new SyntaxError('lone surrogate');
      return member;
    });
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isBroken(text) {
  return /\p{Surrogate}/u.test(text);
}

function textOrNull(value) {
  return typeof value === 'string' && value !== '' ? value : null;
}

function localIdOrNull(value) {
  const text = textOrNull(value);
  return text !== null && new TextEncoder().encode(text).length <= LOCAL_ID_LENGTH ? text : null;
}

/** Whether the number is in the range of a `Date`. */
function isMoment(value) {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}
