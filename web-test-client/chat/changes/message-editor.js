import { isComposing, make } from '../views/dom.js';
import { causeOfUnchanged } from './change-causes.js';

/** Without `field-sizing` the field is as high as its lines, up to this many. */
const MAX_LINES = 10;

/** The keys in a text of the editor → the keys of their names. */
const KEYS = { escape: 'keyEscape', enter: 'keyEnter' };

/** Edits one message in its place: a field in place of its bubble. The draft stays. */
export class MessageEditor {
  #room;
  /** The row that is edited, or null. */
  #shown = null;
  /** The text and the version of the message when the user has last seen them. */
  #text = '';
  #version = null;
  /** Whether the user has come from the input field. */
  #isFromField = false;
  #isSaving = false;
  #node = null;
  #field = null;
  #keys = null;
  #note = null;
  #buttons = [];

  /**
   * `text(key)` and `parts(key)` are texts of the part. `permits(message, text)` asks the page, `report(key)` tells a
   * screen reader, and `lost(text)` is called with what the user has written if the message goes.
   */
  constructor(room) {
    this.#room = room;
  }

  open(shown, { isFromField = false } = {}) {
    // What the user has written elsewhere stays.
    if (this.#shown !== null && this.#field.value !== this.#text) {
      this.#room.messages().finder.reveal(this.#shown);
      this.#field.focus();
      return;
    }
    this.close();
    const { message } = shown.row;
    this.#shown = shown;
    this.#text = message.text;
    this.#version = message.version ?? null;
    this.#isFromField = isFromField;
    this.#build();
    this.#field.value = message.text;
    const element = this.#room.messages().finder.reveal(shown);
    element.querySelector('.row-header').after(this.#node);
    element.classList.add('editing');
    this.#showLines();
    this.#field.focus();
    this.#field.setSelectionRange?.(message.text.length, message.text.length);
    this.#showAll();
  }

  #build() {
    this.#isSaving = false;
    this.#keys = make('span', { class: 'editor-keys', id: 'editor-keys' });
    this.#note = make('span', { class: 'editor-note', role: 'status' });
    const field = make('textarea', { rows: '1', dir: 'auto', 'aria-describedby': 'editor-keys', enterkeyhint: 'done' });
    this.#room.keepKeys(field, (event) => this.#pressed(event));
    field.addEventListener('input', () => {
      this.#say(null);
      this.#showLines();
      this.#showAll();
    });
    this.#field = field;
    const button = (name, look, act) => {
      const made = make('button', { type: 'button', class: look, 'data-key': name });
      made.addEventListener('click', act);
      return made;
    };
    this.#buttons = [button('cancel', 'plain', () => this.#cancel()), button('save', 'primary', () => this.#save())];
    this.#node = make(
      'div', { class: 'editor', part: 'editor' },
      field, make('p', { class: 'editor-foot' }, this.#keys, this.#note),
      make('div', { class: 'editor-buttons' }, ...this.#buttons),
    );
    this.write();
  }

  /** Writes the texts anew, in the language of now. */
  write() {
    if (this.#node === null) return;
    const { text, parts } = this.#room;
    this.#field.setAttribute('aria-label', text('editing'));
    this.#keys.replaceChildren(
      ...parts('editorKeys').map((each) => (each.name ? make('kbd', {}, text(KEYS[each.name])) : each.text)),
    );
    for (const each of this.#buttons) each.textContent = text(each.dataset.key);
  }

  #showLines() {
    this.#field.rows = Math.min(MAX_LINES, this.#field.value.split('\n').length);
  }

  /** With the buttons below the field, where the browser shows the caret only. */
  #showAll() {
    this.#node.scrollIntoView({ block: 'nearest' });
  }

  /** Shows the sentence with this key, or `{text}` of the page, in place of the keys; null: the keys. */
  #say(key) {
    const sentence = key === null ? '' : (key.text ?? this.#room.text(key));
    this.#keys.hidden = sentence !== '';
    this.#note.textContent = sentence;
    this.#note.classList.toggle('quiet', key === 'saving');
  }

  #pressed(event) {
    if (event.type !== 'keydown' || isComposing(event)) return;
    if (event.key === 'Escape') {
      // A page that closes its dialog on Escape does not take this key for its own.
      event.stopPropagation();
      this.#cancel();
    } else if (event.key === 'Enter' && !event.shiftKey) this.#save();
    else return;
    event.preventDefault();
  }

  async #save() {
    if (this.#isSaving) return;
    const { chat, customs, permits, report } = this.#room;
    const shown = this.#shown;
    const text = this.#field.value;
    const { id, message } = shown.row;
    if (text === message.text) this.#cancel();
    else if (text.trim() === '') this.#say('changeBlank');
    else if (!permits(message, text)) this.#say(customs.refusedBecause === null ? 'changeRefused' : { text: customs.refusedBecause });
    else {
      this.#setSaving(true);
      try {
        await chat().editMessage(id, text);
      } catch (error) {
        if (this.#shown !== shown) return;
        this.#setSaving(false);
        this.#field.focus();
        this.#version = shown.row.message.version ?? null;
        this.#say(causeOfUnchanged(error));
        return;
      }
      report('saved');
      if (this.#shown === shown) this.#leave();
    }
  }

  #setSaving(isSaving) {
    this.#isSaving = isSaving;
    this.#field.readOnly = isSaving;
    this.#buttons.at(-1).disabled = isSaving;
    this.#say(isSaving ? 'saving' : null);
  }

  #cancel() {
    // What was sent cannot be called back.
    if (!this.#isSaving) this.#leave();
  }

  /** Closes the editor. The focus goes to where the user has come from. */
  #leave() {
    const { messages, composer } = this.#room;
    const shown = this.#shown;
    const hadFocus = this.#hasFocus;
    this.close();
    if (!hadFocus) return;
    if (this.#isFromField) composer().focus();
    else messages().finder.choose(shown);
  }

  get #hasFocus() {
    return this.#node.contains(this.#node.getRootNode().activeElement);
  }

  close() {
    if (this.#shown === null) return;
    this.#shown.element?.classList.remove('editing');
    this.#node.remove();
    this.#shown = null;
    this.#node = null;
  }

  /** The message of a row is another one now. */
  updated(shown) {
    if (shown !== this.#shown) return;
    const { message } = shown.row;
    if (message.isErased) {
      this.removed(shown);
      return;
    }
    const version = message.version ?? null;
    if (this.#isSaving || version === this.#version) return;
    this.#version = version;
    this.#say('changedMeanwhile');
  }

  /** A row goes. */
  removed(shown) {
    if (shown !== this.#shown) return;
    const text = this.#field.value;
    const isWritten = text !== this.#text;
    const hadFocus = this.#hasFocus;
    this.close();
    if (isWritten) this.#room.lost(text);
    else if (hadFocus) this.#room.composer().focus();
  }
}
