import { CHAT_TYPE } from '../../text-chat/wire/chat-wire-form.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { ChatTyping } from '../../text-chat/typing/chat-typing.js';
import { TYPING_PRESETS } from '../../text-chat/typing/typing-presets.js';
import { decodeTyping } from '../../text-chat/wire/typing-signal.js';
import { HandClock } from '../fakes/hand-clock.js';
import { names, vectorPolicy } from './typing-script.js';

/**
 * Runs one case of the kind `component` of `Tests/Vectors/typing`. Returns `{signals, snapshots}` as the vectors write
 * them.
 */
export async function runComponentScript({ policy, connection = null, senderId = null, steps, until }) {
  const clock = new HandClock();
  const found = { signals: [], snapshots: [] };
  const failed = new Set();
  let lastId = 0;
  const channel = {
    connectionId: connection,
    user: null,
    send({ type, data }) {
      if (type === CHAT_TYPE) found.signals.push([clock.now, 'message', JSON.parse(data).typingN ?? null]);
      else found.signals.push([clock.now, type === 'typing' ? decodeTyping({ type, data }).action : type]);
      return type === CHAT_TYPE ? Promise.resolve({}) : new Promise((_, reject) => failed.add(reject));
    },
  };
  const typing = new ChatTyping({
    ...clock.options(),
    policy: vectorPolicy(policy),
    publish: (signal) => channel.send(signal),
    changed: (snapshot) => found.snapshots.push([clock.now, names(snapshot.typing), names(snapshot.paused)]),
  });
  const chat = new TextChatComponent({ channel, typing });
  chat.senderId = senderId;
  const handle = (event) => chat.handle(event, clock.now);

  const acts = {
    connected({ id, user = null }) {
      channel.connectionId = id;
      channel.user = user;
      handle({ kind: 'connected', connectionId: id });
      handle({ kind: 'connectionCreated', connection: { connectionId: id, data: '', user } });
    },
    reconnecting: () => handle({ kind: 'reconnecting' }),
    reconnected: ({ id }) => handle({ kind: 'reconnected', connectionId: id }),
    disconnected: () => handle({ kind: 'disconnected' }),
    connectionCreated: ({ id, data = '', user = null }) => handle({
      kind: 'connectionCreated', connection: { connectionId: id, data, user },
    }),
    connectionDestroyed: ({ id, data = '', user = null }) => handle({
      kind: 'connectionDestroyed', connection: { connectionId: id, data, user },
    }),
    signal({ from, data = '', user = null, type = 'typing', action, n, content }) {
      const body = content ?? (action && { action, n });
      handle({
        kind: 'signal',
        type,
        data: typeof body === 'object' ? JSON.stringify(body) : body,
        from: from === undefined ? null : { connectionId: from, data, user },
        seq: null,
      });
    },
    edit: ({ text }) => chat.edit(text),
    setDraft: ({ text }) => chat.setDraft(text),
    restore: ({ text }) => chat.restore({ messages: [], draft: text }, clock.now),
    send: () => void chat.send(clock.now, String((lastId += 1))),
    isVisible: ({ value }) => (chat.isVisible = value),
    'typing.leave': () => typing.leave(),
    'typing.send': ({ action }) => typing.send(action),
    'typing.isOptedOut': ({ value }) => (typing.isOptedOut = value),
    'typing.blockedUsers': ({ users }) => (typing.blockedUsers = users),
    'typing.policy': ({ policy: preset }) => (typing.policy = TYPING_PRESETS[preset]),
    'typing.stop': () => typing.stop(),
    'typing.publishFailed': () => [...failed].at(-1)(new Error('no')),
  };
  for (const step of steps) {
    clock.advance(step.at - clock.now);
    acts[step.do](step);
    // A failure is reported a moment later.
    await new Promise((resolve) => setImmediate(resolve));
  }
  clock.advance(until - clock.now);
  return found;
}
