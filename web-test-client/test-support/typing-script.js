import { decodeTyping } from '../text-chat/wire/typing-signal.js';
import { TypingIndicator } from '../text-chat/typing/typing-indicator.js';
import { TYPING_PRESETS, typingPolicy } from '../text-chat/typing/typing-policy.js';

/** The policy that a vector names: a preset, or one with changes. */
export function vectorPolicy(written) {
  if (typeof written === 'string') return TYPING_PRESETS[written];
  const { preset, ...changes } = written;
  return typingPolicy(preset, changes);
}

/**
 * Runs one script of `Tests/Vectors/typing`: its steps, with the timer served to the instant in between. Returns `{signals,
 * snapshots, requests, unexpected}` as the vectors write them, the latter what a step expected and did not find.
 */
export function runTypingScript({ policy, steps, until }) {
  const engine = new TypingIndicator({ policy: vectorPolicy(policy), ownConnection: 'me' });
  const found = { signals: [], snapshots: [], requests: [], numbers: [], unexpected: [] };
  let text = '';

  const note = (now, effects) => {
    for (const effect of effects) {
      if (effect.send) {
        found.requests.push(effect.send);
        found.numbers.push(effect.n);
        found.signals.push([now, decodeTyping(effect.send).action]);
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
      if (turns > 10_000) throw new Error(`the timer does not rest at ${at}`);
    }
  };
  const take = (step, now) => {
    switch (step.do) {
      case 'key':
        text += 'a';
        return engine.textDidChange(text, now);
      case 'text':
        text = step.text;
        return engine.textDidChange(text, now);
      case 'set':
        text = step.text;
        return engine.textWasSet(text, now);
      case 'send':
        return engine.send(step.action, now);
      case 'messageSent':
        text = '';
        return engine.messageSent(now);
      case 'leave':
        return engine.leave(now);
      case 'connected':
        return engine.connected(step.id, now);
      case 'disconnected':
        return engine.disconnected(now);
      case 'publishFailed':
        return engine.publishFailed(step.n, now);
      case 'optedOut':
        return engine.setOptedOut(step.value, now);
      case 'memberCount':
        return engine.setMemberCount(step.value, now);
      case 'receive': {
        const { from = null, user = null, type = 'typing', action, n, data = action && JSON.stringify({ action, n }) } = step;
        return engine.receive({ type, data, from }, user, now);
      }
      case 'message':
        return engine.receiveMessage(step.from, step.typingN ?? null, now);
      case 'connectionDestroyed':
        return engine.connectionDestroyed(step.id, now);
      case 'blocked':
        return engine.setBlocked(step.users, now);
      case 'typingN':
        if (engine.typingN !== step.value) found.unexpected.push([now, 'typingN', engine.typingN]);
        return [];
      case 'current': {
        const effects = engine.advance(now);
        const seen = [names(engine.current.typing), names(engine.current.paused)];
        if (JSON.stringify(seen) !== JSON.stringify([step.typing, step.paused])) found.unexpected.push([now, 'current', seen]);
        return effects;
      }
      default:
        throw new Error(`no such step: ${step.do}`);
    }
  };

  for (const step of steps.flatMap(spread)) {
    if (!step.late) runTo(step.at);
    note(step.at, take(step, step.at));
  }
  runTo(until);
  return found;
}

/** `{from, every, to}` stands for a step at each of these moments. */
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
