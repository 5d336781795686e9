// The element as an ES module: `import 'https://your.server/chat/index.js'`. It connects to the server that the module
// came from.
import { serverOfScript } from '../client/server-address.js';
import { defineChat } from './define.js';
import { importPart } from './parts/import-part.js';
import { usePartsOf } from './parts/load-part.js';

usePartsOf(importPart);

/** The class of the element. If several copies of the module are loaded, all of them have that of the first. */
export const SignalboxChat = defineChat(serverOfScript(import.meta.url));
