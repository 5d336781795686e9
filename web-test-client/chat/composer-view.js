import { keepKeys } from './keys/key-guard.js';
import { refuseFiles, refusePastedFiles } from './refused-files.js';

const NO_FILES = 'This chat takes text only. The file was not sent.';

/** The remaining length is shown when it is at most this. */
const NEAR_LIMIT = 100;

/** It is shown as a warning when it is at most this. */
const FEW_LEFT = 10;

/** The text field grows to this many lines, then it scrolls. */
const MAX_LINES = 6;

/** `keyCode` of a key that an input method handles. */
const COMPOSING_KEY_CODE = 229;

/** The text field, its remaining length, and the Send button. */
export class ComposerView {
  #text;
  #send;
  #remaining;
  #hint;
  #chat = null;
  /** How much the text in the box is too long. */
  #excess = 0;
  #isEnabled = false;
  #nearLimit = NEAR_LIMIT;
  #placeholder;

  /** `send()` is called when the draft can be sent, and `edited(text)` when the user has changed it. */
  constructor(part, { send, edited }) {
    this.#text = part('composer-text');
    this.#send = part('send');
    this.#remaining = part('remaining');
    this.#hint = part('composer-hint');
    this.#placeholder = this.#text.placeholder;
    const refuse = () => this.showHint(NO_FILES);
    refuseFiles(this.#text.getRootNode(), refuse);
    part('composer').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    keepKeys(this.#text, (event) => {
      if (event.type === 'paste') return refusePastedFiles(event, refuse);
      // While an input method composes, Enter picks a candidate. Some browsers show that only by this key code.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === COMPOSING_KEY_CODE) return;
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('input', () => {
      this.#read('edit');
      edited(this.#text.value);
    });
  }

  /** Whether the remaining length is always shown. */
  set showsCounter(isShown) {
    this.#nearLimit = isShown ? Infinity : NEAR_LIMIT;
    this.show();
  }

  /** Changes the limit. A text over it stays in the box, marked. */
  setMaxLength(length) {
    if (!this.#chat) return;
    this.#chat.composer.maxLength = length;
    this.#read('setDraft');
  }

  /** Writes a text into the box, as the program's. */
  write(text) {
    this.#text.value = text;
    if (this.#chat) this.#read('setDraft');
  }

  /** Edits the draft of this chat, which begins with `text`. */
  open(chat, text) {
    this.#chat = chat;
    this.#text.value = text;
    this.#read('setDraft');
  }

  setEnabled(isEnabled) {
    this.#isEnabled = isEnabled;
    this.#text.disabled = !isEnabled;
    this.#text.form.classList.toggle('off', !isEnabled);
    this.#invite();
    this.show();
  }

  /** The text of the empty field while a user can write. */
  set placeholder(text) {
    this.#placeholder = text;
    this.#invite();
  }

  #invite() {
    this.#text.placeholder = this.#isEnabled ? this.#placeholder : '';
  }

  focus(options) {
    this.#text.focus(options);
  }

  showHint(hint) {
    if (this.#hint.textContent !== hint) this.#hint.textContent = hint;
  }

  show() {
    const chat = this.#chat;
    if (!chat) return;
    const left = this.#excess > 0 ? -this.#excess : chat.remaining;
    this.#remaining.textContent = left > this.#nearLimit ? '' : remainingText(left);
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    const refusal = this.#refusal();
    const isTooLarge = refusal?.reason === 'signalTooLong';
    if (isTooLarge) this.showHint('This text is too large for one message. Shorten it.');
    this.#text.setAttribute('aria-invalid', String(this.#excess > 0 || isTooLarge));
    this.#send.disabled = !this.#isEnabled || refusal !== null;
    // The height of its lines, in browsers without `field-sizing`.
    this.#text.rows = Math.min(MAX_LINES, Math.max(1, this.#text.value.split('\n').length));
  }

  /** Why the text in the box cannot be sent, or null. */
  #refusal() {
    return this.#excess > 0 ? { reason: 'tooLong', excess: this.#excess } : this.#chat.refusal();
  }

  #submit(send) {
    if (!this.#isEnabled) return;
    const refusal = this.#refusal();
    if (refusal !== null) {
      if (refusal.reason === 'tooManyWaiting') {
        this.showHint('Too many messages are waiting to be sent. Try again later.');
      }
      return;
    }
    send();
    this.#text.value = this.#chat.draft;
    this.showHint('');
    this.show();
    this.focus();
  }

  /**
   * A text over the limit stays in the box, marked, until the user shortens it. The chat has the last text that fits.
   */
  #read(method) {
    const { isAccepted, excess } = this.#chat[method](this.#text.value);
    this.#excess = isAccepted ? 0 : excess;
    this.showHint(isAccepted ? '' : `Too long by ${characters(excess)}. Shorten it to send it.`);
    this.show();
  }
}

function remainingText(left) {
  return left < 0 ? `${characters(-left)} over` : `${characters(left)} left`;
}

function characters(count) {
  return `${count} ${count === 1 ? 'character' : 'characters'}`;
}
