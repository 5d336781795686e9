import { find } from './dom.js';

/** From here on the remaining count is a warning. */
const FEW_LEFT = 10;

/** The text field, what is left of it, and the Send button. */
export class ComposerView {
  #text = find('composer-text');
  #send = find('send');
  #remaining = find('remaining');
  #hint = find('composer-hint');
  #isEnabled = false;

  /** `send()` is called when the composer holds a text that may be sent; it takes it out. */
  constructor(composer, send) {
    this.composer = composer;
    find('composer').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('keydown', (event) => {
      // While an input method composes, Enter picks a candidate.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('beforeinput', (event) => this.#mayInsert(event));
    this.#text.addEventListener('input', () => {
      // What an input method has put in cannot be refused beforehand.
      if (!this.composer.edit(this.#text.value).isAccepted) this.#text.value = this.composer.text;
      this.#show();
    });
    this.#show();
  }

  setEnabled(isEnabled) {
    this.#isEnabled = isEnabled;
    this.#text.disabled = !isEnabled;
    this.#show();
  }

  focus() {
    this.#text.focus();
  }

  #submit(send) {
    if (!this.#isEnabled || this.composer.refusal) return;
    send();
    this.#text.value = this.composer.text;
    this.#hint.textContent = '';
    this.#show();
    this.focus();
  }

  /** A paste that is too long is refused whole: half a text is worse than none. */
  #mayInsert(event) {
    const inserted = event.data ?? event.dataTransfer?.getData('text/plain') ?? (event.inputType === 'insertLineBreak' ? '\n' : '');
    const { value, selectionStart, selectionEnd } = this.#text;
    const result = this.composer.check(value.slice(0, selectionStart) + inserted + value.slice(selectionEnd));
    if (event.inputType.startsWith('delete') || result.isAccepted) {
      this.#hint.textContent = '';
      return;
    }
    this.#hint.textContent = `Too long by ${result.excess}`;
    event.preventDefault();
  }

  #show() {
    const left = this.composer.remaining;
    this.#remaining.textContent = `${left} ${left === 1 ? 'character' : 'characters'} left`;
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    this.#send.disabled = !this.#isEnabled || this.composer.refusal !== null;
    // As tall as its lines where the browser cannot do it by itself (`field-sizing`).
    this.#text.rows = Math.min(6, Math.max(1, this.#text.value.split('\n').length));
  }
}
