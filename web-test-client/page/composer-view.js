/** What is left is shown from here on. */
const NEAR_LIMIT = 100;

/** From here on it is a warning. */
const FEW_LEFT = 10;

/** Chats grow to this many lines, then they scroll. */
const MOST_LINES = 6;

/** The text field, what is left of it, and the Send button. */
export class ComposerView {
  #text;
  #send;
  #remaining;
  #hint;
  #chat = null;
  #isEnabled = false;

  /** `send()` is called when the chat would take the draft. */
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
      // While an input method composes, Enter picks a candidate; some browsers say so by 229 alone.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('beforeinput', (event) => this.#mayInsert(event));
    this.#text.addEventListener('input', (event) => this.#take(event.isComposing));
    this.#text.addEventListener('compositionend', () => this.#take(false));
  }

  /** Whose draft is written. */
  set chat(chat) {
    this.#chat = chat;
    this.#text.value = chat.draft;
    this.say('');
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

  say(hint) {
    if (this.#hint.textContent !== hint) this.#hint.textContent = hint;
  }

  show() {
    const chat = this.#chat;
    if (!chat) return;
    const left = chat.remaining;
    this.#remaining.textContent = left > NEAR_LIMIT ? '' : `${left} ${left === 1 ? 'character' : 'characters'} left`;
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    const refusal = chat.refusal();
    if (refusal?.reason === 'signalTooLong') this.say('Too large for one message. Please shorten it.');
    this.#send.disabled = !this.#isEnabled || refusal !== null;
    // As tall as its lines where the browser cannot do it by itself (`field-sizing`).
    this.#text.rows = Math.min(MOST_LINES, Math.max(1, this.#text.value.split('\n').length));
  }

  #submit(send) {
    if (!this.#isEnabled) return;
    const refusal = this.#chat.refusal();
    if (refusal !== null) {
      if (refusal.reason === 'tooManyWaiting') this.say('Too many messages wait to be sent.');
      return;
    }
    send();
    this.#text.value = this.#chat.draft;
    this.say('');
    this.show();
    this.focus();
  }

  #take(isComposing) {
    const result = this.#chat.edit(this.#text.value);
    if (result.isAccepted) {
      this.say('');
    } else if (!isComposing) {
      // What an input method has put in cannot be refused beforehand, and must not be touched before it is done.
      this.#text.value = this.#chat.draft;
      this.say(`Too long by ${result.excess}`);
    }
    this.show();
  }

  /** A paste that is too long is refused whole: half a text is worse than none. */
  #mayInsert(event) {
    if (event.isComposing || event.inputType.startsWith('delete') || event.inputType.startsWith('history')) return;
    const inserted = event.data ?? event.dataTransfer?.getData('text/plain') ?? (event.inputType === 'insertLineBreak' ? '\n' : '');
    const { value, selectionStart, selectionEnd } = this.#text;
    const result = this.#chat.composer.check(value.slice(0, selectionStart) + inserted + value.slice(selectionEnd));
    if (result.isAccepted) return;
    this.say(`Too long by ${result.excess}`);
    event.preventDefault();
  }
}
