/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** While there are unread messages: how often to look whether the page shows the chat by now. */
const LOOK_MILLISECONDS = 500;

/** Knows whether the user sees the newest message, and marks the messages as read. */
export class ReadingWatch {
  #host;
  #messages;
  #chat;
  #now;
  #readTimer = null;
  #lookTimer = null;

  /** `host` is the element, and `messages` the view. `chat()` is the component or null, `now()` the server's time. */
  constructor(host, messages, { chat, now }) {
    this.#host = host;
    this.#messages = messages;
    this.#chat = chat;
    this.#now = now;
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  note() {
    const chat = this.#chat();
    if (chat === null) return;
    this.look();
    this.#messages.showUnread(chat.unreadCount);
    if (this.#host.ownerDocument.hidden) chat.typing.leave();
    this.#messages.nameDays(this.#now());
    clearTimeout(this.#readTimer);
    this.#readTimer = null;
    // Wait, so that the user sees in the divider where the unread messages begin.
    if (chat.isVisible) this.#readTimer = setTimeout(() => this.#markRead(), READ_MILLISECONDS);
  }

  /** What was there before may be unread by the user's marker, while the user looks at it. */
  noteUnread() {
    this.look();
    const chat = this.#chat();
    if (chat.isVisible && chat.unreadCount > 0 && this.#readTimer === null) this.note();
  }

  #markRead() {
    this.#readTimer = null;
    this.look();
    if (this.#chat().isVisible) this.#chat().markRead();
  }

  /** Notes whether the user sees the newest message now. A page may show and hide the chat without an event. */
  look() {
    const chat = this.#chat();
    const { isConnected } = this.#host;
    chat.isVisible = isConnected && this.#messages.isSeen;
    clearTimeout(this.#lookTimer);
    if (chat.isVisible || chat.unreadCount === 0 || !isConnected || !this.#messages.mayBeSeen) return;
    this.#lookTimer = setTimeout(() => {
      this.look();
      if (this.#chat().isVisible) this.note();
    }, LOOK_MILLISECONDS);
  }

  /** The element has left its page. */
  stop() {
    clearTimeout(this.#readTimer);
    clearTimeout(this.#lookTimer);
  }
}
