import { make } from './dom.js';

/** The most rows of a block, and the fewest of a block that is not the last. */
const CAPACITY = 20;

/** An estimate in pixels for a row, before the browser has shown one. */
const ROW_HEIGHT = 48;

/** No row is lower, in pixels. In the look of OpenTok, a row within a group has about 26. */
const LEAST_ROW_HEIGHT = 24;

/** Up to so many rows have elements wherever they are. */
const ROWS_WITH_ELEMENTS = 1000;

/** Pixels above and below the view in which all rows have elements. */
const MARGIN = 1500;

/**
 * The rows of a long list, in blocks. A row is an object: its `element` is null, or what `makeElement(row)` returned.
 *
 * The number of elements is bounded. Up to 1,000 rows all have elements, so that searching and screen readers reach
 * them. In a longer list the blocks far from the view are empty, with the height of their rows. While the list follows
 * its end, rows that pass the view between two frames never get elements.
 *
 * Screen readers announce the rows that are added to the last blocks. Rows of older blocks that get their elements again
 * are not new.
 *
 * The browser skips layout, style and painting of the blocks outside the view (`content-visibility`), so that a new row
 * costs the same in a long list as in a short one. It always lays out the last blocks, as many as fill the view: a list
 * that follows its end must know where that is.
 */
export class RowBlocks {
  #list;
  #makeElement;
  #released;
  #blocks = [];
  /** Element of a block → block: `{node, rows, rowHeight}`. */
  #byNode = new Map();
  /** The blocks that the last frame had in or near the view. */
  #near = new Set();
  /** The height of the view in pixels. Whoever watches the size of the list sets it. */
  viewHeight = 1000;
  /** The height of a row in the full block that the browser has shown last. */
  #rowHeight = ROW_HEIGHT;
  #count = 0;
  /** The blocks whose rows have elements. */
  #filled = new Set();
  /** Blocks whose rows do not all have elements yet, or whose height has changed. */
  #changed = new Set();
  #observer;

