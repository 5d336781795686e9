import { refuse, refused } from './changing.js';
import { Reacting } from './reacting.js';

/** So many pages are loaded to find the message that another one answers. */
const QUOTE_PAGE_COUNT = 10;

/** Carries out what the user does with messages that are there; see the calls of `TextChatComponent`. */
export class ChangeCalls {
  #chat;
  #rules;
  #effects;

  constructor(chat, rules, effects) {
    this.#chat = chat;
    this.#rules = rules;
    this.#effects = effects;
    this.reacting = new Reacting(chat, rules, (told) => effects.carryOut({ changes: rules.reacted(told) }));
  }

  async edit(id, text) {
    const { timeline, channel } = this.#chat;
    const request = this.#rules.changing.edit(id, text);
    const before = timeline.messageOf(id).version ?? 0;
    const isDone = () => {
      const message = timeline.messageOf(id);
      return message?.version > before && message.text === text;
    };
    const settled = (answer) => this.#rules.edited({ ...request, seq: answer?.seq ?? 0 }, Date.now());
    await this.#effects.change(channel.change(request), isDone, settled);
  }

  async erase(id) {
    const { timeline, channel } = this.#chat;
    const request = this.#rules.changing.erase(id);
    const isDone = () => timeline.messageOf(id)?.isErased ?? true;
    await this.#effects.change(channel.erase(request), isDone, () => timeline.erase(request));
  }

  async loadQuoted(message) {
    const chat = this.#chat;
    for (let pageCount = 0; ; pageCount += 1) {
      const quote = chat.quoteOf(message);
      if (quote?.state !== 'earlier') return quote?.id ?? null;
      if (pageCount === QUOTE_PAGE_COUNT || !chat.loadEarlier()) return null;
      await this.#effects.wait(() => (chat.isLoadingEarlier ? null : true));
      if (chat.historyError !== null) return null;
    }
  }

  /** Who has reacted, with the names that are known. */
  async reactors(id, key) {
    const { timeline, channel, names } = this.#chat;
    refuse(this.#rules.changing.refusalOfAny(id));
    if (!channel.reactors) throw refused({ reason: 'notPermitted' });
    const reactors = await channel.reactors({ ref: timeline.seqOf(id), ...(key === null ? {} : { key }) });
    const named = (user) => ({ user, name: names.nameOfUser(user) });
    return reactors.map((each) => ({ key: each.key, count: each.count, users: each.users.map(named) }));
  }
}
