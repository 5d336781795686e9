/** How long a moderator may mute or freeze, in seconds; null: until it is lifted. */
const DURATIONS = [600, 3600, null];

/** What a moderator can do with a message, a person and the session, as items of menus, each with its question. */
export class ModeratorItems {
  #words;
  #session;
  #ask;
  #carryOut;

  /** `words()` and `session()` are those of now, `ask(question)` is as in `QuestionView`; `carryOut(act)` tells an error. */
  constructor({ words, session, ask, carryOut }) {
    this.#words = words;
    this.#session = session;
    this.#ask = ask;
    this.#carryOut = carryOut;
  }

  get #keepsMessages() {
    return this.#session().hasHistory === true;
  }

  get ofFreeze() {
    return DURATIONS.map((seconds) => this.#freezeItem(seconds));
  }

  ofPerson(person) {
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
    const { connections } = this.#session();
    if (user === null) return [connections.get(connectionId)].filter((each) => each !== undefined);
    return connections.where((each) => each.user === user);
  }

  // The actions

  ofDelete(ref, name) {
    return this.#item('deleteMessage', {}, 'askDelete', { name }, {
      text: 'explainDelete', yes: 'doDelete', isDanger: true, act: () => this.#session().erase({ ref }),
    });
  }

  #deleteAllItem({ user, name }) {
    return this.#item('deleteAll', { name }, 'askDeleteAll', { name }, {
      text: 'explainDelete', yes: 'doDelete', isDanger: true, act: () => this.#session().erase({ user }),
    });
  }

  #muteItem({ user, name }, seconds) {
    const time = this.#timeOf(seconds);
    const [item, title] = seconds === null ? ['muteForever', 'askMuteForever'] : ['mute', 'askMute'];
    return this.#item(item, time, title, { name, ...time }, {
      text: 'explainMute', yes: 'doMute', reason: 'reason',
      act: ({ reason }) => this.#session().moderate({ action: 'mute', user, seconds, reason }),
    });
  }

  #removeItem(person) {
    return this.#item('remove', {}, 'askRemove', { name: person.name }, {
      text: 'explainRemove', yes: 'doRemove',
      act: () => Promise.all(this.#connectionsOf(person).map((each) => this.#session().forceDisconnect(each))),
    });
  }

  #banItem({ user, connectionId, name }) {
    const isGuest = user === null;
    return this.#item('ban', {}, 'askBan', { name }, {
      text: isGuest ? 'explainBanGuest' : 'explainBan', yes: 'doBan', isDanger: true, reason: 'reason',
      also: isGuest || !this.#keepsMessages ? null : this.#words().text('alsoDelete', { name }),
      act: ({ reason, also }) => this.#session().moderate({
        action: 'ban', ...(isGuest ? { connectionId } : { user }), reason, eraseMessages: also,
      }),
    });
  }

  #timeOf(seconds) {
    return seconds === null ? {} : { time: { text: this.#words().duration(seconds) } };
  }

  /** A command with a question before it. `reason` is the key of the label of the field for a reason. */
  #item(key, values, title, titleValues, { text, yes, act, also = null, reason = null, isDanger = false }) {
    const words = this.#words();
    return {
      text: words.text(key, values),
      isDanger,
      act: (opener) => this.#ask({
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

  #freezeItem(seconds) {
    const time = this.#timeOf(seconds);
    const [item, title, text] = seconds === null
      ? ['freezeForever', 'askFreeze', 'explainFreeze']
      : ['freezeFor', 'askFreezeFor', 'explainFreezeFor'];
    return this.#item(item, time, title, time, {
      text, yes: 'doFreeze', reason: 'reasonForAll',
      act: ({ reason }) => this.#session().moderate({ action: 'freeze', seconds, reason }),
    });
  }
}
