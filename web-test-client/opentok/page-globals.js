// The names of the library in a page: the global `OT`, and `TB`, which programs of OpenTok's first years use.
import { hasPage } from '../client/browser.js';

/**
 * Sets both names. Where there is no page, nothing. A script takes the names of another library, as OpenTok's own does;
 * a module, which its program has imported under a name, leaves them to it. Returns a function that undoes what was done.
 */
export function setGlobals(library, { overOthers }) {
  const page = globalThis;
  if (!hasPage() || (!overOthers && isTaken(page))) return () => {};
  const before = ['OT', 'TB'].map((name) => [name, Object.getOwnPropertyDescriptor(page, name)]);
  page.OT = library;
  // The page has declared it with `var`.
  if (before[1][1]?.configurable === false) page.TB = library;
  else Object.defineProperty(page, 'TB', oldName(page, library));
  return () => before.forEach(([name, descriptor]) => {
    if (descriptor) Object.defineProperty(page, name, descriptor);
    else delete page[name];
  });
}

/** An element with this id is also a property of the window, but not an own one. */
function isTaken(page) {
  return Object.hasOwn(page, 'OT') && Boolean(page.OT);
}

/** A getter, as in OpenTok. A script that is loaded later can take the name all the same. */
function oldName(page, library) {
  return {
    get: () => library,
    set: (value) => Object.defineProperty(page, 'TB', { value, writable: true, enumerable: true, configurable: true }),
    enumerable: true,
    configurable: true,
  };
}
