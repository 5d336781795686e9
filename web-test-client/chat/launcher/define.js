import { SignalboxLauncher, useLoader } from './launcher-element.js';

const NAME = 'signalbox-launcher';

/**
 * Defines `<signalbox-launcher>`, and returns its class. `load(name)` promises
 * the module `chat`, which defines `<signalbox-chat>`, or `signals`.
 */
export function defineLauncher(load) {
  // A program that renders pages on a server has no elements.
  const hasPage = typeof globalThis.document?.addEventListener === 'function';
  if (!hasPage || typeof globalThis.customElements?.define !== 'function') return SignalboxLauncher;
  useLoader(load);
  if (!customElements.get(NAME)) customElements.define(NAME, SignalboxLauncher);
  return customElements.get(NAME);
}
