// A document without layout, style and painting, for elements whose texts, states and events a test looks at. What only a
// browser decides (places, sizes, colours, what can be seen, the order of the focus) is for the tests in a browser.

const TEXTS = ['id', 'title', 'placeholder', 'lang', 'dir', 'type', 'href', 'name', 'dateTime', 'role'];
const SWITCHES = ['hidden', 'disabled', 'readOnly', 'autofocus'];

/** The class of a new element by its tag; the others are plain. */
const defined = new Map();

/** What has the focus. */
let focused = null;

class FakeNode {
  parentNode = null;
  #listeners = [];

  get ownerDocument() {
    return globalThis.document;
  }

  get parentElement() {
    return this.parentNode instanceof FakeElement ? this.parentNode : null;
  }

  get isConnected() {
    for (let node = this; node; node = node.parentNode ?? node.host) if (node === globalThis.document) return true;
    return false;
  }

  get nextSibling() {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  getRootNode() {
    let node = this;
    while (node.parentNode) node = node.parentNode;
    return node;
  }

  contains(other) {
    for (let node = other; node; node = node.parentNode) if (node === this) return true;
    return false;
  }

  remove() {
    if (this.parentNode === null) return;
    const wasConnected = this.isConnected;
    if (focused !== null && this.contains(focused)) focused = null;
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
    if (wasConnected) announce(this, 'disconnectedCallback');
  }

  after(...nodes) {
    for (const node of nodes.reverse()) this.parentNode.insertBefore(node, this.nextSibling);
  }

  addEventListener(name, act, options = {}) {
    const isCapturing = options === true || options.capture === true;
    this.#listeners.push({ name, act, isCapturing });
    options.signal?.addEventListener('abort', () => this.removeEventListener(name, act));
  }

  removeEventListener(name, act) {
    this.#listeners = this.#listeners.filter((each) => each.name !== name || each.act !== act);
  }

  /** As in a browser: the listeners that capture, from the window inwards, and then the others outwards. */
  dispatchEvent(event) {
    const path = pathOf(this, event.composed);
    // Before the listeners move or remove elements.
    const targets = new Map(path.map((node) => [node, targetIn(node, this)]));
    let hasStopped = false;
    const stop = (name) => ({ value: () => (hasStopped = name), configurable: true });
    Object.defineProperties(event, {
      stopPropagation: stop('after the node'), stopImmediatePropagation: stop('at once'),
      composedPath: { value: () => path, configurable: true },
    });
    const visit = (node, isCapturing) => {
      Object.defineProperty(event, 'target', { value: targets.get(node), configurable: true });
      for (const each of node.listenersOf(event.type, isCapturing)) if (hasStopped !== 'at once') each.act.call(node, event);
    };
    for (const node of path.toReversed()) if (!hasStopped) visit(node, true);
    for (const node of event.bubbles ? path : [this]) if (!hasStopped) visit(node, false);
    return !event.defaultPrevented;
  }

  listenersOf(name, isCapturing) {
    return this.#listeners.filter((each) => each.name === name && each.isCapturing === isCapturing);
  }
}

class FakeText extends FakeNode {
  constructor(data) {
    super();
    this.data = data;
  }

  get textContent() {
    return this.data;
  }
}

class FakeParent extends FakeNode {
  childNodes = [];

  get children() {
    return this.childNodes.filter((each) => each instanceof FakeElement);
  }

