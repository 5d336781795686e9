// A program in TypeScript that uses `<signalbox-chat>`. The compiler has to report an error for each line after
// `@ts-expect-error`, and no other.
import { SignalboxChat } from '../../chat/index.js';
import type { SignalboxChatAttributes, SignalboxChatEventMap } from '../../chat/index.js';
import { TYPING_PRESETS } from '../../text-chat/index.js';

const chat: SignalboxChat = document.createElement('signalbox-chat');
Object.assign(chat, { session: '1_x', apiKey: '100', token: 'T1==' });
chat.session = '1_x';
chat.apiKey = null;
chat.server = 'https://your.server';
chat.scheme = 'dark';
chat.placeholder = null;
chat.typingPolicy = TYPING_PRESETS.layer;
const length: number = chat.maxLength;

chat.addEventListener('signalbox-unread', ({ detail }) => console.log(detail.count + length));
document.addEventListener('signalbox-message', (event) => console.log(event.detail.message.text));
document.body.addEventListener('signalbox-state', ({ detail }) => console.log(detail.state === 'connected'));
window.addEventListener('signalbox-error', ({ detail: { code, message } }) => console.log(code ?? 0, message.length));
const refuse = (event: SignalboxChatEventMap['signalbox-send']) => event.preventDefault();
document.addEventListener('signalbox-send', refuse);
chat.addEventListener('signalbox-send', ({ detail }) => detail.refuse(detail.data === null ? 'why' : undefined));
chat.addEventListener('signalbox-action', ({ detail: { action, message } }) => console.log(action, message.data));
chat.customize({
  renderMessage: ({ data }) => (data?.order ? document.createElement('p') : { below: document.createTextNode('x') }),
  actions: [{ name: 'report', text: 'Report' }],
  nameOf: ({ user }) => user ?? null,
  avatarOf: null,
});
chat.send({ text: 'hi', data: { order: 7 } }).then(({ outcome }) => console.log(outcome));
document.removeEventListener('signalbox-send', refuse);

const attributes: SignalboxChatAttributes = { 'api-key': '100', 'max-length': 160, look: 'opentok', typing: 'off' };
for (const [name, value] of Object.entries(attributes)) chat.setAttribute(name, String(value));

// @ts-expect-error a key is text
chat.apiKey = 100;
// @ts-expect-error the state cannot be set
chat.state = 'connected';
// @ts-expect-error an event of another kind
document.addEventListener('signalbox-unread', ({ detail }) => console.log(detail.message));
// @ts-expect-error an action has a name
chat.customize({ actions: [{ text: 'Report' }] });
// @ts-expect-error there is no such look
const wrong: SignalboxChatAttributes = { look: 'square' };
console.log(SignalboxChat.defaultServer, wrong);
