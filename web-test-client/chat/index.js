// The element as an ES module: `import 'https://your.server/chat/index.js'`. It connects to the server that the module
// came from.
import { serverOfScript } from '../opentok/client/server-address.js';
import { defineChat } from './define.js';

export { SignalboxChat } from './chat-element.js';

defineChat(serverOfScript(import.meta.url));
