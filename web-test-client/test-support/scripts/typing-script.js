import { decodeTyping } from '../../text-chat/wire/typing-signal.js';
import { TypingIndicator } from '../../text-chat/typing/typing-indicator.js';
import { typingPolicy } from '../../text-chat/typing/typing-policy.js';
import { TYPING_PRESETS } from '../../text-chat/typing/typing-presets.js';

/** The inputs of `TypingIndicator` that a step may give as they are. */
const INPUTS = new Set([
  'draftEdited', 'draftSet', 'send', 'messageSubmitted', 'leave', 'optedOut', 'restricted', 'blockedUsers', 'connected',
  'reconnecting', 'disconnected', 'connectionLost', 'memberCount', 'recipient', 'publishFailed', 'messageReceived', 'connectionDestroyed',
]);

/** The policy of a vector: a preset, or a preset with changes. */
export function vectorPolicy(written) {
  if (typeof written === 'string') return TYPING_PRESETS[written];
  const { preset, ...changes } = written;
  return typingPolicy(preset, changes);
}

/**
 * Runs one script of `Tests/Vectors/typing`: its steps, and between them the timer at its exact moments. Returns
 * `{signals, snapshots, requests, numbers, unexpected}` as the vectors write them; `unexpected` lists the differences
 * from what the steps expect.
 */
export function runTypingScript({ policy, steps, until }) {
  const engine = new TypingIndicator({ policy: vectorPolicy(policy), connection: 'me' });
  const found = { signals: [], snapshots: [], requests: [], numbers: [], unexpected: [] };
  let text = '';

  const note = (now, effects) => {
    for (const effect of effects) {
      if (effect.send) {
        found.requests.push(effect.send);
        found.numbers.push(effect.n);
        const { to } = effect.send;
        found.signals.push([now, decodeTyping(effect.send).action, ...(to === undefined ? [] : [to])]);
      } else {
        const { typing, paused, typingCount, pausedCount } = effect.changed;
        const entry = [now, names(typing), names(paused)];
        if (typingCount !== typing.length || pausedCount !== paused.length) entry.push(typingCount, pausedCount);
        found.snapshots.push(entry);
      }
    }
  };
  const runTo = (end) => {
    let turns = 0;
    for (let at = engine.nextDeadline; at !== null && at <= end; at = engine.nextDeadline) {
      note(at, engine.advance(at));
      turns += 1;
      if (turns > 10_000) throw new Error(`The timer fires without end at ${at} ms.`);
    }
  };
  const perform = (step, now) => {
    switch (step.do) {
      case 'key':
        text += 'a';
        return engine.handle({ kind: 'draftEdited', text }, now);
      case 'signal': {
        const { from, user, userId, type = 'typing', action, n, data = action && JSON.stringify({ action, n }) } = step;
        const typing = decodeTyping({ type, data });
        if (typing === null || from === undefined) return engine.advance(now);
        return engine.handle({ kind: 'signal', ...typing, from, user, userId }, now);
      }
      case 'typingN':
        if (engine.typingN !== step.value) found.unexpected.push([now, 'typingN', engine.typingN]);
        return [];
      case 'current': {
        const effects = engine.advance(now);
        const seen = [names(engine.current.typing), names(engine.current.paused)];
        if (JSON.stringify(seen) !== JSON.stringify([step.typing, step.paused])) {
          found.unexpected.push([now, 'current', seen]);
        }
        return effects;
      }
      default:
        if (!INPUTS.has(step.do)) throw new Error(`Cannot run the step ${step.do}: see Tests/Vectors/README.md.`);
        text = step.text ?? (step.do === 'messageSubmitted' ? '' : text);
        return engine.handle({ kind: step.do, ...step }, now);
    }
  };

  for (const step of steps.flatMap(spread)) {
    if (!step.late) runTo(step.at);
    note(step.at, perform(step, step.at));
  }
  runTo(until);
  return found;
}

/** Expands `{from, every, to}` to a step at each of these moments. */
function spread(step) {
  if (step.every === undefined) return [step];
  const { from, every, to, ...rest } = step;
  const steps = [];
  for (let at = from; at <= to; at += every) steps.push({ ...rest, at });
  return steps;
}

export function names(typers) {
  return typers.map(({ name, connectionId }) => name ?? connectionId);
}
