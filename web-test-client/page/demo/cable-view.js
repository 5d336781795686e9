import { find } from '../dom.js';

/** The cable of the second user, with a button that pulls it and puts it back, and the score of both users. */
export class CableView {
  #element = find('cable');
  #button = find('cable-button');
  #state = find('cable-state');
  #score = find('score');
  #words;
  #willShow = false;

  /** `pulled(isPulled)` is called when the user pulls the cable or puts it back. */
  constructor(words, pulled) {
    this.#words = words;
    this.#button.addEventListener('click', () => pulled(this.#element.dataset.pulled !== 'true'));
    this.isPulled = false;
  }

  set isHidden(isHidden) {
    this.#element.hidden = isHidden;
  }

  set isPulled(isPulled) {
    this.#element.dataset.pulled = String(isPulled);
    this.#button.textContent = this.#words.text(isPulled ? 'putCableBack' : 'pullCable');
    this.#state.textContent = this.#words.text(isPulled ? 'cableOut' : 'cableIn');
  }

  /** Shows the score with the next frame. */
  show(score) {
    if (this.#willShow) return;
    this.#willShow = true;
    requestAnimationFrame(() => {
      this.#willShow = false;
      const { sent, onTheWay, lost, doubled, reordered } = score.result;
      this.#score.dataset.isClean = String(lost + doubled + reordered === 0);
      const text = this.#words.text('score', { sent, lost, doubled, reordered });
      const withRest = () => this.#words.text('scoreOnTheWay', { score: { text }, count: onTheWay });
      this.#score.textContent = onTheWay > 0 ? withRest() : text;
    });
  }
}
