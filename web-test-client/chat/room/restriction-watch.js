import { Code } from '../../client/wire/codes.js';
import { restrictionText } from '../words/restriction-words.js';
import { LONGEST_WAIT } from './moderation.js';

/**
 * Knows whether the user's role may write, tells them why they cannot for now, and frees the field when a restriction ends
 * by itself (MOD-2).
 */
export class RestrictionWatch {
  #room;
  #isRestricted = false;
  #timer = null;
  /** A message was refused because of the role. */
  #isRefusedAsReader = false;

  /**
   * `chat()` is the component or null, `session()` its session or null, `now()` the server's time, `words()` the texts, and
   * `canWrite()` whether there is a connection. `show(sentence)` puts a sentence in place of the field, or with null the
   * field. `ended()` is called when the user can write again.
   */
  constructor(room) {
    this.#room = room;
  }

  /** There is another session. */
  begin() {
    this.#isRefusedAsReader = false;
  }

  /** Whether the role of the user may not write. A session of OpenTok does not tell; there the first refusal does. */
  get isReadOnly() {
    return this.#isRefusedAsReader || this.#room.session()?.maySignal === false;
  }

  /** After a refusal because of the role, those behind the message would be refused, too: nothing waits for it. */
  noteRole() {
    const chat = this.#room.chat();
    const isOfRole = ({ failure }) => failure?.code === Code.permissionDenied && failure.restriction === undefined;
    if (!chat.timeline.messages.some(isOfRole)) return;
    this.#isRefusedAsReader = true;
    chat.passFailed();
  }

  /** Looks anew at what holds now. */
  check() {
    this.#room.chat()?.advance(this.#room.now());
    this.show();
  }

  show() {
    clearTimeout(this.#timer);
    const { chat, words, now: clock, canWrite, show, ended } = this.#room;
    const now = clock();
    const restriction = canWrite() ? (chat()?.restriction ?? null) : null;
    const wasRestricted = this.#isRestricted;
    this.#isRestricted = restriction !== null;
    show(this.#isRestricted ? restrictionText(words(), restriction, now) : null);
    if (wasRestricted && !this.#isRestricted && canWrite()) ended();
    if (!this.#isRestricted) return;
    const next = chat().nextRestrictionCheck(now);
    if (next !== null) this.#timer = setTimeout(() => this.check(), Math.min(next - now, LONGEST_WAIT));
  }

  stop() {
    clearTimeout(this.#timer);
  }
}
