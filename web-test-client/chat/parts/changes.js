// The part of `<signalbox-chat>` with which users edit, delete, copy and answer messages: see `ChangesControl`.
import { causeOfUnchanged } from '../changes/change-causes.js';
import { CHANGE_STRINGS } from '../changes/change-strings.js';
import { CHANGES_STYLE } from '../changes/changes-style.js';
import { copyText } from '../changes/copy-text.js';
import { LongPress } from '../changes/long-press.js';
import { MessageEditor } from '../changes/message-editor.js';
import { ReplyBar } from '../changes/reply-bar.js';
import { RowMarks } from '../changes/row-marks.js';
import { SavedText } from '../changes/saved-text.js';
import { isComposing, make } from '../views/dom.js';
import { partWords } from '../words/part-words.js';

export class Changes {
  #room;
  #words;
  #frame;
  /** What a screen reader is told of the user's own changes. */
  #report = make('p', { class: 'visually-hidden', role: 'status' });
  #editor;
  #replyBar;
  #marks;
  #savedText;
  /** The ids of the rows that are being deleted. */
  #deleting = new Set();

  /**
   * `room` has the element `host`, `part(id)`, the `PageCustoms` `customs`, and as functions `words`, `chat`, `messages`,
   * `composer`, `moderation`, `nameOf(message)`, and `mayChange()`, which says whether the user may write now.
   */
  constructor(room, { addStyle, keepKeys }) {
    this.#room = room;
    this.words = room.words();
    this.#frame = room.part('chat-frame');
    addStyle(this.#frame.getRootNode(), CHANGES_STYLE);
    this.#frame.append(this.#report);
    const text = (key, values) => this.#words.text(key, values);
    const about = (message) => this.#about(message);
    this.#editor = new MessageEditor({
      ...room, text, keepKeys,
      parts: (key) => this.#words.parts(key),
      permits: (message, written) => this.#permits('edit', message, written),
      report: (key) => this.#tell(key),
      lost: (written) => this.#keepText(written),
    });
    this.#replyBar = new ReplyBar({ ...room, text, about });
    this.#savedText = new SavedText({ ...room, text, copy: (each) => this.#copy(each) });
    this.#marks = new RowMarks({
      ...room, text, about,
      missing: () => room.composer().showHint({ text: text(room.chat().historyError === null ? 'quoteGone' : 'earlierFailed') }),
    });
    new LongPress(room.part('messages-scroll'), (element) => room.messages().finder.choose({ element }));
  }

  /** With the texts of this part. */
  set words(words) {
    this.#words = partWords(words, CHANGE_STRINGS, this.#room.host.strings ?? {});
    this.#replyBar?.show();
    this.#editor?.write();
  }

  // Rows

  /** Shows at a row what its message answers, whether it was edited, and whether it is being deleted. */
  decorate(shown) {
    this.#marks.decorate(shown);
    shown.element.classList.toggle('deleting', this.#deleting.has(shown.row.id));
  }

  /** The message of a row is another one now. */
  updated(shown) {
    this.#editor.updated(shown);
  }

  /** A row goes. */
  removed(shown) {
    this.#editor.removed(shown);
    this.#marks.removed(shown);
  }

  /** Something has changed. */
  changed(changes) {
    this.#replyBar.show();
    if (changes.length > 0) this.#marks.changed();
  }

  /** Senders have other names now. */
  renamed() {
    this.#replyBar.show();
    this.#marks.changed();
  }

  /** The chat is another one. */
  clear() {
    this.#editor.close();
    this.#marks.clear();
    this.#deleting.clear();
    this.#savedText.hide();
    this.#replyBar.show();
  }

  /** What a message says of its changes. */
  factsOf({ editedAt, isErased }) {
    if (isErased || !editedAt) return [];
    return [this.#words.text('editedAt', { time: { text: this.#words.dayAndTime(editedAt) } })];
  }

  // What the user may do

  mayEdit({ id, message }) {
    const { host, mayChange, chat } = this.#room;
    // The text of a file names the file.
    return host.hasEdits && mayChange() && !message.data?.file && chat().canEdit(id);
  }

  mayDelete({ id }) {
    const { host, mayChange, chat } = this.#room;
    return host.hasDeletes && mayChange() && chat().canDelete(id) && !this.#deleting.has(id);
  }

  #mayReply({ id, message }) {
    const { host, mayChange, chat } = this.#room;
    return !message.isErased && host.hasReplies && mayChange() && chat().canReply(id);
  }

  /** The items of the menu of a message. */
  itemsOf(row) {
    const text = (key) => this.#words.text(key);
    const items = [];
    if (row.message.isErased) return items;
    if (this.mayEdit(row)) items.push({ text: text('edit'), act: () => this.#edit(row) });
    if (this.mayDelete(row)) {
      items.push({ text: text('deleteMessage'), isDanger: true, act: (...given) => this.#askDelete(row, ...given) });
    }
    if (row.message.text !== '') items.push({ text: text('copy'), act: () => this.#copy(row.message.text) });
    if (this.#mayReply(row)) items.push({ text: text('reply'), act: () => this.reply(row) });
    return items;
  }

  /** Whether a key on the chosen message has done something. */
  pressed(event, { row, element }) {
    switch (letterOf(event)) {
      case 'e':
        if (!this.mayEdit(row)) return false;
        this.#edit(row);
        break;
      case 'r':
        if (!this.#mayReply(row)) return false;
        this.reply(row);
        break;
      case 'Delete':
        if (!this.mayDelete(row)) return false;
        this.#askDelete(row, element, event);
        break;
      default:
        return false;
    }
    return true;
  }

  /** Whether a key in the input field has done something. */
  takes(event) {
    if (event.type !== 'keydown' || isComposing(event) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) {
      return false;
    }
    if (event.key === 'Escape' && this.#replyBar.isShown) {
      this.#replyBar.end();
      // A page that closes its dialog on Escape does not take this key for its own.
      event.stopPropagation();
    } else if (event.key !== 'ArrowUp' || this.#room.part('composer-text').value !== '' || !this.#editLast()) return false;
    event.preventDefault();
    return true;
  }

  // Actions

  reply(row) {
    // Something has changed since the button was shown.
    if (!this.#mayReply(row)) return;
    this.#room.chat().reply(row.id);
    this.#replyBar.show();
    this.#room.composer().focus();
    this.#say(this.#about(row.message));
  }

  #editLast() {
    const { messages } = this.#room;
    const shown = messages().finder.findLast(({ row }) => row.message?.direction === 'sent' && this.mayEdit(row));
    if (shown !== null) this.#editor.open(shown, { isFromField: true });
    return shown !== null;
  }

  #edit({ id }) {
    const shown = this.#room.messages().finder.rowOf(id);
    if (shown !== null) this.#editor.open(shown);
  }

  async #copy(text) {
    const isCopied = await copyText(text, this.#frame);
    if (isCopied) this.#tell('copied');
    else this.#room.composer().showHint('actionFailed');
  }

  /** With Shift there is no question. `opener` had the focus. */
  #askDelete(row, opener, { type, shiftKey }) {
    const text = (key) => this.#words.text(key);
    const isByKey = type === 'keydown' || opener.matches(':focus-visible');
    if (shiftKey) {
      this.#delete(row, { isByKey });
      return;
    }
    this.#room.moderation().ask({
      title: text('askDeleteOwn'), text: text('explainDeleteOwn'), yes: text('doDelete'), isDanger: true,
      act: () => this.#delete(row, { isByKey }),
      // After a delete, the focus is elsewhere.
      opener: {
        isConnected: true,
        focus: (options) => !this.#deleting.has(row.id) && opener.focus(options),
      },
    });
  }

  async #delete(row, { isByKey }) {
    const { chat, messages, composer, part } = this.#room;
    const { finder } = messages();
    if (!this.#permits('delete', row.message)) return;
    this.#deleting.add(row.id);
    const shown = finder.rowOf(row.id);
    if (shown !== null) this.#grey(shown);
    // Who uses the keyboard goes on with the next message.
    const isChosen = isByKey && shown?.element && (finder.choose(shown, 1) || finder.choose(shown, -1));
    if (!isChosen) part('messages-scroll').focus({ preventScroll: true });
    try {
      await chat().deleteMessage(row.id);
      this.#tell('erased');
    } catch (error) {
      composer().showHint({ text: this.#words.text(causeOfUnchanged(error)) });
    } finally {
      this.#deleting.delete(row.id);
      const now = finder.rowOf(row.id);
      if (now !== null) this.#grey(now);
    }
  }

  #grey(shown) {
    if (shown.element === null) return;
    this.#marks.hush(shown.element);
    this.decorate(shown);
    this.#room.messages().showMenu(shown);
  }

  /** Asks the page. Its reason is shown below the field. */
  #permits(kind, message, text = null) {
    const { customs, composer } = this.#room;
    if (customs.mayChange({ kind, message, text })) return true;
    composer().showHint({ text: customs.refusedBecause ?? this.#words.text('changeRefused') });
    return false;
  }

  /** The message that the user was editing is gone: what they have written is not. */
  #keepText(text) {
    const { host, composer, mayChange } = this.#room;
    if (host.draft === '' && mayChange()) {
      host.draft = text;
      composer().showHint({ text: this.#words.text('editLost') });
      composer().focus();
    } else this.#savedText.show(text);
  }

  /** “Reply to Ada”. */
  #about(message) {
    if (message.direction === 'sent') return this.#words.text('replyToOwn');
    return this.#words.text('replyTo', { name: this.#room.nameOf(message) });
  }

  #tell(key) {
    this.#say(this.#words.text(key));
  }

  /** The same sentence twice is said twice. */
  #say(sentence) {
    this.#report.textContent = '';
    setTimeout(() => (this.#report.textContent = sentence), 50);
  }
}

/** The letter of a key, also on a keyboard with other letters; else its name. */
function letterOf({ key, code }) {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  return [...(key ?? '')].length === 1 && /^Key[A-Z]$/.test(code ?? '') ? code.slice(3).toLowerCase() : key;
}
