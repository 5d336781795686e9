/** Tells a program of changes and activities, and of the unread count when it has become another one. */
export class ChangeReports {
  #changed;
  #unreadCount;
  #lastUnreadCount = 0;

  /** `changed()` is the program's function of now, and `unreadCount()` the present count. */
  constructor({ changed, unreadCount }) {
    this.#changed = changed;
    this.#unreadCount = unreadCount;
  }

  tell(changes, activity) {
    const count = this.#unreadCount();
    const isUnread = this.#lastUnreadCount !== count;
    this.#lastUnreadCount = count;
    if (changes.length > 0 || activity !== null) this.#call(changes, activity);
    if (isUnread) this.#call([], { kind: 'unread', count: this.#unreadCount() });
  }

  /** An error of the page must not stop the sending of messages. */
  #call(changes, activity) {
    try {
      this.#changed()(changes, activity);
    } catch (error) {
      // Node has no `reportError`.
      (globalThis.reportError ?? console.error)(error);
    }
  }
}
