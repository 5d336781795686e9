import { defineChat } from '../chat/define.js';
import { partAddress } from '../chat/parts/part-address.js';
import { usePartsOf } from '../chat/parts/load-part.js';

/** Defines the element for the page: its parts are beside the script that the server gives to other pages. */
export function defineChatOfPage(address = new URL('./', document.baseURI)) {
  usePartsOf((name) => import(partAddress(name, address)));
  defineChat(address.href.replace(/\/$/, ''));
}
