import { windowOf } from './dom.js';

/** Pixels between a message and its facts. */
const GAP = 4;

/**
 * Shows the facts of one message: its seq, and when it was acknowledged or received. The pointer over a message, a
 * click on it, and the arrow keys in the list choose the message. A click and the keys keep it until Escape or another
 * choice.
 */
export class MessageFacts {
  #note;
  #frame;
  #scroll;
  #rows;
  #factsOf;
  #takes;
  #hovered = null;
  #chosen = null;

  /**
   * `factsOf(row)` returns the text for the element of a message, or null. `rows` has `first`, `last`, `neighbour`.
   * `takes(event, row)` says whether another key has done something with the chosen message.
   */
  constructor(part, rows, factsOf, takes) {
    this.#takes = takes;
    this.#note = part('message-facts');
    this.#scroll = part('messages-scroll');
    this.#frame = this.#scroll.parentElement;
    this.#rows = rows;
    this.#factsOf = factsOf;
    this.#scroll.addEventListener('pointerover', ({ target, pointerType }) => {
      if (pointerType !== 'mouse') return;
      this.#hovered = messageAt(target.closest('.bubble, .mark, .row-header'));
      this.show();
    });
    this.#scroll.addEventListener('pointerleave', () => {
      this.#hovered = null;
      this.show();
    });
    this.#scroll.addEventListener('click', ({ target }) => {
      if (target.closest('a, button') || String(windowOf(this.#scroll).getSelection()) !== '') return;
      const message = messageAt(target.closest('.bubble, .mark, .row-header'));
      this.#choose(message === this.#chosen ? null : message);
    });
    this.#scroll.addEventListener('keydown', (event) => this.#pressed(event));
    this.#scroll.addEventListener('scroll', () => this.#place(), { passive: true });
  }

  /** Shows the facts anew: the message may have changed. */
  show() {
    if (this.#chosen && !this.#chosen.isConnected) this.#chosen = null;
    if (this.#hovered && !this.#hovered.isConnected) this.#hovered = null;
    const shown = this.#hovered ?? this.#chosen;
    const facts = shown === null ? null : this.#factsOf(shown);
    this.#note.hidden = facts === null;
    if (facts === null) return;
    if (this.#note.textContent !== facts) this.#note.textContent = facts;
    this.#place();
  }

  get isShown() {
    return this.#hovered !== null || this.#chosen !== null;
  }

  #pressed(event) {
    const isRow = event.target === this.#scroll || event.target === this.#chosen;
    if (!isRow || event.altKey || event.ctrlKey || event.metaKey || (event.shiftKey && event.key !== 'Delete')) return;
    switch (event.key) {
      case 'ArrowUp':
        this.focus(this.messageFrom(this.#chosen ? this.#rows.neighbour(this.#chosen, -1) : this.#rows.last, -1));
        break;
      case 'ArrowDown':
        this.focus(this.messageFrom(this.#chosen ? this.#rows.neighbour(this.#chosen, 1) : this.#rows.last, 1));
        break;
      case 'Home':
        this.focus(this.messageFrom(this.#rows.first, 1));
        break;
      case 'End':
        this.focus(this.messageFrom(this.#rows.last, -1));
        break;
      case 'Enter':
        if (!this.#chosen?.querySelector('.row-menu')) return;
        this.#chosen.querySelector('.row-menu').click();
        break;
      case 'Escape':
        if (this.#chosen === null) return;
        this.#scroll.focus({ preventScroll: true });
        this.#choose(null);
        break;
      default:
        if (this.#chosen === null || !this.#takes(event, this.#chosen)) return;
    }
    event.preventDefault();
    // A page that closes its dialog on Escape, or turns its pages with arrows, does not take this key for its own.
    event.stopPropagation();
  }

  /** The first message from this row on, or null. */
  messageFrom(start, step) {
    let row = start;
    while (row && row.dataset.kind !== 'message') row = this.#rows.neighbour(row, step);
    return row;
  }

  /** Chooses the message of this row, for the keyboard. */
  focus(row) {
    if (!row) return;
    this.#choose(row);
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
    this.#place();
  }

  #choose(row) {
    this.#chosen?.removeAttribute('aria-describedby');
    this.#chosen?.classList.remove('chosen');
    reach(this.#chosen, '-1');
    this.#chosen = row;
    reach(row, '0');
    // A screen reader reads the facts with the message.
    row?.setAttribute('aria-describedby', `${row.dataset.marks ?? ''} ${this.#note.id}`.trim());
    row?.classList.add('chosen');
    this.show();
  }

  /** Below the message, or above it where there is no space. */
  #place() {
    const row = this.#hovered ?? this.#chosen;
    if (row === null || this.#note.hidden) return;
    // At the edge the note would be narrower than it may be.
    this.#note.style.left = '0px';
    const frame = this.#frame.getBoundingClientRect();
    const bubble = row.querySelector('.bubble').getBoundingClientRect();
    const note = this.#note.getBoundingClientRect();
    const below = bubble.bottom - frame.top + GAP;
    const top = below + note.height <= frame.height ? below : bubble.top - frame.top - note.height - GAP;
    const isAtRight = row.classList.contains('sent') !== (getComputedStyle(this.#frame).direction === 'rtl');
    const left = isAtRight ? bubble.right - note.width : bubble.left;
    this.#note.style.top = `${Math.max(0, Math.min(top, frame.height - note.height))}px`;
    this.#note.style.left = `${Math.max(GAP, Math.min(left - frame.left, frame.width - note.width - GAP))}px`;
  }
}

/** Whether Tab reaches the buttons at a message. */
function reach(row, tabIndex) {
  const buttons = row?.querySelectorAll('.toolbar button, button.quote, .reaction, .receipt') ?? [];
  for (const button of buttons) button.setAttribute('tabindex', tabIndex);
}

function messageAt(element) {
  return element?.closest('[data-kind="message"]') ?? null;
}
