// The library for a script tag: sets `window.OT`, as OpenTok's own script does. `currentScript` has to be read while
// the script runs; afterwards nobody knows any more where it came from.
import { browserEnvironment } from './browser.js';
import { createOT } from './ot.js';
import { serverOfScript } from './server-address.js';

window.OT = createOT(browserEnvironment(), serverOfScript(document.currentScript?.src ?? window.location.href));
