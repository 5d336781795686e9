import { decodeKept } from '../wire/chat-wire-form.js';
import { HistoryReader } from './history-reader.js';

/** Reads the history of a chat's channel into its `timeline`, page by page, as a `HistoryReader` decides. */
export class HistoryLoading {
  /** It wants to know the events of the connection, and what has arrived. */
  reader = new HistoryReader();
  #timeline;
  #names;
  #channel;
  #isOwn;
  #report;
  #settled;
  /** What `historyChanged` has told last. */
  #told = '[null,false,null]';

  /**
   * `channel()` is the channel of now, or null. `isOwn(connection)` says whether a message of it is one's own, and
   * `settled(localIds)` gets the local ids of those that the session has, it turns out. `report(changes, activity)`
   * tells of changed rows. `names` is a `NameBook`.
   */
  constructor({ timeline, names, channel, isOwn, report, settled }) {
    this.#timeline = timeline;
    this.#names = names;
    this.#channel = channel;
    this.#isOwn = isOwn;
    this.#report = report;
    this.#settled = settled;
  }

  get hasEarlier() {
    if (!this.reader.hasHistory || !this.reader.hasRead) return null;
    return !this.#timeline.hasBeginning && this.#timeline.hasRoom;
  }

  loadEarlier() {
    if (this.hasEarlier === false || !this.reader.loadEarlier()) return false;
    this.readOn();
    return true;
  }

  /** Asks for the next page, if there is one to read. */
  readOn() {
    const task = this.#channel() === null ? null : this.reader.next(this.#timeline.floor);
    if (task !== null) this.#read(task);
    this.tell();
  }

  /** The page that the connect has asked for. Returns the changes of the rows. */
  answerToConnect(page) {
    return this.#merge(this.reader.answerToConnect(page, (seq) => this.#timeline.knows(seq)));
  }

  /** Tells once that `hasEarlier`, `isLoadingEarlier` or `error` has changed. */
  tell() {
    const told = JSON.stringify([this.hasEarlier, this.reader.isLoadingEarlier, this.reader.error]);
    if (told === this.#told) return;
    this.#told = told;
    this.#report([], { kind: 'historyChanged' });
  }

  async #read(task) {
    let page;
    try {
      page = await this.#channel().history(task.request);
    } catch (error) {
      const { code = null, message } = error;
      if (!this.reader.fail(task, { code, message })) return;
      const gap = this.reader.unreadGap;
      if (gap !== null) this.#report(this.#timeline.noteGap(gap));
      this.readOn();
      return;
    }
    const place = this.reader.answer(task, page, (seq) => this.#timeline.knows(seq));
    if (place === null) return;
    this.#merge(place);
  }

  /**
   * A page ends no typing, reports no message as received, and does not count as unread, unless it brings what an
   * absence has missed.
   */
  #merge(place) {
    const settled = [];
    const messages = [];
    for (const kept of place.messages) {
      const message = decodeKept(kept);
      if (message === null) continue;
      this.#names.noteMessage(message);
      if (this.#isOwn(kept.from)) {
        message.direction = 'sent';
        if (this.#timeline.ownMessage(message.localId)?.seq === null) settled.push(message.localId);
      }
      messages.push(message);
    }
    const changes = this.#report(this.#timeline.merge(messages, place), { kind: 'historyChanged' });
    this.#settled(settled);
    this.readOn();
    return changes;
  }
}
