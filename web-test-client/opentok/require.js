// The library for `require`. A program in a page connects to the page's server unless it names another.
import { browserEnvironment } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';

module.exports = createOT(browserEnvironment(), serverOfScript(globalThis.location?.href));
