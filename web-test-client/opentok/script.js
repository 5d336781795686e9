// The library for a script tag: sets `window.OT`, as OpenTok's own script does, and its older name `TB`. AMD loaders
// and CommonJS bundlers get it, too, also where there is no page.
import { browserEnvironment, hasPage } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';
import { apiKeyOfScript, publishOfScript, scriptAddress } from './script-address.js';

const { stack } = new Error();
const address = scriptAddress(globalThis.document, globalThis.location, stack);
const page = hasPage() ? globalThis : {};
const before = { OT: page.OT, TB: page.TB };

const environment = Object.assign(browserEnvironment(), {
  scriptApiKey: apiKeyOfScript(address),
  scriptPublish: publishOfScript(globalThis.document, stack),
  restoreGlobals: () => Object.assign(page, before),
});
const OT = createOT(environment, serverOfScript(address));

page.OT = OT;
page.TB = OT;
if (typeof module === 'object' && module.exports) module.exports = OT;
else if (typeof define === 'function' && define.amd) define([], () => OT);
