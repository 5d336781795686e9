/** A name of a part → its module, as each kind of build finds it. */
let importPart = null;

/** Name → the module, or its promise. A part that could not be loaded is tried again. */
const loaded = new Map();

/** Tells where the parts are: `importer(name)` promises the module of one. */
export function usePartsOf(importer) {
  importPart ??= importer;
}

/**
 * Promises a part of the element that is no part of its first load: few pages need it, or only after a click. Its module
 * loads once. The promise is rejected if it cannot be loaded, such as by the page's policy.
 */
export function loadPart(name) {
  if (!loaded.has(name)) {
    const loads = Promise.resolve(name).then(importPart);
    loaded.set(name, loads);
    loads.catch(() => loaded.delete(name));
  }
  return loaded.get(name);
}