  get childElementCount() {
    return this.children.length;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get textContent() {
    return this.childNodes.map((each) => each.textContent).join('');
  }

  set textContent(text) {
    this.replaceChildren(...(text === '' ? [] : [text]));
  }

  append(...nodes) {
    for (const node of nodes) this.insertBefore(node, null);
  }

  prepend(...nodes) {
    for (const node of nodes.reverse()) this.insertBefore(node, this.childNodes[0] ?? null);
  }

  replaceChildren(...nodes) {
    for (const node of [...this.childNodes]) node.remove();
    this.append(...nodes);
  }

  insertBefore(given, next) {
    const node = given instanceof FakeNode ? given : new FakeText(String(given));
    node.remove();
    node.parentNode = this;
    this.childNodes.splice(next === null ? this.childNodes.length : this.childNodes.indexOf(next), 0, node);
    if (node.isConnected) announce(node, 'connectedCallback');
    return node;
  }

  querySelectorAll(selector) {
    return [...descendants(this)].filter((each) => each.matches(selector));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  getElementById(id) {
    return [...descendants(this)].find((each) => each.id === id) ?? null;
  }

  /** As the tree of this node sees it: in the tree of an element's shadow, that element. */
  get activeElement() {
    return focused === null ? null : targetIn(this, focused);
  }
}

export class FakeElement extends FakeParent {
  nodeType = 1;
  style = {};
  scrollTop = 0;
  #attributes = new Map();
  #value = '';
  #isOpen = false;

  constructor(localName) {
    super();
    this.localName = localName ?? [...defined].find(([, type]) => type === new.target)?.[0];
    for (const name of ['scrollHeight', 'clientHeight', 'scrollWidth', 'clientWidth']) {
      Object.defineProperty(this, name, { value: 0, writable: true });
    }
    // A new element of a page has no members of its own.
    for (const name of Object.keys(this)) Object.defineProperty(this, name, { enumerable: false });
  }

  // Attributes

  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.#attributes.has(name);
  }

  setAttribute(name, value) {
    this.#change(name, String(value));
  }

  removeAttribute(name) {
    this.#change(name, null);
  }

  getAttributeNames() {
    return [...this.#attributes.keys()];
  }

  #change(name, after) {
    const before = this.getAttribute(name);
    if (after === null) this.#attributes.delete(name);
    else this.#attributes.set(name, after);
    if (before === null && after === null) return;
    if (this.constructor.observedAttributes?.includes(name)) this.attributeChangedCallback(name, before, after);
  }

  get classList() {
    const names = () => (this.getAttribute('class') ?? '').split(' ').filter((each) => each !== '');
    const write = (changed) => this.setAttribute('class', [...changed].join(' '));
    const list = {
      contains: (name) => names().includes(name),
      add: (name) => write(new Set([...names(), name])),
      remove: (name) => write(names().filter((each) => each !== name)),
      toggle: (name, isThere = !list.contains(name)) => (isThere ? list.add(name) : list.remove(name)),
    };
    return list;
  }

  get className() {
    return this.getAttribute('class') ?? '';
  }

  get dataset() {
    return new Proxy({}, {
      get: (_, name) => this.getAttribute(`data-${name}`) ?? undefined,
      set: (_, name, value) => (this.setAttribute(`data-${name}`, value), true),
    });
  }

  get tabIndex() {
    return Number(this.getAttribute('tabindex') ?? -1);
  }

  set tabIndex(index) {
    this.setAttribute('tabindex', index);
  }

  get value() {
    return this.#value;
  }

  set value(value) {
    this.#value = String(value);
  }

  // Selectors: tags, ids, classes and attributes, and descendants

  matches(selector) {
    return selector.split(',').some((each) => {
      const [own, ...outer] = each.trim().split(' ').reverse();
      if (!isMatch(this, own)) return false;
      let node = this.parentElement;
      for (const compound of outer) {
        while (node !== null && !isMatch(node, compound)) node = node.parentElement;
        if (node === null) return false;
      }
      return true;
    });
  }

  closest(selector) {
    for (let node = this; node !== null; node = node.parentElement) if (node.matches(selector)) return node;
    return null;
  }

  // Trees of shadows, forms, dialogs and menus

  attachShadow() {
    const root = new FakeShadow(this);
    Object.defineProperty(this, 'shadowRoot', { value: root });
    return root;
  }

  get form() {
    return this.closest('form');
  }

  requestSubmit() {
    this.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  }

  click() {
    if (this.disabled) return;
    this.dispatchEvent(new Event('click', { bubbles: true, composed: true, cancelable: true }));
    if (this.type === 'submit') this.form?.requestSubmit();
  }

  get open() {
    return this.#isOpen;
  }

  showModal() {
    this.#isOpen = true;
  }

  close() {
    this.#isOpen = false;
    queueMicrotask(() => this.dispatchEvent(new Event('close')));
  }

  get isPopoverOpen() {
    return this.#isOpen;
  }

  showPopover() {
    this.#isOpen = true;
  }

  hidePopover() {
    this.#isOpen = false;
  }

  // The page

  focus() {
    if (this.isConnected && !this.disabled && !isHidden(this)) focused = this;
  }

  blur() {
    if (focused === this) focused = null;
  }

  checkVisibility() {
    return this.isConnected && !isHidden(this);
  }

  getBoundingClientRect() {
    return { top: 0, bottom: 1, left: 0, right: 1, width: 1, height: 1 };
  }

  scrollIntoView() {}
}

for (const name of TEXTS) {
  Object.defineProperty(FakeElement.prototype, name, {
    get() {
      return this.getAttribute(name.toLowerCase()) ?? '';
    },
    set(text) {
      this.setAttribute(name.toLowerCase(), text);
    },
  });
}
for (const name of SWITCHES) {
  Object.defineProperty(FakeElement.prototype, name, {
    get() {
      return this.hasAttribute(name.toLowerCase());
    },
    set(isOn) {
      if (isOn) this.setAttribute(name.toLowerCase(), '');
      else this.removeAttribute(name.toLowerCase());
    },
  });
}

class FakeShadow extends FakeParent {
  adoptedStyleSheets = [];

