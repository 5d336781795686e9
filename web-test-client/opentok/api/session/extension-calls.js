import { MediaCalls } from '../../media/media-calls.js';
import { erasureRequest, historyRequest } from './history.js';
import { moderationRequest } from './moderation.js';

/** The calls of a session that OpenTok's has not: its history, and moderation. */
export class ExtensionCalls extends MediaCalls {
  #ask;

  /**
   * `ask(kind, message, advice, handler)` sends a request, and promises its result. `message` has no `op` and no `id`;
   * null: the program's arguments make none.
   */
  constructor(shared, publish, ask) {
    super(shared, publish, ask);
    this.#ask = ask;
  }

  /** A promise of a page of the session's history, at `{before, limit}` or `{after, limit}` (HIS-6). */
  history(position) {
    return this.#ask('history', historyRequest(position), 'Pass before or after, a seq, and limit, a number.');
  }

  /** For moderators: erases the message `{ref}`, all messages up to `{through}`, or those of a `{user}` (HIS-9). */
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
