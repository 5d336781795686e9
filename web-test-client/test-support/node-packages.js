// Packages for Node that Debian installs. Not every Node looks for packages in Debian's folder.
import { createRequire } from 'node:module';

export const DEBIAN_PACKAGES = '/usr/share/nodejs';

/** The WebSocket of programs on a Node that has none; Debian's package is node-ws. */
export const ws = createRequire(import.meta.url)(`${DEBIAN_PACKAGES}/ws`);
