import { isComposing, make } from './dom.js';
import { EmojiControl } from './emoji-control.js';
import { keepKeys } from '../keys/key-guard.js';
import { refuseFiles, refusePastedFiles } from './refused-files.js';

/** The remaining length is shown when it is at most this. */
const NEAR_LIMIT = 100;

/** It is shown as a warning when it is at most this. */
const FEW_LEFT = 10;

/** The text field grows to this many lines, then it scrolls. */
const MAX_LINES = 6;

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
  #isReadOnly = false;
  /** Why the user cannot write for now, as a sentence; null: they can. */
  #restriction = null;
  #restrictionLine;
  #isOver = false;
  #nearLimit = NEAR_LIMIT;
  #keys;
  #words;
  /** The placeholder of the page, or null. */
  #placeholder = null;
  /** What the hint says: the key of a text, with its values. */
  #hintKey = null;
  #hintValues = {};
  #emoji;

  /**
   * `send()` is called when the draft can be sent, and `edited(text)` when the user has changed it. `takeFiles(files)`
   * says whether the page takes files, and `takes(event)` whether a key has done something else.
   */
  constructor(part, { send, edited, takeFiles, takes, words }) {
    this.#words = words;
    this.#keys = part('composer-keys');
    this.#text = part('composer-text');
    this.#send = part('send');
    this.#remaining = part('remaining');
    this.#hint = part('composer-hint');
    this.#restrictionLine = part('restriction');
    const refuse = (files) => {
      if (this.#isLocked || !takeFiles(files)) this.showHint('noFiles');
    };
    refuseFiles(this.#text.getRootNode(), refuse);
    part('composer').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    this.#emoji = new EmojiControl(part, { words, failed: () => this.showHint('actionFailed') });
    keepKeys(this.#text, (event) => {
      if (this.#emoji.takes(event) || takes(event)) return;
      if (event.type === 'paste') return refusePastedFiles(event, refuse);
      if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      this.#submit(send);
    });
    this.#text.addEventListener('input', () => {
      this.#read('edit');
      edited(this.#text.value);
    });
  }

  set words(words) {
    this.#words = words;
    this.#emoji.words = words;
    this.#keys.replaceChildren(...words.parts('keys').map(({ text, name }) => (name ? this.#key(name) : text)));
    this.#showPlaceholder();
    this.#writeHint();
    this.show();
  }

  #key(name) {
    return make('kbd', {}, this.#words.text(name === 'shift' ? 'keyShift' : 'keyEnter'));
  }

  /** The text of the empty field while a user can write; null: the one of the language. */
  set placeholder(text) {
    this.#placeholder = text;
    this.#showPlaceholder();
  }

  /** The user may read only: the field stays, can be focused and says why. */
  set isReadOnly(isReadOnly) {
    this.#isReadOnly = isReadOnly;
    this.#showLock();
  }

  /** The user may not write for now, and reads this sentence, or null. A draft stays. */
  set restriction(sentence) {
    if (this.#restriction === sentence) return;
    this.#restriction = sentence;
    this.#restrictionLine.textContent = sentence ?? '';
    this.#showLock();
  }

  get #isLocked() {
    return this.#isReadOnly || this.#restriction !== null;
  }

  #showLock() {
    const isLocked = this.#isLocked;
    this.#text.readOnly = isLocked;
    this.#send.hidden = isLocked;
    this.#keys.hidden = isLocked;
    this.#showPlaceholder();
    this.show();
  }

  /** The chat has ended, or could not begin: an empty field that takes nothing only puzzles. A draft stays in view. */
  set isOver(isOver) {
    this.#isOver = isOver;
    this.#showForm();
  }

  #showForm() {
    const isEmpty = this.#text.value === '';
    // An empty field that takes nothing only puzzles.
    this.#text.hidden = this.#restriction !== null && isEmpty;
    this.#text.form.hidden = this.#isOver && isEmpty;
  }

  #showPlaceholder() {
    // Nobody who cannot send is invited to write.
    const own = this.#isEnabled ? (this.#placeholder ?? this.#words.text('placeholder')) : '';
    this.#text.placeholder = this.#isReadOnly ? this.#words.text('readOnly') : this.#restriction === null ? own : '';
  }

  /** Whether the user can choose emoji from a list. */
  set hasEmoji(isOn) {
    this.#emoji.isOn = isOn;
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
    this.#showPlaceholder();
    this.show();
  }

  focus(options) {
    this.#text.focus(options);
  }

  /** Shows the text with this key below the field, or `{text}` of the page; null: none. */
  showHint(key, values = {}) {
    this.#hintKey = key;
    this.#hintValues = values;
    this.#writeHint();
  }

  #writeHint() {
    const key = this.#hintKey;
    const hint = key === null ? '' : (key.text ?? this.#words.text(key, this.#hintValues));
    if (this.#hint.textContent !== hint) this.#hint.textContent = hint;
  }

  show() {
    const chat = this.#chat;
    if (!chat) return;
    this.#showForm();
    const left = this.#excess > 0 ? -this.#excess : chat.remaining;
    this.#remaining.textContent = left > this.#nearLimit ? '' : this.#remainingText(left);
    this.#remaining.classList.toggle('few', left <= FEW_LEFT);
    const refusal = this.#refusal();
    const isTooLarge = refusal?.reason === 'signalTooLong';
    if (isTooLarge) this.showHint('tooLarge');
    this.#text.setAttribute('aria-invalid', String(this.#excess > 0 || isTooLarge));
    this.#send.disabled = !this.#isEnabled || this.#isLocked || refusal !== null;
    // The height of its lines, in browsers without `field-sizing`.
    this.#text.rows = Math.min(MAX_LINES, Math.max(1, this.#text.value.split('\n').length));
  }

  /** Why the text in the box cannot be sent, or null. */
  #refusal() {
    return this.#excess > 0 ? { reason: 'tooLong', excess: this.#excess } : this.#chat.refusal();
  }

  #submit(send) {
    if (!this.#isEnabled || this.#isLocked) return;
    const refusal = this.#refusal();
    if (refusal !== null) {
      if (refusal.reason === 'tooManyWaiting') {
        this.showHint('tooManyWaiting');
      }
      return;
    }
    send();
    this.#text.value = this.#chat.draft;
    this.showHint(null);
    this.show();
    this.focus();
  }

  /**
   * A text over the limit stays in the box, marked, until the user shortens it. The chat has the last text that fits.
   */
  #read(method) {
    const { isAccepted, excess } = this.#chat[method](this.#text.value);
    this.#excess = isAccepted ? 0 : excess;
    this.showHint(isAccepted ? null : 'tooLong', { count: excess });
    this.show();
  }

  #remainingText(left) {
    return this.#words.text(left < 0 ? 'charactersOver' : 'charactersLeft', { count: Math.abs(left) });
  }
}
