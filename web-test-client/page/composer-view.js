import { acceptsEdit, canSend, FEW_LEFT, MAX_LENGTH, remaining } from '../text-chat/composer.js';
import { find } from './dom.js';

/** The text field, what is left of it, and the Send button. */
export class ComposerView {
  #text = find('composer-text');
  #send = find('send');
  #remaining = find('remaining');
  #hint = find('composer-hint');
  #isEnabled = false;

  /** `send(text)` is called with a text that may be sent. */
  constructor(send) {
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
    this.#text.addEventListener('input', () => this.#show());
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

  clear() {
    this.#text.value = '';
    this.#hint.textContent = '';
    this.#show();
  }

  #submit(send) {
    const text = this.#text.value;
    if (!this.#isEnabled || !canSend(text)) return;
    send(text);
    this.clear();
    this.focus();
  }

  /** A paste that is too long is refused whole: half a text is worse than none. */
  #mayInsert(event) {
    const inserted = event.data ?? event.dataTransfer?.getData('text/plain') ?? (event.inputType === 'insertLineBreak' ? '\n' : '');
    const replaced = this.#text.selectionEnd - this.#text.selectionStart;
    if (event.inputType.startsWith('delete') || acceptsEdit(this.#text.value, replaced, inserted)) {
      this.#hint.textContent = '';
      return;
    }
    const surplus = -remaining(this.#text.value, MAX_LENGTH) - replaced + inserted.length;
    this.#hint.textContent = `Too long by ${surplus}`;
    event.preventDefault();
  }

  #show() {
    const left = remaining(this.#text.value);
    this.#remaining.textContent = `${left} ${left === 1 ? 'character' : 'characters'} left`;
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    this.#send.disabled = !this.#isEnabled || !canSend(this.#text.value);
    // As tall as its lines where the browser cannot do it by itself (`field-sizing`).
    this.#text.rows = Math.min(6, Math.max(1, this.#text.value.split('\n').length));
  }
}