  /**
   * `scroll` is the element that scrolls. `needsRender()` is called when `render` has work for the next frame, and
   * `released(row)` before a row loses its element.
   */
  constructor(list, scroll, makeElement, needsRender, released) {
    this.#list = list;
    this.#released = released;
    this.#makeElement = makeElement;
    const seen = (entries) => {
      let isNeeded = false;
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const block = this.#byNode.get(target);
        if (!block) continue;
        // A block at the end is seldom full when it comes into the view, but always when it leaves it.
        if (this.#filled.has(block) && boundingClientRect.height > 0) {
          // Newer rows may wait for the next frame: they were not in this height.
          const rowCount = target.children.length;
          block.rowHeight = boundingClientRect.height / rowCount;
          // One very high row is most of a short block.
          if (rowCount >= CAPACITY) this.#rowHeight = block.rowHeight;
        }
        if (isIntersecting) this.#near.add(block);
        else this.#near.delete(block);
        isNeeded ||= isIntersecting && !this.#filled.has(block);
      }
      if (isNeeded) needsRender();
    };
    this.#observer = new IntersectionObserver(seen, { root: scroll, rootMargin: `${MARGIN}px 0px` });
  }

  get count() {
    return this.#count;
  }

  at(index) {
    const { block, offset } = this.#find(index);
    return block?.rows[offset] ?? null;
  }

  insert(row, index) {
    let block;
    if (index >= this.#count) {
      const last = this.#blocks.at(-1);
      block = !last || last.rows.length >= CAPACITY ? this.#begin(this.#blocks.length) : last;
      block.rows.push(row);
    } else {
      const found = this.#find(index);
      block = found.block;
      block.rows.splice(found.offset, 0, row);
      if (block.rows.length > 2 * CAPACITY) this.#split(found);
    }
    this.#count += 1;
    this.#changed.add(block);
  }

  /** Removes the row at this index, and returns it. */
  remove(index) {
    const { block, offset, number } = this.#find(index);
    const [row] = block.rows.splice(offset, 1);
    row.element?.remove();
    this.#released(row);
    this.#count -= 1;
    this.#changed.add(block);
    if (block.rows.length === 0) this.#end(block, number);
    return row;
  }

  clear() {
    for (const block of this.#blocks) {
      this.#observer.unobserve(block.node);
      block.rows.forEach(this.#released);
    }
    this.#list.replaceChildren();
    this.#blocks = [];
    this.#byNode.clear();
    this.#changed.clear();
    this.#near.clear();
    this.#filled.clear();
    this.#count = 0;
  }

  /**
   * Makes the elements that are needed: once for each frame. A list that follows its end will show its last rows, and
   * not those that the last frame had in the view. With `laysOut` the browser lays out all new rows in this frame, so
   * that their height is known and not estimated.
   */
  render(followsEnd, { laysOut = false } = {}) {
    const filledBefore = laysOut ? new Set(this.#filled) : null;
    // Rows that the browser has not shown yet may be as low as any, however high those before them were.
    const last = new Set(this.#blocks.slice(-1 - Math.ceil(this.viewHeight / (CAPACITY * LEAST_ROW_HEIGHT))));
    const needed = followsEnd ? new Set(last) : new Set([...last, ...this.#near]);
    for (const block of this.#changed) {
      if (this.#filled.has(block) || this.#count <= ROWS_WITH_ELEMENTS) needed.add(block);
      else if (!needed.has(block)) this.#showHeight(block);
    }
    this.#changed.clear();
    for (const block of needed) this.#fill(block, last.has(block));
    if (this.#filled.size * CAPACITY > ROWS_WITH_ELEMENTS) this.#emptyFarBlocks(needed);
    for (const block of this.#filled) {
      if (last.has(block)) block.node.classList.remove('sealed');
      else if (filledBefore === null || filledBefore.has(block)) this.#seal(block);
    }
    // It was older once if the blocks behind it are gone. New rows go there now.
    this.#blocks.at(-1)?.node.removeAttribute('aria-live');
  }

  /** Makes the elements of all rows, for paper. The next frame of the list removes those that are far from the view. */
  renderAll() {
    for (const block of this.#blocks) this.#fill(block);
  }

  /** The element of a row, which it gets now if it has none. */
  elementOf(row) {
    if (row.element === null || !row.element.isConnected) {
      this.#fill(this.#blocks.find(({ rows }) => rows.includes(row)));
    }
    return row.element;
  }

  /** The element of the row before or after that of another, or null. */
  neighbour(element, step) {
    const block = this.#byNode.get(element.parentElement);
    if (!block) return null;
    const offset = block.rows.findIndex((row) => row.element === element) + step;
    if (block.rows[offset]) return this.elementOf(block.rows[offset]);
    const next = this.#blocks[this.#blocks.indexOf(block) + step];
    return next ? this.#elementIn(next, step > 0 ? 0 : -1) : null;
  }

  get first() {
    return this.#count === 0 ? null : this.#elementIn(this.#blocks[0], 0);
  }

  get last() {
    return this.#count === 0 ? null : this.#elementIn(this.#blocks.at(-1), -1);
  }

  #elementIn(block, offset) {
    this.#fill(block);
    return block.rows.at(offset).element;
  }

  #find(index) {
    // Most changes are near the end. Those at the beginning drop the oldest rows.
    const first = this.#blocks[0];
    if (first && index < first.rows.length) return { block: first, offset: index, number: 0 };
    let end = this.#count;
    for (let number = this.#blocks.length - 1; number >= 0; number -= 1) {
      const block = this.#blocks[number];
      const start = end - block.rows.length;
      if (index >= start) return { block, offset: index - start, number };
      end = start;
    }
    return { block: null, offset: 0, number: 0 };
  }

  #begin(number) {
    const node = make('div', { class: 'block', role: 'presentation' });
    const block = { node, rows: [], rowHeight: this.#rowHeight };
    this.#list.insertBefore(node, this.#blocks[number]?.node ?? null);
    this.#blocks.splice(number, 0, block);
    this.#byNode.set(node, block);
    this.#observer.observe(node);
    return block;
  }

  #end(block, number) {
    this.#observer.unobserve(block.node);
    block.node.remove();
    this.#byNode.delete(block.node);
    this.#changed.delete(block);
    this.#near.delete(block);
    this.#filled.delete(block);
    this.#blocks.splice(number, 1);
  }

  #split({ block, number }) {
    const second = this.#begin(number + 1);
    second.rows = block.rows.splice(CAPACITY);
    this.#changed.add(second);
    if (this.#filled.has(block)) this.#fill(second);
  }

  /** `isNew`: the rows without an element are new to the user. */
  #fill(block, isNew = false) {
    if (!this.#filled.has(block)) {
      // Set before the elements are there.
      if (!isNew) block.node.setAttribute('aria-live', 'off');
      this.#filled.add(block);
      block.node.style.height = '';
    }
    let next = null;
    for (let offset = block.rows.length - 1; offset >= 0; offset -= 1) {
      const row = block.rows[offset];
      row.element ??= this.#makeElement(row);
      if (row.element.parentElement !== block.node || row.element.nextSibling !== next) {
        block.node.insertBefore(row.element, next);
      }
      next = row.element;
    }
  }

  /**
   * From now on the browser skips the block outside the view. There the block has this height. The browser would also
   * remember the one that it has shown last (`auto`), but it remembers that of an empty block, too.
   */
  #seal(block) {
    if (block.node.classList.contains('sealed')) return;
    block.node.style.containIntrinsicBlockSize = `${Math.round(block.rows.length * block.rowHeight)}px`;
    block.node.classList.add('sealed');
    block.node.setAttribute('aria-live', 'off');
  }

  #emptyFarBlocks(needed) {
    for (const block of this.#filled) {
      if (this.#near.has(block) || needed.has(block)) continue;
      // The user reads there with the keyboard.
      if (block.node.contains(block.node.getRootNode().activeElement)) continue;
      // And edits a message there.
      if (block.node.querySelector('.editor') !== null) continue;
      this.#filled.delete(block);
      for (const row of block.rows) {
        this.#released(row);
        row.element = null;
      }
      block.node.replaceChildren();
      // Skipping costs the browser time for each block, and here is nothing to skip.
      block.node.classList.remove('sealed');
      this.#showHeight(block);
    }
  }

  #showHeight(block) {
    block.node.style.height = `${Math.round(block.rows.length * block.rowHeight)}px`;
  }
}
