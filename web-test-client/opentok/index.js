// The library as an ES module: `import OT from 'https://your.server/opentok/index.js'`.
import { browserEnvironment } from './browser.js';
import { createOT } from './ot.js';
import { serverOfScript } from './server-address.js';

const OT = createOT(browserEnvironment(), serverOfScript(import.meta.url));

export default OT;
