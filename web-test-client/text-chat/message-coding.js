// A chat message as signal data, and back. Written strictly, so that every OpenTok accelerator can read it; read
// leniently, since each of them writes it a little differently.

/** JSON, shared by OpenTok's accelerators; ours. */
export const CHAT_TYPE = 'text-chat';

/** The bare text, as OpenTok's first sample component sends it. */
export const BARE_TYPE = 'TextChat';

/** `localId` is ours: by it a sender knows its own message when it comes back. Others ignore it. */
export function encodeMessage({ text, senderId, alias, sentAt, localId }) {
  return JSON.stringify({ text, sender: { id: senderId, alias }, sentOn: Math.round(sentAt), localId });
}

/**
 * What a signal says, or null when it is no chat message. `from` is the sender's connection as the server stamped it;
 * whatever the data claims about who sent it, this decides (null: nobody in the session, as by REST).
 */
export function decodeSignal({ type, data, from, receivedAt }) {
  const senderId = from?.connectionId ?? null;
  const vouchedAlias = from?.data ? from.data : null;
  switch (type) {
    case BARE_TYPE:
      return typeof data === 'string' ? { text: data, senderId, alias: vouchedAlias, sentAt: receivedAt, localId: null } : null;
    case CHAT_TYPE: {
      const content = parseObject(data);
      if (typeof content?.text !== 'string') return null;
      return {
        text: content.text,
        senderId,
        alias: vouchedAlias ?? textOrNull(content.sender?.alias),
        sentAt: isMoment(content.sentOn) ? content.sentOn : receivedAt,
        localId: textOrNull(content.localId),
      };
    }
    default:
      return null;
  }
}

function parseObject(data) {
  if (typeof data !== 'string') return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function textOrNull(value) {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Within what a `Date` can hold; anything else is a number, but no time. */
function isMoment(value) {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}
