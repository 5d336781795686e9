import { ActionMenu } from '../views/action-menu.js';
import { loadPart } from '../parts/load-part.js';
import { QuestionView } from '../views/question-view.js';
import { partWords } from '../words/part-words.js';

/** How long a moderator may mute or freeze, in seconds; null: until it is lifted. */
const DURATIONS = [600, 3600, null];

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
  /** The list of what holds, or null. */
  #held = null;
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
      if (this.#keepsMessages && !message.isErased && !hasDelete) all.push(this.#deleteItem(message.seq, name));
      if (isOther) all.push(...this.#personItems(person));
    }
    const label = this.#words.text(message.direction === 'sent' ? 'menuOfOwn' : 'menuOfMessage', { name });
    if (all.length > 0) this.#menu.open(button, label, all);
    return all.length > 0;
  }

  openPersonMenu(person, button, items) {
    const all = [...items, ...(this.isActive ? this.#personItems(person) : [])];
    this.#menu.open(button, this.#words.text('menuOfPerson', { name: person.name }), all);
  }

  get #keepsMessages() {
    return this.#session?.hasHistory === true;
  }

  #personItems(person) {
    const isGuest = person.user === null;
    const isHere = this.#connectionsOf(person).length > 0;
    return [
      // A guest comes back with another connection: there is nobody to mute.
      ...(isGuest ? [] : DURATIONS.map((seconds) => this.#muteItem(person, seconds))),
      ...(isHere ? [this.#removeItem(person)] : []),
      ...(isGuest && !isHere ? [] : [this.#banItem(person)]),
      ...(isGuest || !this.#keepsMessages ? [] : [this.#deleteAllItem(person)]),
    ];
  }

  #connectionsOf({ user, connectionId }) {
    const { connections } = this.#session;
    if (user === null) return [connections.get(connectionId)].filter((each) => each !== undefined);
    return connections.where((each) => each.user === user);
  }

  #nameOf({ user = null, connectionId = null }) {
    if (user !== null) return this.#nameOfUser({ user, senderId: connectionId }) ?? user;
    return connectionId === null ? '' : (this.#nameOfUser({ user: null, senderId: connectionId }) ?? '');
  }

  // The actions

  #deleteItem(ref, name) {
    return this.#item('deleteMessage', {}, 'askDelete', { name }, {
      text: 'explainDelete', yes: 'doDelete', isDanger: true, act: () => this.#session.erase({ ref }),
    });
  }

  #deleteAllItem({ user, name }) {
    return this.#item('deleteAll', { name }, 'askDeleteAll', { name }, {
      text: 'explainDelete', yes: 'doDelete', isDanger: true, act: () => this.#session.erase({ user }),
    });
  }

  #muteItem({ user, name }, seconds) {
    const time = this.#timeOf(seconds);
    const [item, title] = seconds === null ? ['muteForever', 'askMuteForever'] : ['mute', 'askMute'];
    return this.#item(item, time, title, { name, ...time }, {
      text: 'explainMute', yes: 'doMute', reason: 'reason',
      act: ({ reason }) => this.#session.moderate({ action: 'mute', user, seconds, reason }),
    });
  }

  #removeItem(person) {
    return this.#item('remove', {}, 'askRemove', { name: person.name }, {
      text: 'explainRemove', yes: 'doRemove',
      act: () => Promise.all(this.#connectionsOf(person).map((each) => this.#session.forceDisconnect(each))),
    });
  }

  #banItem({ user, connectionId, name }) {
    const isGuest = user === null;
    return this.#item('ban', {}, 'askBan', { name }, {
      text: isGuest ? 'explainBanGuest' : 'explainBan', yes: 'doBan', isDanger: true, reason: 'reason',
      also: isGuest || !this.#keepsMessages ? null : this.#words.text('alsoDelete', { name }),
      act: ({ reason, also }) => this.#session.moderate({
        action: 'ban', ...(isGuest ? { connectionId } : { user }), reason, eraseMessages: also,
      }),
    });
  }

  #timeOf(seconds) {
    return seconds === null ? {} : { time: { text: this.#words.duration(seconds) } };
  }

  /** A command with a question before it. `reason` is the key of the label of the field for a reason. */
  #item(key, values, title, titleValues, { text, yes, act, also = null, reason = null, isDanger = false }) {
    const words = this.#words;
    return {
      text: words.text(key, values),
      isDanger,
      act: (opener) => this.#question.ask({
        title: words.text(title, titleValues),
        text: words.text(text, titleValues),
        yes: words.text(yes),
        reason: reason === null ? null : words.text(reason, titleValues),
        also,
        isDanger,
        opener,
        act: (given) => this.#carryOut(() => act(given)),
      }),
    };
  }

  #freeze(button, isFrozen) {
    if (isFrozen) {
      this.#carryOut(() => this.#session.moderate({ action: 'unfreeze' }));
      return;
    }
    this.#menu.open(button, this.#words.text('freeze'), DURATIONS.map((seconds) => this.#freezeItem(seconds)));
  }

  #freezeItem(seconds) {
    const time = this.#timeOf(seconds);
    const [item, title, text] = seconds === null
      ? ['freezeForever', 'askFreeze', 'explainFreeze']
      : ['freezeFor', 'askFreezeFor', 'explainFreezeFor'];
    return this.#item(item, time, title, time, {
      text, yes: 'doFreeze', reason: 'reasonForAll',
      act: ({ reason }) => this.#session.moderate({ action: 'freeze', seconds, reason }),
    });
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
