import { make } from './dom.js';

/** The most rows of a block, and the fewest of a block that is not the last. */
const CAPACITY = 100;

/** An estimate in pixels for a row that the browser has never shown. */
const ROW_HEIGHT = 48;

/**
 * The elements of a long list, in blocks. The browser skips layout, style and painting of all blocks outside the view
 * (`content-visibility` in style.css), so that a new row costs the same in a long list as in a short one. All rows stay
 * in the document: scrolling, searching and screen readers reach them.
 *
 * The last block is always laid out, since it grows.
 */
export class RowBlocks {
  #list;
  #blocks = [];
  #count = 0;

  constructor(list) {
    this.#list = list;
  }

  get count() {
    return this.#count;
  }

  at(index) {
    const { block, offset } = this.#find(index);
    return block?.children[offset] ?? null;
  }

  insert(element, index) {
    if (index >= this.#count) {
      const last = this.#blocks.at(-1);
      const block = !last || last.childElementCount >= CAPACITY ? this.#begin(last) : last;
      block.append(element);
    } else {
      const { block, offset } = this.#find(index);
      block.insertBefore(element, block.children[offset]);
      if (block.childElementCount > 2 * CAPACITY) this.#split(block);
    }
    this.#count += 1;
  }

  /** Removes the row at this index, and returns its element. */
  remove(index) {
    const { block, offset, number } = this.#find(index);
    const element = block.children[offset];
    element.remove();
    this.#count -= 1;
    if (block.childElementCount === 0) {
      block.remove();
      this.#blocks.splice(number, 1);
      this.#blocks.at(-1)?.classList.remove('sealed');
    }
    return element;
  }

  clear() {
    this.#list.replaceChildren();
    this.#blocks = [];
    this.#count = 0;
  }

  /** The row before or after another, or null. */
  neighbour(element, step) {
    const side = step < 0 ? 'previousElementSibling' : 'nextElementSibling';
    const end = step < 0 ? 'lastElementChild' : 'firstElementChild';
    return element[side] ?? element.parentElement[side]?.[end] ?? null;
  }

  get first() {
    return this.#blocks[0]?.firstElementChild ?? null;
  }

  get last() {
    return this.#blocks.at(-1)?.lastElementChild ?? null;
  }

  #find(index) {
    // Most changes are near the end.
    let end = this.#count;
    for (let number = this.#blocks.length - 1; number >= 0; number -= 1) {
      const block = this.#blocks[number];
      const start = end - block.childElementCount;
      if (index >= start) return { block, offset: index - start, number };
      end = start;
    }
    return { block: null, offset: 0, number: 0 };
  }

  #begin(previous) {
    if (previous) this.#seal(previous);
    const block = make('div', { class: 'block', role: 'presentation' });
    this.#blocks.push(block);
    this.#list.append(block);
    return block;
  }

  /** From now on the browser skips the block outside the view. Until it has shown it, this is the block's height. */
  #seal(block) {
    const height = block.offsetHeight || block.childElementCount * ROW_HEIGHT;
    block.style.containIntrinsicBlockSize = `auto ${height}px`;
    block.classList.add('sealed');
  }

  #split(block) {
    const second = make('div', { class: 'block', role: 'presentation' });
    second.append(...[...block.children].slice(CAPACITY));
    block.after(second);
    const number = this.#blocks.indexOf(block);
    this.#blocks.splice(number + 1, 0, second);
    if (number + 2 < this.#blocks.length) this.#seal(second);
    this.#seal(block);
  }
}
