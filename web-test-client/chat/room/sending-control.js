import { newLocalId } from '../../text-chat/index.js';

/** Sends what the user and the program write, and shows why something was not sent. */
export class SendingControl {
  #room;

  /** `room` has the functions `chat`, `messages`, `composer`, `restriction` and `now`, and the `PageCustoms` `customs`. */
  constructor(room) {
    this.#room = room;
  }

  /** Sends the draft, or the content of the page, and promises the outcome. */
  async send(content) {
    const { chat, messages, composer, restriction, customs, now } = this.#room;
    const result = chat().send(now(), newLocalId(), content);
    messages().scrollToEnd();
    const { outcome, refusal } = await result;
    // A message that failed holds back those behind it.
    messages().showHeld();
    if (outcome === 'refused' && refusal.reason === 'byDelegate') {
      const { refusedBecause } = customs;
      composer().showHint(refusedBecause === null ? 'notSent' : { text: refusedBecause });
    }
    restriction().noteRole();
    composer().isReadOnly = restriction().isReadOnly;
    // A refusal tells the session what holds, without an event.
    restriction().check();
    composer().show();
    return result;
  }

  /** What rows do with messages that are not sent yet. */
  get calls() {
    const { chat } = this.#room;
    return {
      retry: (localId) => this.#retry(localId),
      edit: (localId) => this.#edit(localId),
      discard: (localId) => chat().discard(localId),
      pass: () => chat().passFailed(),
      isHeld: (localId) => chat().obstacle !== null && localId !== chat().obstacle,
    };
  }

  async #retry(localId) {
    const { chat, messages, composer } = this.#room;
    const { outcome } = await chat().retry(localId);
    if (outcome === 'refused') composer().showHint('notConnected');
    messages().showHeld();
  }

  /** A refused message goes back into the field, before what is there, so that the user can shorten it. */
  #edit(localId) {
    const { chat, composer } = this.#room;
    const { text } = chat().timeline.ownMessage(localId);
    const { draft } = chat();
    chat().discard(localId);
    composer().write([text, draft].filter((each) => each !== '').join('\n'));
    composer().focus();
  }
}
