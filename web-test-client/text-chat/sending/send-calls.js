/** Carries out what the user and the program do with messages that are to be sent; see the calls of `TextChatComponent`. */
export class SendCalls {
  #chat;
  #rules;
  #effects;

  constructor(chat, rules, effects) {
    this.#chat = chat;
    this.#rules = rules;
    this.#effects = effects;
  }

  changeDraft(newText, kind) {
    const { composer } = this.#chat;
    const before = composer.text;
    const result = composer.edit(newText);
    if (result.isAccepted && before !== composer.text) {
      const activity = { kind, text: composer.text };
      this.#effects.note();
      this.#effects.carryOut({ typing: [activity], activity });
    }
    return result;
  }

  enqueue(now, localId, content) {
    const { composer, timeline, typing, onMessageReadyToSend } = this.#chat;
    this.#effects.noteRestriction(now);
    const isDraft = (content.text ?? null) === null;
    const message = this.#rules.message(now, localId, content);
    const refusal = this.#rules.refusalOf(message, isDraft);
    if (refusal !== null) return refusal;
    if (timeline.ownMessage(localId)) return { reason: 'localIdTaken' };
    message.typingN = typing?.typingN ?? null;
    if (onMessageReadyToSend !== null && !onMessageReadyToSend(message)) return { reason: 'byDelegate' };
    if (isDraft) composer.clear();
    typing?.handle({ kind: 'messageSubmitted' });
    message.typingN = typing?.typingN ?? null;
    this.#effects.carryOut(this.#rules.submit(message, now));
    return null;
  }

  cancel(localId) {
    const changes = this.#rules.sending.cancel(localId);
    if (changes !== null) this.#effects.carryOut({ changes });
    return changes !== null;
  }

  retry(localId) {
    const { sending, isUp } = this.#rules;
    if (!sending.hasFailed(localId)) return Promise.resolve(sending.outcomeOf(localId) ?? { outcome: 'stillSending' });
    if (!isUp) return Promise.resolve({ outcome: 'refused', refusal: { reason: 'notConnected' } });
    this.#effects.carryOut({ changes: sending.retry(localId) });
    return this.deliveryOf(localId);
  }

  deliveryOf(localId) {
    return this.#effects.wait(() => this.#rules.sending.deliveryOf(localId));
  }
}
