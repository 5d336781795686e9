// A browser's sockets, clock and page under the control of the test, which sets the time and plays the server.
import { FakeSocket } from './fake-socket.js';

export class FakeBrowser {
  time = 1000;
  sockets = [];
  timers = new Map();
  printed = [];
  watchers = new Set();
  /** A `FakeCamera`, if the browser offers one. */
  mediaDevices = undefined;
  random = () => 0.5;
  #lastTimer = 0;

  environment() {
    const browser = this;
    const print = (level) => (...words) => browser.printed.push([level, ...words]);
    return {
      WebSocket: class extends FakeSocket {
        constructor(address, protocol) {
          super(address, protocol);
          browser.sockets.push(this);
        }
      },
      console: {
        error: print('error'), warn: print('warn'), info: print('info'), log: print('log'), debug: print('debug'),
      },
      pageProtocol: 'https:',
      get mediaDevices() {
        return browser.mediaDevices;
      },
      now: () => this.time,
      random: () => this.random(),
      watch: (report) => {
        this.watchers.add(report);
        return () => this.watchers.delete(report);
      },
      setTimeout: (act, delay) => {
        this.#lastTimer += 1;
        this.timers.set(this.#lastTimer, { act, due: this.time + delay });
        return this.#lastTimer;
      },
      clearTimeout: (timer) => this.timers.delete(timer),
    };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  /** Reports a change of the network or the page, under its name in `ClientState`. */
  report(sign) {
    for (const watcher of [...this.watchers]) watcher({ is: sign });
  }

  pass(milliseconds) {
    const end = this.time + milliseconds;
    for (;;) {
      const next = [...this.timers].filter(([, timer]) => timer.due <= end).sort((a, b) => a[1].due - b[1].due)[0];
      if (!next) break;
      this.timers.delete(next[0]);
      this.time = Math.max(this.time, next[1].due);
      next[1].act();
    }
    this.time = end;
  }
}

export const ada = { connectionId: 'ada-id', creationTime: 1700000000000, data: 'Ada' };
export const bob = { connectionId: 'bob-id', creationTime: 1700000000500, data: 'Bob' };

/** The server's answer to a connect. The own connection is Bob's unless `changes` say otherwise. */
export function connectedMessage(changes = {}) {
  return {
    ev: 'connected',
    id: 1,
    connection: bob,
    connections: [ada, bob],
    capabilities: { publish: 1, subscribe: 1, forceDisconnect: 0, forceUnpublish: 0, forceMute: 0 },
    role: 'publisher',
    epoch: 'e',
    seq: 2,
    outcome: 'new',
    resume: { secret: 's', resumeSeconds: 0, recoverySeconds: 0 },
    heartbeatSeconds: 10,
    limits: { typeLength: 128, dataLength: 8192 },
    ...changes,
  };
}

/** Resolves after all microtasks that are queued now. */
export async function settled() {
  await new Promise((resolve) => setImmediate(resolve));
}
