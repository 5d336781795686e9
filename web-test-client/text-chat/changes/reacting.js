import { refuse, refused } from './changing.js';

/**
 * What the user reacts with. Of each message one request is on its way, and only the newest set waits behind it. After a
 * failure it is not sent: its sets were made from the one that failed.
 */
export class Reacting {
  #chat;
  #rules;
  #settled;
  /** Row id → `{keys, next}`: the set that is on its way, and `{keys, ends}`, which waits; or null. */
  #turns = new Map();

  /** `settled(told)` takes over a set that the server has, `{ref, keys}`. */
  constructor(chat, rules, settled) {
    this.#chat = chat;
    this.#rules = rules;
    this.#settled = settled;
  }

  /** Why the user cannot react to this row's message: `{reason}`; null: as far as is known, they can. */
  refusalOf(id) {
    const { channel } = this.#chat;
    const isUser = (channel?.user ?? null) !== null;
    return this.#rules.changing.refusalOfAny(id, isUser && 'react');
  }

  /** Adds the key to the user's set, or takes it away. Promises that the server has it. */
  toggle(id, key) {
    refuse(this.refusalOf(id));
    return new Promise((resolve, reject) => {
      const turn = this.#turns.get(id) ?? null;
      const end = { resolve, reject };
      const keys = toggled(turn?.next?.keys ?? turn?.keys ?? this.#chat.timeline.ownReactionsOf(id), key);
      if (turn === null) this.#send(id, { keys, ends: [end] });
      else turn.next = { keys, ends: [...(turn.next?.ends ?? []), end] };
    });
  }

  async #send(id, { keys, ends }) {
    const { channel, timeline } = this.#chat;
    const ref = timeline.seqOf(id);
    const turn = { keys, next: null };
    this.#turns.set(id, turn);
    try {
      await channel.react({ ref, keys });
      this.#settled({ ref, keys });
    } catch (error) {
      this.#turns.delete(id);
      for (const { reject } of [...ends, ...(turn.next?.ends ?? [])]) reject(error);
      return;
    }
    this.#turns.delete(id);
    for (const { resolve } of ends) resolve();
    if (turn.next !== null) this.#follow(id, keys, turn.next);
  }

  #follow(id, known, next) {
    const refusal = this.refusalOf(id);
    for (const { resolve, reject } of next.ends) {
      if (refusal !== null) reject(refused(refusal));
      else if (areSame(known, next.keys)) resolve();
    }
    if (refusal === null && !areSame(known, next.keys)) this.#send(id, next);
  }
}

function toggled(keys, key) {
  return keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key];
}

function areSame(some, others) {
  return some.length === others.length && some.every((key) => others.includes(key));
}
