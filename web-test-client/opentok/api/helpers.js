// `OT.$`: OpenTok's own helpers. They are deprecated there, but still in its script, and published programs use these.
// The containers for layouts that OpenTok's samples use (opentok-layout-js) find and measure elements with them.

import { makeEmitter } from './emitter.js';

/** `newId` makes a UUID. */
export function helpers(log, handlerFailed, newId) {
  return Object.assign((idOrElement) => elementOf(idOrElement), {
    /** Gives an object the methods `on`, `once`, `off`, `trigger`, `dispatchEvent` and so on, and returns it. */
    eventing: (object) => makeEmitter(object, handlerFailed),

    /** Gives an object the methods of the log, and returns it. */
    useLogHelpers(object) {
      for (const name of ['error', 'warn', 'info', 'log', 'debug']) object[name] = (...words) => log[name](...words);
      return object;
    },

    /** Sets the properties that an object does not have, and returns it. */
    defaults(object, ...sources) {
      for (const source of sources) {
        for (const [name, value] of Object.entries(source ?? {})) object[name] ??= value;
      }
      return object;
    },

    uuid: newId,
    roundFloat: (value, digits) => Number(value.toFixed(digits)),

    ...elementHelpers,
  });
}

/** `OT.$('id')`, with or without `#`, is the element with this id, else null; `OT.$(element)` is the element. */
const elementOf = (idOrElement) =>
  (typeof idOrElement === 'string' ? globalThis.document.getElementById(idOrElement.replace(/^#/, '')) : idOrElement);

const elementHelpers = {
  isElementNode: (node) => typeof node === 'object' && node !== null && node.nodeType === 1,

  /** `children` is a list or one of its items: elements, or texts with HTML. */
  createElement(name, attributes, children, owner = globalThis.document) {
    const element = owner.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (typeof value === 'object' && value !== null) Object.assign((element[key] ??= {}), value);
      else if (key === 'className') element.className = value;
      else element.setAttribute(key, value);
    }
    for (const child of [children ?? []].flat()) {
      if (typeof child === 'string') element.innerHTML += child;
      else element.appendChild(child);
    }
    return element;
  },

  removeElement: (element) => element?.parentNode?.removeChild(element),

  emptyElement(element) {
    while (element.firstChild) element.removeChild(element.firstChild);
  },

  on: (element, name, handler) => element.addEventListener(name, handler, false),
  off: (element, name, handler) => element.removeEventListener(name, handler, false),

  /** `css(element, name)` returns a value; `css(element, name, value)` and `css(element, styles)` set some. */
  css(element, nameOrStyles, value) {
    if (typeof nameOrStyles === 'object') Object.assign(element.style, nameOrStyles);
    else if (value !== undefined) element.style[nameOrStyles] = value;
    else return globalThis.getComputedStyle(element)[nameOrStyles] || element.style[nameOrStyles];
  },

  /** As OpenTok's own, a text with the unit. */
  width: (element) => `${element.offsetWidth}px`,
  height: (element) => `${element.offsetHeight}px`,

  addClass: (element, names) => element.classList.add(...words(names)),
  removeClass: (element, names) => element.classList.remove(...words(names)),

  show(element) {
    element.style.display = '';
  },

  hide(element) {
    element.style.display = 'none';
  },

  isDisplayNone: (element) => element.getClientRects().length === 0,
};

function words(names) {
  return names.split(/\s+/).filter((name) => name !== '');
}
