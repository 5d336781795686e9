// The table of presets. Tests compare it and Swift's table with the vector typing/33-presets.json.

import { ACTIONS_FORM, BEGIN_ONLY_FORM } from '../wire/typing-signal.js';

const STANDARD = {
  /** The form in which signals are written. */
  wireForm: ACTIONS_FORM,
  /** While the user types, begin is sent again once this has passed since the last one. */
  refresh: 4000,
  /**
   * A key that comes too early for a refresh sends it when the interval has passed. False: the refresh waits for the
   * next key.
   */
  refreshTrails: false,
  /** Without a key for this long: pause. Null: never. */
  idleToPause: 5000,
  /** In pause for this long: finish. Null: never. */
  pauseToFinish: 10_000,
  /**
   * Whether a message also causes a finish: before the message, or later if `minimumGap` delays it. False: the message
   * itself ends typing.
   */
  finishesWhenMessageSent: false,
  /** How long a begin shows another user as typing. */
  beginExpiry: 10_000,
  /** How long a pause shows another user as paused. */
  pauseExpiry: 15_000,
  /**
   * How long a user stays in the typing list after they stop typing, at most 2 s. Prevents flicker when a user clears
   * the draft and starts again. Does not apply after a message or a departure. Null removes the user at once. Choose it
   * longer than `minimumGap`: otherwise a finish and the next begin still blink.
   */
  linger: 1500,
  /**
   * The least time for which a user is shown as typing, at most `beginExpiry`, except after a message or a departure.
   * Null: none.
   */
  minimumShow: null,
  /** Whether a paused user counts as typing. */
  pausedCountsAsTyping: false,
  /** The least time between two typing signals of a connection. Null: no such rule. */
  minimumGap: 1000,
  /** In a room with more members, oneself included, nothing is sent and no user is listed. Null: no such rule. */
  roomCap: 100,
  /** A user who has opted out of being seen does not see others either. */
  isReciprocal: false,
  /** How many people a snapshot names, 1 to 1000; it counts the others. */
  typerLimit: 50,
};

const preset = (changes) => Object.freeze({ ...STANDARD, ...changes });

/** @type {Readonly<Record<'standard' | 'layer' | 'layerWeb' | 'easemob', TypingPolicy>>} */
export const TYPING_PRESETS = Object.freeze({
  /** Signalbox's own. It lingers for 1.5 s; the other presets do not, as their systems do not. */
  standard: preset({}),
  /** LayerKit's: pause after 10 s, finish after another 10. Its refresh is not documented; 5 s is our choice. */
  layer: preset({
    refresh: 5000,
    idleToPause: 10_000,
    pauseToFinish: 10_000,
    finishesWhenMessageSent: true,
    beginExpiry: 15_000,
    linger: null,
    minimumGap: null,
    roomCap: null,
  }),
  /** Layer's Web SDK: every interval is 2.5 s, and an indicator lasts 6 s. */
  layerWeb: preset({
    refresh: 2500,
    refreshTrails: true,
    idleToPause: 2500,
    pauseToFinish: 2500,
    beginExpiry: 6000,
    pauseExpiry: 6000,
    linger: null,
    minimumGap: null,
    roomCap: null,
  }),
  /** Easemob's: begin alone, again after more than 5 s, shown for 10 s, and only in rooms of two. */
  easemob: preset({
    wireForm: BEGIN_ONLY_FORM,
    refresh: 5001,
    idleToPause: null,
    pauseToFinish: null,
    pauseExpiry: 10_000,
    linger: null,
    minimumGap: null,
    roomCap: 2,
  }),
});
