// The launcher as an ES module: `import 'signalbox-client/launcher'`. The chat loads at the first opening.
import { defineLauncher } from './define.js';

export const SignalboxLauncher = defineLauncher((name) => (name === 'chat' ? import('../index.js') : import('../parts/signals.js')));
