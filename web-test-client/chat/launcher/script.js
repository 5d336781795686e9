// The launcher from one script tag. The script of the chat is beside it.
import { scriptAddress } from '../../client/script-address.js';
import { defineLauncher } from './define.js';

const address = scriptAddress(globalThis.document, globalThis.location, new Error().stack);
const files = { chat: 'signalbox-chat.js', signals: 'signalbox-chat-signals.js' };
defineLauncher((name) => import(new URL(files[name] + new URL(address).search, address).href));
