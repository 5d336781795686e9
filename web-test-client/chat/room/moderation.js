import { ActionMenu } from '../views/action-menu.js';
import { loadPart } from '../parts/load-part.js';
import { addStyle } from '../style/shared-style.js';
import { QuestionView } from '../views/question-view.js';
import { partWords } from '../words/part-words.js';

/** A day, after which a timer looks again: the longest wait of a timer in browsers is 24.8 days. */
export const LONGEST_WAIT = 86_400_000;

/**
 * What moderators do in a chat: the menu of a message and of a person, the questions before an action, and the list of
 * what holds. Whoever may not moderate sees none of it: it loads when a moderator connects.
 *
 * A person is `{user, connectionId, name}`; `user` is null for a guest.
 */
export class Moderation {
  /** The texts of the element, and with those of moderators once they are loaded. */
  #given;
  #words;
  #ownStrings;
  #part;
  #loaded;
  /** The texts of moderators by language, or null. */
  #texts = null;
  #nameOfUser;
  #tell;
  #now;
  #menu;
  #question;
  /** The list of what holds, and the items of menus; or null. */
  #held = null;
  #items = null;
  #session = null;
  #listeners = null;
  #restrictions = [];
  #timer = null;
  /** Increases with each reading: only the newest answer counts. */
  #reading = 0;

  /**
   * `nameOfUser({user, senderId})` is the name of a person, or null. `tell(text)` shows a sentence to the moderator, and
   * `now()` is the server's time. `strings()` are the texts of the page, and `loaded()` is called when the user can begin.
   */
  constructor(part, { words, nameOfUser, tell, now, strings, loaded }) {
    this.#part = part;
    this.#ownStrings = strings;
    this.#loaded = loaded;
    this.words = words;
    this.#nameOfUser = nameOfUser;
    this.#tell = tell;
    this.#now = now;
    this.#menu = new ActionMenu(part);
    this.#question = new QuestionView(part);
  }

  set words(words) {
    this.#given = words;
    this.#words = this.#texts === null ? words : partWords(words, this.#texts, this.#ownStrings() ?? {});
    if (this.#held !== null) this.#held.words = this.#words;
  }

  /** Whether the user may moderate, and can. A session of OpenTok's own library cannot be moderated. */
  get isActive() {
    return this.#held !== null && this.#isModerator;
  }

  get #isModerator() {
    const { capabilities, moderate } = this.#session ?? {};
    return typeof moderate === 'function' && capabilities?.forceDisconnect === 1;
  }

  async #load() {
    let part;
    try {
      part = await loadPart('moderators');
    } catch (error) {
      console.error('<signalbox-chat>: its part for moderators could not be loaded.', error);
      return;
    }
    if (this.#held !== null) return;
    this.#texts = part.MODERATOR_STRINGS;
    this.words = this.#given;
    addStyle(this.#part('chat-frame').getRootNode(), part.MODERATORS_STYLE);
    this.#items = new part.ModeratorItems({
      words: () => this.#words,
      session: () => this.#session,
      ask: (question) => this.ask(question),
      carryOut: (act) => this.#carryOut(act),
    });
    this.#held = new part.HeldView(this.#part, {
      words: this.#words,
      now: this.#now,
      nameOf: ({ user, connectionId }) => this.#nameOf({ user, connectionId }),
      undo: (restriction, button) => this.#undo(restriction, button),
      freeze: (button, isFrozen) => this.#freeze(button, isFrozen),
    });
    this.#loaded();
  }

  // The session

  attach(session) {
    this.release();
    this.#session = session;
    this.#listeners = { moderated: () => this.#read() };
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
  }

  release() {
    if (this.#session === null) return;
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
    this.#session = null;
    this.ended();
  }

  /** The session is connected, for the first time or again. */
  async connected() {
    if (this.#held === null && this.#isModerator) await this.#load();
    if (this.#held === null) return;
    this.#held.isShown = this.isActive;
    this.#read();
  }

  /** The connection has ended. */
  ended() {
    this.#reading += 1;
    clearTimeout(this.#timer);
    this.#menu.close();
    this.#question.close();
    if (this.#held !== null) this.#held.isShown = false;
    this.#show([]);
  }

  async #read() {
    if (!this.isActive) return;
    this.#reading += 1;
    const own = this.#reading;
    const held = await this.#session.restrictions().catch(() => null);
    if (held !== null && own === this.#reading) this.#show(held);
  }

  /** What has ended by itself goes from the list at its time. */
  #show(held) {
    const now = this.#now();
    this.#restrictions = held.filter(({ until }) => until === undefined || until > now);
    this.#held?.show(this.#restrictions);
    clearTimeout(this.#timer);
    const next = Math.min(...this.#restrictions.map(({ until }) => until ?? Infinity));
    if (next === Infinity) return;
    this.#timer = setTimeout(() => this.#show(this.#restrictions), Math.min(next - now, LONGEST_WAIT));
  }

  // The menus

  /** Whether a message has a menu for this user. */
  hasMenu({ seq, isErased, direction, user, senderId }) {
    if (!this.isActive || seq === null) return false;
    return (this.#keepsMessages && !isErased) || (direction === 'received' && (user !== null || senderId !== null));
  }

  /** Asks before something that cannot be undone, see `QuestionView`. */
  ask(question) {
    this.#question.ask(question);
  }

  /**
   * `items` are other commands, before those of a moderator, and `hasDelete` says that they delete the message. Returns
   * whether there are any.
   */
  openMessageMenu(message, name, button, items = [], { hasDelete = false } = {}) {
    const person = { user: message.user, connectionId: message.senderId, name };
    const isOther = message.direction === 'received' && (person.user !== null || person.connectionId !== null);
    const all = [...items];
    if (this.hasMenu(message)) {
      if (this.#keepsMessages && !message.isErased && !hasDelete) all.push(this.#items.ofDelete(message.seq, name));
      if (isOther) all.push(...this.#items.ofPerson(person));
    }
    const label = this.#words.text(message.direction === 'sent' ? 'menuOfOwn' : 'menuOfMessage', { name });
    if (all.length > 0) this.#menu.open(button, label, all);
    return all.length > 0;
  }

  openPersonMenu(person, button, items) {
    const all = [...items, ...(this.isActive ? this.#items.ofPerson(person) : [])];
    this.#menu.open(button, this.#words.text('menuOfPerson', { name: person.name }), all);
  }

  get #keepsMessages() {
    return this.#session?.hasHistory === true;
  }

  #nameOf({ user = null, connectionId = null }) {
    if (user !== null) return this.#nameOfUser({ user, senderId: connectionId }) ?? user;
    return connectionId === null ? '' : (this.#nameOfUser({ user: null, senderId: connectionId }) ?? '');
  }

  // The actions

  #freeze(button, isFrozen) {
    if (isFrozen) {
      this.#carryOut(() => this.#session.moderate({ action: 'unfreeze' }));
      return;
    }
    this.#menu.open(button, this.#words.text('freeze'), this.#items.ofFreeze);
  }

  #undo({ kind, ref }) {
    const undos = { mute: { action: 'unmute', ref }, ban: { action: 'unban', ref }, freeze: { action: 'unfreeze' } };
    this.#carryOut(() => this.#session.moderate(undos[kind]));
  }

  async #carryOut(act) {
    try {
      await act();
    } catch (error) {
      // It has ended meanwhile, or the guest has left.
      this.#tell(this.#words.text(error.code === 404 || error.code === 1011 ? 'actionTooLate' : 'actionFailed'));
    }
    // The event comes before the answer. A lost one is made up for.
    this.#read();
  }
}
