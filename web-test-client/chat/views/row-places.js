import { make } from './dom.js';

/** Place → where it is in the row, and what holds the page's node there. */
const HOLDERS = {
  avatar: (row) => row.querySelector('.avatar'),
  header: (row) => row.querySelector('.row-header'),
  body: (row) => row.querySelector('.bubble'),
  below: (row) => added(row.querySelector('.row-body'), make('div', { class: 'row-below', part: 'below' })),
  menu: (row) => added(row, make('div', { class: 'row-extra', part: 'row-menu' })),
};

/**
 * What a page puts into the rows of messages. Its nodes are children of `<signalbox-chat>`, so that the page's styles
 * apply to them, and a slot shows each in its place.
 */
export class RowPlaces {
  #host;
  #render;
  #count = 0;

  /** `render(message)` is the page's: a node for the body, nodes by place, or null. */
  constructor(host, render) {
    this.#host = host;
    this.#render = render;
  }

  /** Fills the places of a message's row. Returns whether the page has filled the body. */
  show(shown) {
    this.clear(shown);
    const nodes = this.#nodesFor(shown.row.message);
    for (const place of Object.keys(HOLDERS)) if (nodes[place]) this.#put(shown, place, nodes[place]);
    return Boolean(nodes.body);
  }

  /** The row goes, or gets other nodes. */
  clear(shown) {
    for (const { node, slot, holder } of shown.places ?? []) {
      node.remove();
      slot.remove();
      if (holder.matches('.row-below, .row-extra')) holder.remove();
      else holder.classList.remove('custom');
    }
    shown.places = null;
  }

  /** An error of the page must not take the message away. Of an erased message there is nothing to show. */
  #nodesFor(message) {
    if (message.isErased) return {};
    try {
      const made = this.#render(message) ?? {};
      return made.nodeType === undefined ? made : { body: made };
    } catch (error) {
      reportError(error);
      return {};
    }
  }

  #put(shown, place, given) {
    // A text or a fragment cannot name its slot.
    const node = given.nodeType === 1 ? given : make('div', {}, given);
    this.#count += 1;
    node.slot = `${place}-${this.#count}`;
    const slot = make('slot', {});
    slot.name = node.slot;
    const holder = HOLDERS[place](shown.element);
    holder.classList.add('custom');
    if (place === 'body' || place === 'avatar') holder.replaceChildren(slot);
    else holder.append(slot);
    this.#host.append(node);
    (shown.places ??= []).push({ node, slot, holder });
  }
}

function added(parent, child) {
  parent.append(child);
  return child;
}
