// The element from one script tag. It connects to the server that the script came from.
import { serverOfScript } from '../client/server-address.js';
import { scriptAddress } from '../client/script-address.js';
import { defineChat } from './define.js';

defineChat(serverOfScript(scriptAddress(globalThis.document, globalThis.location, new Error().stack)));
