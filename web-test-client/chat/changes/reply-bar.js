import { make } from '../views/dom.js';

/** So much of a text fits into one line, in UTF-16 units. */
const LINE_LENGTH = 200;

/** A text in one line. */
export function lineOf(text) {
  return text.slice(0, LINE_LENGTH).replace(/\s+/g, ' ').trim();
}

/** The bar above the input field with the message that the draft answers. */
export class ReplyBar {
  #room;
  #bar;
  #about = make('bdi', { class: 'reply-name', id: 'reply-name' });
  #line = make('bdi', { class: 'reply-line', id: 'reply-line' });
  #end;
  #field;
  /** The row of the message, or null. */
  #shown = null;

  /** `text(key)` are texts of the part, and `about(message)` is “Reply to Ada”. */
  constructor(room) {
    this.#room = room;
    this.#field = room.part('composer-text');
    this.#end = make('button', { type: 'button', class: 'plain-icon' }, '×');
    this.#end.addEventListener('click', () => this.end());
    this.#bar = make(
      'div', { class: 'reply-bar', part: 'reply-bar', hidden: '' },
      make('p', {}, this.#about, this.#line), this.#end,
    );
    room.part('composer').prepend(this.#bar);
  }

  get isShown() {
    return !this.#bar.hidden;
  }

  /** Shows what the draft answers now, if anything. */
  show() {
    const { chat, messages, text, about } = this.#room;
    const target = chat()?.replyTarget ?? null;
    if (target === null && !this.isShown) return;
    if (this.#shown?.row.id !== target) this.#shown = target === null ? null : messages().finder.rowOf(target);
    this.#bar.hidden = target === null;
    describe(this.#field, 'reply-name reply-line', target !== null);
    if (target === null) return;
    const message = this.#shown?.row.message;
    write(this.#about, message === undefined ? text('reply') : about(message));
    write(this.#line, message === undefined ? text('earlierMessage') : lineOf(message.text));
    this.#end.title = text('endReply');
    this.#end.setAttribute('aria-label', this.#end.title);
  }

  end() {
    this.#room.chat().reply(null);
    this.show();
    this.#room.composer().focus();
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Adds these ids to the description of a field, or removes them. */
function describe(field, ids, isOn) {
  const given = field.getAttribute('aria-describedby').replace(` ${ids}`, '');
  const wanted = isOn ? `${given} ${ids}` : given;
  if (field.getAttribute('aria-describedby') !== wanted) field.setAttribute('aria-describedby', wanted);
}
