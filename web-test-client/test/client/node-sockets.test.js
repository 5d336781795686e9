// The library on Node, with the WebSocket of `ws` and with Node's own, while the server refuses, breaks and is silent.
// An error event of `ws` to which nobody listens ends the process.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectedMessage } from '../../test-support/fakes/fake-browser.js';
import { ws } from '../../test-support/node-packages.js';

const PROGRAM = fileURLToPath(new URL('../../test-support/node-program.js', import.meta.url));
/** Less than the time that the client allows for one attempt. */
const DEADLINE = 60_000;
const LIMIT = { timeout: 3 * DEADLINE };
const CLOSED = 'The server closed the connection (close code 1006).';

/** Before version 22, Node has its own WebSocket only with this option. */
const OPTIONS = { ws: [], node: ['--experimental-websocket'], none: [] };
const KINDS = ['ws', 'node'];

class Program {
  #child;
  #events = [];
  #errors = '';
  #wake = () => {};

  /** `prepare` is code that runs before the library is loaded. */
  constructor(t, kind, server, prepare = '') {
    this.#child = fork(PROGRAM, [kind, server], {
      execArgv: [...OPTIONS[kind], '--import', `data:text/javascript,${encodeURIComponent(prepare)}`],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { ...process.env, NODE_NO_WARNINGS: '1' },
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.#errors += text));
    this.#child.on('message', (event) => {
      this.#events.push(event);
      this.#wake();
    });
    this.#child.on('exit', () => this.#wake());
    t.after(() => this.#child.kill());
  }

  call(method) {
    this.#child.send(method);
  }

  /** The next event; fails if the program has ended. */
  async next() {
    const isLate = AbortSignal.timeout(DEADLINE);
    while (this.#events.length === 0) {
      assert.equal(this.#child.exitCode, null, `the program has ended:\n${this.#errors}`);
      const woken = new Promise((resolve) => (this.#wake = resolve));
      await Promise.race([woken, once(isLate, 'abort').then(() => assert.fail('no event came'))]);
    }
    return this.#events.shift();
  }

  /** The program ends by itself, since nothing is left behind. */
  async end() {
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(DEADLINE) });
    this.#child.disconnect();
    assert.deepEqual([await exited, this.#errors], [[0, null], '']);
  }
}

/** A server that treats each handshake as `handshake(request, socket, head)` says. */
async function serve(t, handshake) {
  const sockets = new Set();
  const server = http.createServer((_, response) => response.writeHead(404).end('x'.repeat(1_000_000)));
  server.on('connection', (socket) => sockets.add(socket));
  server.on('upgrade', handshake);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

const noServer = new ws.WebSocketServer({ noServer: true });

/** Opens the socket, and answers the connect. */
function accept(request, socket, head) {
  noServer.handleUpgrade(request, socket, head, (opened) => {
    opened.on('message', (text) => {
      const { op, id, resume } = JSON.parse(String(text).split('\n')[0]);
      const answer = { id, outcome: resume ? 'resumed' : 'new', replayThrough: resume ? 2 : undefined };
      const offer = { secret: 's', resumeSeconds: 60, recoverySeconds: 60 };
      if (op === 'connect') opened.send(JSON.stringify(connectedMessage({ ...answer, resume: offer })));
      if (op === 'disconnect') opened.close(1000);
    });
  });
}

const respond = (status) => (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
const REFUSALS = {
  'that ends the TCP connection': (_, socket) => socket.destroy(),
  'with status 404': respond(404),
  'with status 503': respond(503),
  'with no HTTP': (_, socket) => socket.end('nonsense\r\n\r\n'),
};

for (const kind of KINDS) {
  test(`${kind}: a refused TCP connection fails the connect, and the program continues`, LIMIT, async (t) => {
    const server = http.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `http://127.0.0.1:${server.address().port}`;
    server.close();
    const program = new Program(t, kind, address);
    for (const _ of ['once', 'again']) {
      program.call('connect');
      assert.deepEqual(await program.next(), { type: 'answer', code: 1006, message: CLOSED });
    }
    await program.end();
  });

  for (const [name, refuse] of Object.entries(REFUSALS)) {
    test(`${kind}: a handshake refused by a server ${name} fails the connect`, LIMIT, async (t) => {
      const program = new Program(t, kind, await serve(t, refuse));
      program.call('connect');
      assert.deepEqual(await program.next(), { type: 'answer', code: 1006, message: CLOSED });
      await program.end();
    });
  }

  test(`${kind}: a disconnect before the socket is open does not end the program`, LIMIT, async (t) => {
    let arrived;
    const arrival = new Promise((resolve) => (arrived = resolve));
    const program = new Program(t, kind, await serve(t, arrived));
    program.call('connect');
    await arrival;
    program.call('disconnect');
    assert.equal((await program.next()).code, 1006);
    await program.end();
  });

  test(`${kind}: a reconnect comes through broken attempts, and a further one may be given up`, LIMIT, async (t) => {
    const sockets = [];
    const held = [];
    const steps = [accept, ...Object.values(REFUSALS).slice(0, 2), accept, (...attempt) => held.push(attempt)];
    let waiting = () => {};
    const address = await serve(t, (request, socket, head) => {
      sockets.push(socket);
      steps.shift()(request, socket, head);
      waiting();
    });
    const program = new Program(t, kind, address);
    program.call('connect');
    assert.deepEqual([(await program.next()).type, (await program.next()).type], ['sessionConnected', 'answer']);
    sockets.at(-1).destroy();
    assert.equal((await program.next()).type, 'sessionReconnecting');
    assert.equal((await program.next()).type, 'sessionReconnected');
    assert.equal(sockets.length, 4);
    sockets.at(-1).destroy();
    assert.equal((await program.next()).type, 'sessionReconnecting');
    const attempt = new Promise((resolve) => (waiting = resolve));
    if (held.length === 0) await attempt;
    program.call('disconnect');
    assert.equal((await program.next()).type, 'sessionDisconnected');
    await program.end();
  });

  test(`${kind}: a server that breaks the WebSocket protocol does not end the program`, LIMIT, async (t) => {
    const sockets = [];
    const address = await serve(t, (request, socket, head) => {
      sockets.push(socket);
      accept(request, socket, head);
    });
    const program = new Program(t, kind, address);
    program.call('connect');
    assert.deepEqual([(await program.next()).type, (await program.next()).type], ['sessionConnected', 'answer']);
    // A frame with reserved bits.
    sockets[0].write(Buffer.from([0xff, 0x00]));
    // `ws` closes with 1002, which is final, and Node's own breaks the connection.
    if ((await program.next()).type === 'sessionReconnecting') {
      program.call('disconnect');
      assert.equal((await program.next()).type, 'sessionDisconnected');
    }
    await program.end();
  });
}

test('a program that defines parts of a page connects and reconnects', LIMIT, async (t) => {
  const prepare = `
    globalThis.window = globalThis;
    for (const name of ['document', 'location', 'navigator']) globalThis[name] = {};
    for (const name of ['performance', 'fetch']) delete globalThis[name];
  `;
  const sockets = [];
  const address = await serve(t, (request, socket, head) => {
    sockets.push(socket);
    accept(request, socket, head);
  });
  const program = new Program(t, 'ws', address, prepare);
  program.call('connect');
  assert.deepEqual([(await program.next()).type, (await program.next()).type], ['sessionConnected', 'answer']);
  sockets[0].destroy();
  assert.equal((await program.next()).type, 'sessionReconnecting');
  assert.equal((await program.next()).type, 'sessionReconnected');
  program.call('disconnect');
  assert.equal((await program.next()).type, 'sessionDisconnected');
  await program.end();
});

test('without a WebSocket the error of the connect names the cause and the remedy', LIMIT, async (t) => {
  const program = new Program(t, 'none', 'http://127.0.0.1:9');
  program.call('connect');
  const { code, message } = await program.next();
  assert.equal(code, 1006);
  assert.match(message, /^This JavaScript runtime has no WebSocket\. .*Node 22.* globalThis\.WebSocket = /);
  await program.end();
});