  constructor(host) {
    super();
    this.host = host;
  }
}

class FakeDocument extends FakeParent {
  hidden = false;
  visibilityState = 'visible';
  documentElement = new FakeElement('html');
  body = new FakeElement('body');

  get defaultView() {
    return globalThis;
  }

  createElement(name) {
    return this.createElementNS(null, name);
  }

  createElementNS(_, name) {
    return new (defined.get(name) ?? FakeElement)(name);
  }
}

class FakeWindow extends FakeNode {}

function* descendants(node) {
  for (const child of node.children) {
    yield child;
    yield* descendants(child);
  }
}

/** Tells the elements of this tree that they have come into the document, or left it. */
function announce(node, callback) {
  if (!(node instanceof FakeElement)) return;
  node[callback]?.();
  for (const each of [...node.children, ...(node.shadowRoot?.children ?? [])]) announce(each, callback);
}

/** From the node to the window; an event that is not composed stays in its tree. */
function pathOf(node, isComposed) {
  const path = [];
  for (let each = node; each; each = each.parentNode ?? (isComposed ? each.host : null)) path.push(each);
  return path.at(-1) === globalThis.document ? [...path, view] : path;
}

/** The node, or the element in whose shadow it is, as this other one sees it. */
function targetIn(other, node) {
  const roots = new Set();
  for (let each = other; each; each = each.parentNode ?? each.host) roots.add(each.getRootNode());
  let seen = node;
  while (seen && other !== view && !roots.has(seen.getRootNode())) seen = seen.getRootNode().host;
  while (seen && other === view && seen.getRootNode().host) seen = seen.getRootNode().host;
  return seen ?? null;
}

function isHidden(element) {
  for (let node = element; node; node = node.parentNode ?? node.host) if (node.hidden === true) return true;
  return false;
}

function isMatch(element, compound) {
  return (compound.match(/\[[^\]]*\]|[.#:]?[\w-]+/g) ?? []).every((part) => {
    const name = part.slice(1);
    switch (part[0]) {
      case '#':
        return element.id === name;
      case '.':
        return element.classList.contains(name);
      case ':':
        return name === 'popover-open' && element.isPopoverOpen;
      case '[': {
        const [attribute, value] = name.slice(0, -1).split('=');
        const given = element.getAttribute(attribute);
        return given !== null && (value === undefined || given === value.replace(/["']/g, ''));
      }
      default:
        return element.localName === part;
    }
  });
}

const view = new FakeWindow();
const frames = [];

/** Does what waits for the next frame, and all promises before and after it. */
export async function frame() {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const act of frames.splice(0)) act();
  }
}

class Silent {
  observe() {}
  unobserve() {}
  disconnect() {}
}

/** The whole page is in the view. */
class AllInView extends Silent {
  #changed;

  constructor(changed, { root = null } = {}) {
    super();
    if (root === null) this.#changed = changed;
  }

  observe() {
    queueMicrotask(() => this.#changed?.([{ isIntersecting: true, intersectionRatio: 1 }]));
  }
}

/** Makes the globals of a page with an empty document. Each file of tests has its own process, and so its own page. */
export function installDocument() {
  const document = new FakeDocument();
  const storage = () => {
    const kept = new Map();
    return {
      getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text),
      removeItem: (key) => kept.delete(key), clear: () => kept.clear(),
    };
  };
  const navigator = { language: 'en', languages: ['en'], onLine: true, platform: 'Linux' };
  const globals = {
    document, navigator, window: globalThis, location: new URL('https://page.example/'), HTMLElement: FakeElement,
    Node: { ELEMENT_NODE: 1 }, innerWidth: 0, innerHeight: 0,
    sessionStorage: storage(), localStorage: storage(),
    customElements: { get: (name) => defined.get(name), define: (name, type) => defined.set(name, type) },
    CSSStyleSheet: class { replaceSync() {} },
    MutationObserver: Silent, ResizeObserver: Silent, IntersectionObserver: AllInView,
    getComputedStyle: () => ({ direction: 'ltr' }), getSelection: () => '',
    requestAnimationFrame: (act) => frames.push(act),
    addEventListener: (...given) => view.addEventListener(...given),
    removeEventListener: (...given) => view.removeEventListener(...given),
    dispatchEvent: (event) => view.dispatchEvent(event),
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  document.append(document.documentElement);
  document.documentElement.append(document.body);
  return document;
}

/** A key as a browser reports it. */
export class FakeKey extends Event {
  constructor(key, changes = {}) {
    super('keydown', { bubbles: true, composed: true, cancelable: true });
    const held = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, isComposing: false, keyCode: 0 };
    Object.assign(this, { key, getModifierState: () => false, ...held, ...changes });
  }
}
