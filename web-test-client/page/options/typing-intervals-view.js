import { TypingPolicyError, typingPolicy } from '../../text-chat/index.js';
import { make } from '../../chat/views/dom.js';

/** The intervals that a user can set: the name in the policy, and the label. */
const INTERVALS = [
  ['refresh', 'Repeat “begin” after'],
  ['idleToPause', 'Pause without a key for'],
  ['pauseToFinish', 'Finish after a pause of'],
  ['minimumGap', 'Gap between two signals'],
  ['beginExpiry', 'Show typing for'],
  ['pauseExpiry', 'Show a pause for'],
  ['linger', 'Linger after typing for'],
  ['minimumShow', 'Show typing for at least'],
];

/** One field per typing interval, in seconds. An empty field means that the policy has no such interval. */
export class TypingIntervalsView {
  #inputs = new Map();
  #error;
  #preset;
  #changed;

  /** Fills `list` with the fields. `changed(policy, changes)` is called when the user has set a valid policy. */
  constructor(list, error, changed) {
    this.#error = error;
    this.#changed = changed;
    for (const [name, label] of INTERVALS) {
      const input = make('input', { type: 'number', min: '0', step: 'any', inputmode: 'decimal', name });
      input.addEventListener('change', () => this.#read());
      this.#inputs.set(name, input);
      list.append(make('label', { class: 'interval' }, make('span', {}, label), input));
    }
  }

  /**
   * Shows a preset with `changes`, the intervals in ms that differ from it. Returns the policy; wrong changes, as a
   * changed storage may have them, are dropped.
   */
  show(preset, changes = {}) {
    this.#preset = preset;
    this.#showError(null);
    let policy;
    try {
      policy = typingPolicy(preset, changes);
    } catch {
      policy = typingPolicy(preset);
    }
    for (const [name, input] of this.#inputs) input.value = policy[name] === null ? '' : policy[name] / 1000;
    return policy;
  }

  #read() {
    const preset = typingPolicy(this.#preset);
    const changes = {};
    for (const [name, input] of this.#inputs) {
      // A text that is not a number has the value ''.
      const value = input.validity.badInput ? NaN : input.value === '' ? null : Math.round(input.value * 1000);
      if (value !== preset[name]) changes[name] = value;
    }
    try {
      this.#changed(typingPolicy(this.#preset, changes), changes);
      this.#showError(null);
    } catch (error) {
      if (!(error instanceof TypingPolicyError)) throw error;
      this.#showError(error);
    }
  }

  #showError(error) {
    const label = INTERVALS.find(([name]) => name === error?.setting)?.[1];
    this.#error.hidden = error === null;
    this.#error.textContent = error === null ? '' : error.message.replace(error.setting, label ?? error.setting);
    for (const [name, input] of this.#inputs) input.setAttribute('aria-invalid', String(name === error?.setting));
  }
}
