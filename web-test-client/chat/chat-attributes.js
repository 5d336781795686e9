/** What the element connects with. `key` is the older name of `api-key`. */
export const CREDENTIALS = ['session', 'api-key', 'key', 'token'];

const MAX_LENGTH = 1000;

/** Programs that render pages on a server load this module there, where there are no elements. */
const Base = typeof HTMLElement === 'function' ? HTMLElement : class {};

/**
 * The attributes of `<signalbox-chat>` as properties. Frameworks set a property to undefined when a program no longer
 * gives it: the attribute is removed then.
 */
export class ChatAttributes extends Base {
  static observedAttributes = [
    ...CREDENTIALS, 'server', 'alias', 'sender-id', 'max-length', 'look', 'placeholder', 'typing', 'adapt', 'emoji', 'markup', 'edits',
    'deletes', 'replies', 'reactions', 'receipts',
  ];

  /** The id of the session to connect to. */
  get session() {
    return this.getAttribute('session');
  }

  set session(id) {
    setOrRemove(this, 'session', id);
  }

  /** The API key: the attribute `api-key`, or without one `key`, which frameworks keep for themselves. */
  get apiKey() {
    const given = ['api-key', 'key'].map((name) => this.getAttribute(name));
    return given.find((key) => key?.trim()) ?? null;
  }

  set apiKey(key) {
    setOrRemove(this, 'api-key', key);
  }

  get token() {
    return this.getAttribute('token');
  }

  set token(token) {
    setOrRemove(this, 'token', token);
  }

  /** The URL of the server; null: that of the script. */
  get server() {
    return this.getAttribute('server');
  }

  set server(server) {
    setOrRemove(this, 'server', server);
  }

  /** The longest message, in characters. */
  get maxLength() {
    const given = this.getAttribute('max-length')?.trim() ?? '';
    return /^\d+$/.test(given) && Number(given) > 0 ? Number(given) : MAX_LENGTH;
  }

  set maxLength(length) {
    setOrRemove(this, 'max-length', length);
  }

  /** The sender that one's messages name; null: the connection's id. */
  get senderId() {
    return this.getAttribute('sender-id');
  }

  set senderId(id) {
    setOrRemove(this, 'sender-id', id);
  }

  /** The name that one's messages carry; null: the name in the token. */
  get alias() {
    return this.getAttribute('alias');
  }

  set alias(alias) {
    setOrRemove(this, 'alias', alias);
  }

  /** `bubbles` or `opentok`. */
  get look() {
    return this.getAttribute('look') === 'opentok' ? 'opentok' : 'bubbles';
  }

  set look(look) {
    setOrRemove(this, 'look', look);
  }

  /** `light`, `dark`, or null: as the `color-scheme` of the page. */
  get scheme() {
    return this.getAttribute('scheme');
  }

  set scheme(scheme) {
    setOrRemove(this, 'scheme', scheme);
  }

  /** The text of the empty input field; null: the element's own. */
  get placeholder() {
    return this.getAttribute('placeholder');
  }

  set placeholder(text) {
    setOrRemove(this, 'placeholder', text);
  }

  /** Whether others see that the user types. */
  get isTypingShown() {
    return this.getAttribute('typing') !== 'off';
  }

  set isTypingShown(isShown) {
    setOrRemove(this, 'typing', isShown ?? true ? null : 'off');
  }

  /** Whether one's messages are bare text while a program is there that writes bare text, as OpenTok's first sample. */
  get isAdaptive() {
    return this.getAttribute('adapt') !== 'off';
  }

  set isAdaptive(value) {
    setOrRemove(this, 'adapt', value ?? true ? null : 'off');
  }

  /** Whether the user gets a button with emoji, and completion of `:shortcodes:`. */
  get hasEmoji() {
    return this.getAttribute('emoji') !== 'off';
  }

  set hasEmoji(value) {
    setOrRemove(this, 'emoji', value ?? true ? null : 'off');
  }

  /** Whether the user may edit their messages, where the server permits it. */
  get hasEdits() {
    return this.getAttribute('edits') !== 'off';
  }

  set hasEdits(value) {
    setOrRemove(this, 'edits', value ?? true ? null : 'off');
  }

  /** Whether the user may delete their messages, where the server permits it. */
  get hasDeletes() {
    return this.getAttribute('deletes') !== 'off';
  }

  set hasDeletes(value) {
    setOrRemove(this, 'deletes', value ?? true ? null : 'off');
  }

  /** Whether the user may answer a message. */
  get hasReplies() {
    return this.getAttribute('replies') !== 'off';
  }

  set hasReplies(value) {
    setOrRemove(this, 'replies', value ?? true ? null : 'off');
  }

  /** Whether the user sees what users react with, and may react. */
  get hasReactions() {
    return this.getAttribute('reactions') !== 'off';
  }

  set hasReactions(value) {
    setOrRemove(this, 'reactions', value ?? true ? null : 'off');
  }

  /** Whether the user sees who has read their messages, where the server tells it. */
  get hasReceipts() {
    return this.getAttribute('receipts') !== 'off';
  }

  set hasReceipts(value) {
    setOrRemove(this, 'receipts', value ?? true ? null : 'off');
  }

  /** Whether `**bold**`, `*italic*`, `code`, blocks of code and lists in messages are shown as such. */
  get hasMarkup() {
    return this.getAttribute('markup') === 'on';
  }

  set hasMarkup(value) {
    setOrRemove(this, 'markup', value ? 'on' : null);
  }

  /**
   * A program may set properties before the script is loaded. Such a property belongs to the object, and hides the one
   * of the class. Sets each of them again, except those that can only be read.
   */
  adoptProperties() {
    for (const name of Object.keys(this)) {
      const { get, set } = accessorOf(this, name) ?? {};
      if (get === undefined) continue;
      const value = this[name];
      delete this[name];
      if (set !== undefined) this[name] = value;
    }
  }
}

/** The class's descriptor of this name. */
function accessorOf(element, name) {
  for (let level = Object.getPrototypeOf(element); level !== Base.prototype; level = Object.getPrototypeOf(level)) {
    const found = Object.getOwnPropertyDescriptor(level, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Templates write `condition && value`: false is no value, either. */
function setOrRemove(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value);
}
