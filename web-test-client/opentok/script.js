// The library for a script tag: sets `window.OT`, as OpenTok's own script does, and its older name `TB`. AMD loaders
// and CommonJS bundlers get it, too, also where there is no page.
import { browserEnvironment } from '../client/browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from '../client/server-address.js';
import { setGlobals } from './page-globals.js';
import { apiKeyOfScript, publishOfScript, scriptAddress } from '../client/script-address.js';

const { stack } = new Error();
const address = scriptAddress(globalThis.document, globalThis.location, stack);

const environment = Object.assign(browserEnvironment(), {
  scriptApiKey: apiKeyOfScript(address),
  scriptPublish: publishOfScript(globalThis.document, stack),
});
const OT = createOT(environment, serverOfScript(address));
environment.restoreGlobals = setGlobals(OT, { overOthers: true });

if (typeof module === 'object' && module.exports) module.exports = OT;
else if (typeof define === 'function' && define.amd) define([], () => OT);
