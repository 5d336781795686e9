import { MediaCalls } from '../../media/media-calls.js';
import {
  changeRequest, erasureRequest, historyRequest, markerRequest, reactionRequest, reactorsRequest,
} from './history.js';
import { moderationRequest } from './moderation.js';

/** The calls of a session that OpenTok's has not: its history, reactions, read markers, and moderation. */
export class ExtensionCalls extends MediaCalls {
  #ask;
  #log;

  /**
   * `ask(kind, message, advice, handler)` sends a request, and promises its result. `message` has no `op` and no `id`;
   * null: the program's arguments make none.
   */
  constructor(shared, publish, ask) {
    super(shared, publish, ask);
    this.#ask = ask;
    this.#log = shared.log;
  }

  /**
   * A promise of a page of the session's history, at `{before, limit}` or `{after, limit}` (HIS-6), or of what has changed
   * since `{changedAfter, limit}` (CHG-9).
   */
  history(position) {
    const advice = 'Pass before, after or changedAfter, a seq, and limit, a number.';
    return this.#ask('history', historyRequest(position), advice);
  }

  /**
   * Changes the message `{ref, rel: 'edit', data}` of one's own (CHG-1). The result is `{seq}`, the change's place in the
   * session's order. `changes` says what the session permits.
   */
  change(change, handler) {
    const advice = 'Pass ref, a seq, rel, which is edit, and data of at most 8,192 UTF-16 units.';
    return this.#ask('change', changeRequest(change, this.#log), advice, handler);
  }

  /**
   * Sets the user's whole set of reactions on the message `{ref, keys}` (CHG-11); no keys take it back. Doing so again is
   * harmless.
   */
  react(reactions, handler) {
    const advice = 'Pass ref, a seq, and keys, a list of texts of 1 to 32 UTF-16 units.';
    return this.#ask('react', reactionRequest(reactions), advice, handler);
  }

  /**
   * A promise of who has reacted to the message `{ref, key?}`: a list of `{key, count, users}`, with at most 50 users in
   * all.
   */
  reactors(message, handler) {
    return this.#ask('reactors', reactorsRequest(message), 'Pass ref, a seq, and perhaps a key.', handler);
  }

  /**
   * The user has read all messages up to the seq `{through}` (READ-1). A marker never falls. One that fails with the
   * connection is not repeated.
   */
  markRead(marker, handler) {
    return this.#ask('read', markerRequest(marker), 'Pass through, a seq.', handler);
  }

  /**
   * Erases the message `{ref}`, as its author (CHG-6) or as a moderator. For moderators: all messages up to `{through}`,
   * or those of a `{user}` (HIS-9).
   */
  erase(erasure) {
    return this.#ask('erase', erasureRequest(erasure), 'Pass ref or through, a seq, or user.');
  }

  /**
   * For moderators: `{action, user | connectionId | ref, seconds?, reason?, eraseMessages?}` (MOD-1). The result is
   * `{seq}`, which names the action in an undo.
   */
  moderate(action, handler) {
    return this.#ask('moderate', moderationRequest(action), 'See docs/opentok-web.md, section "Moderation".', handler);
  }

  /** For moderators: what holds in the session (MOD-6). */
  restrictions(handler) {
    return this.#ask('restrictions', {}, '', handler);
  }
}
