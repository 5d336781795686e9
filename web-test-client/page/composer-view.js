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
  #isEnabled = false;

  /** `send()` is called when the draft can be sent. */
  constructor(part, send) {
    this.#text = part('composer-text');
    this.#send = part('send');
    this.#remaining = part('remaining');
    this.#hint = part('composer-hint');
    part('composer').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('keydown', (event) => {
      // While an input method composes, Enter picks a candidate. Some browsers show that only by this key code.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === COMPOSING_KEY_CODE) return;
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('beforeinput', (event) => this.#checkInsertion(event));
    this.#text.addEventListener('input', (event) => this.#edited(event.isComposing));
    this.#text.addEventListener('compositionend', () => this.#edited(false));
  }

  /** The chat whose draft is edited. */
  set chat(chat) {
    this.#chat = chat;
    this.#text.value = chat.draft;
    this.showHint('');
    this.show();
  }

  setEnabled(isEnabled) {
    this.#isEnabled = isEnabled;
    this.#text.disabled = !isEnabled;
    this.show();
  }

  focus() {
    this.#text.focus();
  }

  showHint(hint) {
    if (this.#hint.textContent !== hint) this.#hint.textContent = hint;
  }

  show() {
    const chat = this.#chat;
    if (!chat) return;
    const left = chat.remaining;
    this.#remaining.textContent = left > NEAR_LIMIT ? '' : `${left} ${left === 1 ? 'character' : 'characters'} left`;
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    const refusal = chat.refusal();
    if (refusal?.reason === 'signalTooLong') this.showHint('This text is too large for one message. Shorten it.');
    this.#send.disabled = !this.#isEnabled || refusal !== null;
    // The height of its lines, in browsers without `field-sizing`.
    this.#text.rows = Math.min(MAX_LINES, Math.max(1, this.#text.value.split('\n').length));
  }

  #submit(send) {
    if (!this.#isEnabled) return;
    const refusal = this.#chat.refusal();
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

  #edited(isComposing) {
    const result = this.#chat.edit(this.#text.value);
    if (result.isAccepted) {
      this.showHint('');
    } else if (!isComposing) {
      // The text of an input method cannot be refused in advance, and must not change while it composes.
      this.#text.value = this.#chat.draft;
      this.showHint(tooLong(result.excess));
    }
    this.show();
  }

  /** Refuses a paste that is too long as a whole: half a text is worse than none. */
  #checkInsertion(event) {
    if (event.isComposing || event.inputType.startsWith('delete') || event.inputType.startsWith('history')) return;
    const lineBreak = event.inputType === 'insertLineBreak' ? '\n' : '';
    const inserted = event.data ?? event.dataTransfer?.getData('text/plain') ?? lineBreak;
    const { value, selectionStart, selectionEnd } = this.#text;
    const result = this.#chat.composer.check(value.slice(0, selectionStart) + inserted + value.slice(selectionEnd));
    if (result.isAccepted) return;
    this.showHint(tooLong(result.excess));
    event.preventDefault();
  }
}

function tooLong(excess) {
  return `Too long by ${excess} ${excess === 1 ? 'character' : 'characters'}`;
}
