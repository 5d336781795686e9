// The library for a script tag: sets `window.OT`, as OpenTok's own script does, and its older name `TB`. Pages with a loader
// of AMD modules, and bundlers that require it, have it from there, too. `currentScript` has to be read while the script runs; afterwards nobody knows
// any more where it came from. A script that was fetched and put in as text, as jQuery does within one origin, has no address.
import { browserEnvironment } from './browser.js';
import { createOT } from './api/ot.js';
import { serverOfScript } from './client/server-address.js';

const OT = createOT(browserEnvironment(), serverOfScript(document.currentScript?.src || window.location.href));

window.OT = OT;
window.TB ??= OT;
if (typeof module === 'object' && module.exports) module.exports = OT;
else if (typeof define === 'function' && define.amd) define([], () => OT);
