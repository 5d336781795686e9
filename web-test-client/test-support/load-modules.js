// Loads modules after a piece of code that prepares the globals, and reports what has changed. For a process or a
// worker of its own: `node load-modules.js '<code>' <address>…`.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

const [prepare, ...addresses] = isMainThread ? process.argv.slice(2) : workerData;
(0, eval)(prepare);

const before = new Set(Object.getOwnPropertyNames(globalThis));
const failures = [];
for (const address of addresses) {
  try {
    await import(address);
  } catch (error) {
    failures.push(`${address.split('/web-test-client/').at(-1)}: ${error}`);
  }
}
const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
const report = { failures, added, count: addresses.length };
if (isMainThread) console.log(JSON.stringify(report));
else parentPort.postMessage(report);
