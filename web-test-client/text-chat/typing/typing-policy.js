// The numbers and flags of typing indicators. There is one engine; whose behaviour it has is said here. All times are in ms.

import { ACTIONS_FORM, BEGIN_ONLY_FORM } from '../wire/typing-signal.js';

/** No setting may last longer. */
export const LONGEST = 3_600_000;

/** Nobody lingers longer. */
export const LONGEST_LINGER = 2000;

const STANDARD = {
  /** What is written. */
  wireForm: ACTIONS_FORM,
  /** While keys come, begin is sent again when this has passed since the last one. */
  refresh: 4000,
  /** The refresh that a key asked for too early is sent when the time has come; else it waits for the next key. */
  refreshTrails: false,
  /** Without a key for this long: pause. Null: never. */
  idleToPause: 5000,
  /** In pause for this long: finish. Null: never. */
  pauseToFinish: 10_000,
  /** Finish is sent when a message is; else the message itself says it. */
  finishesWhenMessageSent: false,
  /** How long another is shown as typing after a begin. */
  beginExpiry: 10_000,
  /** How long another is shown as paused after a pause. */
  pauseExpiry: 15_000,
  /**
   * So long somebody who has stopped typing is still shown, at most 2 s: who deletes a text and writes another does not blink. Who has
   * sent a message or left is not. Null: no longer than they type. Longer than `minimumGap`, or a finish and a begin after it still blink.
   */
  linger: 1500,
  /** So long at least somebody is shown as typing, at most `beginExpiry`, but not beside a message. Null: no such rule. */
  minimumShow: null,
  /** Who pauses is listed as typing. */
  pausedCountsAsTyping: false,
  /** Between any two typing signals of a connection lies at least this. Null: no such rule. */
  minimumGap: 1000,
  /** In a room with more members, oneself included, nothing is sent and nobody is listed. Null: no such rule. */
  roomCap: 100,
  /** Who has opted out of being seen does not see others either. */
  isReciprocal: false,
  /** How many people a snapshot names, 1 to 1000; the others are counted. */
  typerLimit: 50,
};

const preset = (changes) => Object.freeze({ ...STANDARD, ...changes });

export const TYPING_PRESETS = Object.freeze({
  standard: preset({}),
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
  // Easemob asks for more than 5 s.
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

/**
 * Why settings of typing make no sense: `code` says what is wrong, `setting` with which. `unknown` and `wrongKind` are only here, where no
 * compiler has looked before.
 */
export class TypingPolicyError extends Error {
  constructor(code, setting) {
    super(`${setting}: ${code}`);
    this.name = 'TypingPolicyError';
    this.code = code;
    this.setting = setting;
  }
}

/**
 * `preset` (a name, or a policy) with the settings that differ. Throws `TypingPolicyError` when they make no sense, and when
 * `isStrict` also for an expiry below 1.5 times the refresh, which works but blinks easily.
 */
export function typingPolicy(base = 'standard', changes = {}, { isStrict = false } = {}) {
  if (typeof base === 'string' && !Object.hasOwn(TYPING_PRESETS, base)) throw new TypingPolicyError('unknown', 'preset');
  const policy = { ...(typeof base === 'string' ? TYPING_PRESETS[base] : base), ...changes };
  check(policy, isStrict);
  return Object.freeze(policy);
}

const DURATIONS = ['refresh', 'idleToPause', 'pauseToFinish', 'beginExpiry', 'pauseExpiry', 'minimumGap', 'linger', 'minimumShow'];
const FLAGS = ['refreshTrails', 'finishesWhenMessageSent', 'pausedCountsAsTyping', 'isReciprocal'];
const OPTIONAL = new Set(['idleToPause', 'pauseToFinish', 'minimumGap', 'linger', 'minimumShow']);

function check(policy, isStrict) {
  for (const name of Object.keys(policy)) if (!Object.hasOwn(STANDARD, name)) throw new TypingPolicyError('unknown', name);
  if (policy.wireForm !== ACTIONS_FORM && policy.wireForm !== BEGIN_ONLY_FORM) throw new TypingPolicyError('wrongKind', 'wireForm');
  for (const name of FLAGS) if (typeof policy[name] !== 'boolean') throw new TypingPolicyError('wrongKind', name);
  for (const name of DURATIONS) {
    const value = policy[name];
    if (value === null && OPTIONAL.has(name)) continue;
    if (typeof value !== 'number' || !(value > 0)) throw new TypingPolicyError('notPositive', name);
    if (value > LONGEST) throw new TypingPolicyError('tooLong', name);
  }
  if (policy.linger !== null && policy.linger > LONGEST_LINGER) throw new TypingPolicyError('tooLong', 'linger');
  if (policy.minimumShow !== null && policy.minimumShow > policy.beginExpiry) throw new TypingPolicyError('tooLong', 'minimumShow');
  if (policy.roomCap !== null && !(Number.isInteger(policy.roomCap) && policy.roomCap >= 1)) {
    throw new TypingPolicyError('countOutOfRange', 'roomCap');
  }
  if (!(Number.isInteger(policy.typerLimit) && policy.typerLimit >= 1 && policy.typerLimit <= 1000)) {
    throw new TypingPolicyError('countOutOfRange', 'typerLimit');
  }
  if (policy.wireForm === BEGIN_ONLY_FORM) {
    for (const name of ['idleToPause', 'pauseToFinish']) {
      if (policy[name] !== null) throw new TypingPolicyError('notOnTheWire', name);
    }
    if (policy.finishesWhenMessageSent) throw new TypingPolicyError('notOnTheWire', 'finishesWhenMessageSent');
  }
  if (policy.beginExpiry <= Math.max(policy.refresh, policy.idleToPause ?? 0, policy.minimumGap ?? 0)) {
    throw new TypingPolicyError('expiryTooShort', 'beginExpiry');
  }
  if (policy.pauseToFinish !== null && policy.pauseExpiry <= policy.pauseToFinish) {
    throw new TypingPolicyError('expiryTooShort', 'pauseExpiry');
  }
  if (isStrict && policy.beginExpiry < policy.refresh * 1.5) {
    throw new TypingPolicyError('marginTooSmall', 'beginExpiry');
  }
}
