// A typing policy: the intervals and flags of typing indicators, in ms. All policies share one engine; `TypingSender`
// and `TypingRoster` have the rules.

import { ACTIONS_FORM, BEGIN_ONLY_FORM } from '../wire/typing-signal.js';
import { TYPING_PRESETS } from './typing-presets.js';

/** The longest duration of any setting. */
export const LONGEST = 3_600_000;

/** The longest `linger`. */
const LONGEST_LINGER = 2000;

/**
 * Why a policy refuses its settings: `code` names the fault, `setting` the setting. The codes `unknown` and `wrongKind`
 * exist only in JavaScript, which has no compiler to find these faults.
 */
export class TypingPolicyError extends Error {
  /** @param {TypingPolicyError['code']} code @param {string} setting */
  constructor(code, setting) {
    super(`Cannot make a typing policy: ${setting} ${PROBLEMS[code]}.`);
    /** @type {'TypingPolicyError'} @readonly */
    this.name = 'TypingPolicyError';
    /**
     * @type {'notPositive' | 'tooLong' | 'expiryTooShort' | 'marginTooSmall' | 'notOnTheWire' | 'countOutOfRange' |
     * 'unknown' | 'wrongKind'} @readonly
     */
    this.code = code;
    /** @type {string} @readonly */
    this.setting = setting;
  }
}

const PROBLEMS = {
  notPositive: 'must be greater than zero',
  tooLong: 'is too long; at most an hour, linger at most 2 s, minimumShow at most beginExpiry',
  expiryTooShort: 'is too short: the indicator would end before the next signal arrives; make it longer',
  marginTooSmall: 'is below 1.5 times refresh; make it longer, or do not ask for strict checks',
  notOnTheWire: 'has no signal in this wire form; set it to null or false, or choose the form with actions',
  countOutOfRange: 'is out of range; roomCap is at least 1, typerLimit is 1 to 1000',
  unknown: 'is unknown; check its name',
  wrongKind: 'has a value of the wrong type',
};

/**
 * A policy: `base` (the name of a preset, or a policy) with the settings that differ. Throws `TypingPolicyError` with
 * the first wrong setting. `isStrict` also refuses an expiry below 1.5 times the refresh: with it a late signal makes
 * the indicator blink.
 * @type {(base?: keyof typeof TYPING_PRESETS | TypingPolicy, changes?: Partial<TypingPolicy>, options?: { isStrict?:
 * boolean }) => TypingPolicy}
 */
export function typingPolicy(base = 'standard', changes = {}, { isStrict = false } = {}) {
  if (typeof base === 'string' && !Object.hasOwn(TYPING_PRESETS, base)) {
    throw new TypingPolicyError('unknown', 'preset');
  }
  const policy = { ...(typeof base === 'string' ? TYPING_PRESETS[base] : base), ...changes };
  check(policy, isStrict);
  return Object.freeze(policy);
}

const DURATIONS = [
  'refresh', 'idleToPause', 'pauseToFinish', 'beginExpiry', 'pauseExpiry', 'minimumGap', 'linger', 'minimumShow',
];
const FLAGS = ['refreshTrails', 'finishesWhenMessageSent', 'pausedCountsAsTyping', 'isReciprocal'];
const OPTIONAL = new Set(['idleToPause', 'pauseToFinish', 'minimumGap', 'linger', 'minimumShow']);

function check(policy, isStrict) {
  for (const name of Object.keys(policy)) {
    if (!Object.hasOwn(TYPING_PRESETS.standard, name)) throw new TypingPolicyError('unknown', name);
  }
  if (policy.wireForm !== ACTIONS_FORM && policy.wireForm !== BEGIN_ONLY_FORM) {
    throw new TypingPolicyError('wrongKind', 'wireForm');
  }
  for (const name of FLAGS) if (typeof policy[name] !== 'boolean') throw new TypingPolicyError('wrongKind', name);
  for (const name of DURATIONS) {
    const value = policy[name];
    if (value === null && OPTIONAL.has(name)) continue;
    if (typeof value !== 'number' || !(value > 0)) throw new TypingPolicyError('notPositive', name);
    if (value > LONGEST) throw new TypingPolicyError('tooLong', name);
  }
  if (policy.linger !== null && policy.linger > LONGEST_LINGER) throw new TypingPolicyError('tooLong', 'linger');
  if (policy.minimumShow !== null && policy.minimumShow > policy.beginExpiry) {
    throw new TypingPolicyError('tooLong', 'minimumShow');
  }
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
