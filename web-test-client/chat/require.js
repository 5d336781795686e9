// The element for `require`. In a page it connects to the page's server unless it gets another.
import { serverOfScript } from '../client/server-address.js';
import { defineChat } from './define.js';
import { importPart } from './parts/import-part.js';
import { usePartsOf } from './parts/load-part.js';

usePartsOf(importPart);

exports.SignalboxChat = defineChat(serverOfScript(globalThis.location?.href));
