// The types of `index.js` beside it.
import OT = require('./opentok');
export = OT;
