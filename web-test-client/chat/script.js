// The element from one script tag. It connects to the server that the script came from, and loads its parts from there.
import { serverOfScript } from '../client/server-address.js';
import { scriptAddress } from '../client/script-address.js';
import { defineChat } from './define.js';
import { partAddress } from './parts/part-address.js';
import { usePartsOf } from './parts/load-part.js';

const address = scriptAddress(globalThis.document, globalThis.location, new Error().stack);
usePartsOf((name) => import(partAddress(name, address)));
defineChat(serverOfScript(address));
