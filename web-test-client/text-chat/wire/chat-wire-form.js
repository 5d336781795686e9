// A chat message as signal data, and back. Written strictly, so that every OpenTok accelerator can read it; read
// leniently, since each of them writes it a little differently.

import { typingNumber } from './typing-signal.js';

/** JSON, shared by OpenTok's accelerators; ours. */
export const CHAT_TYPE = 'text-chat';

/** The bare text, as OpenTok's first sample component sends it. */
export const BARE_TYPE = 'TextChat';

/** Longer local ids are not taken from others, in bytes: they are kept in memory. */
const LOCAL_ID_LENGTH = 64;

/**
 * The message as signal data. `localId` is ours: by it a sender knows its own message when it comes back; others ignore it.
 * `typingN` is the number of the sender's last typing signal (TYP-5). What is not known is not written.
 */
export function encodeMessage({ text, senderId, alias, sentAt, localId, typingN }, form = CHAT_TYPE) {
  if (form === BARE_TYPE) return wellFormed(text);
  return JSON.stringify({
    text: wellFormed(text),
    sender: { id: senderId ?? undefined, alias: alias === null || alias === undefined ? undefined : wellFormed(alias) },
    sentOn: sentAt === null || sentAt === undefined ? undefined : Math.round(sentAt),
    localId: localId ?? undefined,
    typingN: typingN ?? undefined,
  });
}

/**
 * What a signal says, or null when it is no chat message. `from` is the sender's connection as the server stamped it; whatever
 * the data claims about who sent it, this decides (CHAT-4). Without it, as by REST, the data's id counts. A name in the data
 * wins over the connection's data, since a name is free to choose anyway.
 */
export function decodeSignal({ type, data, from, seq = null, receivedAt }) {
  if (typeof data !== 'string') return null;
  const message = {
    text: data,
    senderId: from?.connectionId ?? null,
    alias: textOrNull(from?.data),
    sentAt: receivedAt,
    receivedAt,
    localId: null,
    typingN: null,
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
  return message;
}

/** Half a surrogate pair cannot be sent (WIRE-4). */
function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Strict where `JSON.parse` is not: half a surrogate pair is no text. */
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

/** Within what a `Date` can hold; anything else is a number, but no time. */
function isMoment(value) {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}
