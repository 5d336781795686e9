// The library for a script tag: sets `window.OT`, as OpenTok's own script does, and its older name `TB`. AMD loaders
// and CommonJS bundlers get it, too.
import { browserEnvironment } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';
import { apiKeyOfScript, publishOfScript, scriptAddress } from './script-address.js';

const { stack } = new Error();
const address = scriptAddress(document, window.location, stack);
const before = { OT: window.OT, TB: window.TB };

const environment = Object.assign(browserEnvironment(), {
  scriptApiKey: apiKeyOfScript(address),
  scriptPublish: publishOfScript(document, stack),
  restoreGlobals: () => Object.assign(window, before),
});
const OT = createOT(environment, serverOfScript(address));

window.OT = OT;
window.TB = OT;
if (typeof module === 'object' && module.exports) module.exports = OT;
else if (typeof define === 'function' && define.amd) define([], () => OT);
