/** The language of an element, as HTML says it: that of the nearest ancestor with `lang`, also over shadow roots. */
export function languageOf(element) {
  for (const each of withAncestors(element)) {
    const given = each.getAttribute('lang') ?? each.getAttribute('xml:lang');
    // An empty one means that the page does not know.
    if (given !== null) return given.trim() === '' ? navigator.language : given;
  }
  return navigator.language;
}

/** Calls `changed()` when the language of an element may have changed. */
export class LanguageWatch {
  #changed;
  #observer;

  constructor(changed) {
    this.#changed = changed;
    this.#observer = new MutationObserver(changed);
  }

  /** The element is in a document, under these ancestors. A move to others ends it there, and begins it again. */
  begin(element) {
    for (const each of withAncestors(element)) {
      this.#observer.observe(each, { attributes: true, attributeFilter: ['lang', 'xml:lang'] });
    }
    addEventListener('languagechange', this.#changed);
  }

  end() {
    this.#observer.disconnect();
    removeEventListener('languagechange', this.#changed);
  }
}

function* withAncestors(element) {
  for (let node = element; node !== null && node !== undefined; node = node.parentNode ?? node.host) {
    if (node.nodeType === Node.ELEMENT_NODE) yield node;
  }
}
