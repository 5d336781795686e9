/** Finds the row of a message in a long list, and brings it into the view. */
export class RowFinder {
  #rows;
  #scroll;
  #facts;
  #leaveEnd;

  /**
   * `rows` are the `RowBlocks`, `facts` the `MessageFacts`, and `leaveEnd()` is called before the list stops following its
   * end.
   */
  constructor(rows, scroll, { facts, leaveEnd }) {
    this.#rows = rows;
    this.#scroll = scroll;
    this.#facts = facts;
    this.#leaveEnd = leaveEnd;
  }

  /** The last row that passes a test, or null. */
  findLast(passes) {
    for (let index = this.#rows.count - 1; index >= 0; index -= 1) {
      const shown = this.#rows.at(index);
      if (passes(shown)) return shown;
    }
    return null;
  }

  /** The row with this id, or null. */
  rowOf(id) {
    return this.findLast(({ row }) => row.id === id);
  }

  /** Scrolls to a row, unless the user sees all of it, and returns its element. */
  reveal(shown) {
    const element = this.#rows.elementOf(shown);
    const view = this.#scroll.getBoundingClientRect();
    const { top, bottom } = element.getBoundingClientRect();
    if (top >= view.top && bottom <= view.bottom) return element;
    this.#leaveEnd();
    element.scrollIntoView({ block: 'center' });
    return element;
  }

  /**
   * Chooses the message of a row for the keyboard, or with `step` the one after or before it. Returns whether there is
   * one.
   */
  choose({ element }, step = 0) {
    const found = step === 0 ? element : this.#facts.messageFrom(this.#rows.neighbour(element, step), step);
    this.#facts.focus(found);
    return Boolean(found);
  }
}
