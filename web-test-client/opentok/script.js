// The library for a script tag: sets `window.OT`, as OpenTok's own script does, and its older name `TB`. AMD loaders
// and CommonJS bundlers get it, too. `currentScript` is set only while the script runs. A script that a page fetches
// and inserts as text, as jQuery does within one origin, has no address; the page's address is used instead.
import { browserEnvironment } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';

const OT = createOT(browserEnvironment(), serverOfScript(document.currentScript?.src || window.location.href));

window.OT = OT;
window.TB ??= OT;
if (typeof module === 'object' && module.exports) module.exports = OT;
else if (typeof define === 'function' && define.amd) define([], () => OT);
