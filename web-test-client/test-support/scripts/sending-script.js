import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { CHAT_TYPE, decodeSignal, encodeMessage } from '../../text-chat/wire/chat-wire-form.js';

const ERRORS = {
  refuse: { code: 403, message: 'no' },
  limit: { code: 429, message: 'too fast' },
  lose: { code: 500, message: 'lost' },
};

/**
 * Runs one case of `Tests/Vectors/sending`: a component on a channel whose answers the script gives. Calls `found(step,
 * seen)` after each step, `seen` being `{sent, refused, rows, draft, obstacle}`, and returns the outcomes.
 */
export async function runSendingScript({ wireForm = CHAT_TYPE, steps }, found) {
  let sent = [];
  const waiting = [];
  const outcomes = {};
  const channel = {
    connectionId: null,
    send({ type, data }) {
      sent.push(decodeSignal({ type, data }).text);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  };
  const chat = new TextChatComponent({ channel, wireForm });
  chat.isVisible = true;
  const note = async (localId, promise) => {
    const { outcome, refusal, by } = await promise;
    outcomes[localId] = refusal ? `${outcome} ${refusal.reason}` : by ? `${outcome} by ${by}` : outcome;
  };
  const answer = (settle) => {
    if (waiting.length === 0) throw new Error('The script answers a send that did not happen.');
    settle(waiting.shift());
  };
  const acts = {
    connected({ id }) {
      channel.connectionId = id;
      chat.handle({ kind: 'connected', connectionId: id }, 0);
    },
    reconnecting: () => void chat.handle({ kind: 'reconnecting' }, 0),
    reconnected: () => void chat.handle({ kind: 'reconnected' }, 0),
    disconnected() {
      channel.connectionId = null;
      chat.handle({ kind: 'disconnected' }, 0);
    },
    renewed({ id }) {
      channel.connectionId = id;
    },
    enqueue({ text, localId }) {
      chat.edit(text);
      const refusal = chat.enqueue(0, localId);
      if (refusal === null) note(localId, chat.outcomeOf(localId));
      return refusal?.reason;
    },
    send({ text, localId }) {
      chat.edit(text);
      note(localId, chat.send(0, localId));
    },
    retry: ({ localId }) => void note(localId, chat.retry(localId)),
    discard: ({ localId }) => void chat.discard(localId),
    passFailed: () => chat.passFailed(),
    cancel: ({ localId }) => void chat.cancel(localId),
    acknowledge: ({ seq }) => answer(({ resolve }) => resolve({ seq })),
    echo: ({ text, localId, from = 'me', seq = null }) =>
      void chat.handle(
        {
          kind: 'signal',
          type: wireForm,
          data: encodeMessage({ text, localId }, wireForm),
          from: { connectionId: from },
          seq,
        },
        0,
      ),
    delegate({ value }) {
      chat.onMessageReadyToSend = value === null ? null : () => value;
    },
    channel({ value }) {
      chat.channel = value ? channel : null;
    },
  };
  for (const [name, error] of Object.entries(ERRORS)) {
    acts[name] = () => answer(({ reject }) => reject(Object.assign(new Error(error.message), error)));
  }
  for (const step of steps) {
    sent = [];
    const refused = acts[step.do](step) ?? null;
    // Runs all pending promises of the component.
    await new Promise((resolve) => setImmediate(resolve));
    found(step, { sent, refused, rows: chat.timeline.messages.map(rowOf), draft: chat.draft, obstacle: chat.obstacle });
  }
  return outcomes;
}

function rowOf({ text, state, direction }) {
  return `${text} ${state === 'sent' ? direction : state}`;
}
