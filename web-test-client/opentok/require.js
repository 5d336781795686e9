// The library for `require`. A program in a page connects to the page's server unless it names another.
import { browserEnvironment } from '../client/browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from '../client/server-address.js';
import { setGlobals } from './page-globals.js';

const environment = browserEnvironment();
const OT = createOT(environment, serverOfScript(globalThis.location?.href));
environment.restoreGlobals = setGlobals(OT, { overOthers: false });

module.exports = OT;
