// The element for `require`. In a page it connects to the page's server unless it gets another.
import { serverOfScript } from '../client/server-address.js';
import { defineChat } from './define.js';

exports.SignalboxChat = defineChat(serverOfScript(globalThis.location?.href));
