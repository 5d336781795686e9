import { browserEnvironment } from '../client/browser.js';
import { createOT } from '../opentok/api/ot.js';
import { networkSwitch } from './demo/network-switch.js';

/**
 * A library and the switch of its sockets. A library returns the same Session for the same session id, so each user of
 * the page has a library of their own. It connects to the server of the page.
 */
export function newLibrary() {
  const network = networkSwitch();
  const browser = browserEnvironment();
  const environment = {
    ...browser,
    WebSocket: network.WebSocket,
    watch(report) {
      // As a browser reports it when its own network is back.
      network.back = () => report({ is: 'networkBack' });
      const stop = browser.watch(report);
      return () => {
        network.back = () => {};
        stop();
      };
    },
  };
  return { OT: createOT(environment, new URL('.', location.href).href), network };
}
