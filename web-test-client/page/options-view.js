import { TYPING_PRESETS } from '../text-chat/typing-policy.js';

/** What a person may choose for one end of the conversation: how typing is told, and what befalls the connection. */
export class OptionsView {
  #panel;
  #toggle;
  #part;

  /** `policyChosen(policy)`, `optedOut(isOptedOut)`; `cable` is what can be dropped. */
  constructor(part, { policyChosen, optedOut, cable }) {
    this.#part = part;
    this.#panel = part('options');
    this.#toggle = part('options-toggle');
    this.#toggle.addEventListener('click', () => this.#setOpen(this.#panel.hidden));
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      this.#setOpen(false);
      this.#toggle.focus();
    });
    document.addEventListener('pointerdown', ({ target }) => {
      if (!this.#panel.contains(target) && !this.#toggle.contains(target)) this.#setOpen(false);
    });
    part('typing-preset').addEventListener('change', ({ target }) => policyChosen(TYPING_PRESETS[target.value]));
    part('typing-shown').addEventListener('change', ({ target }) => optedOut(!target.checked));
    part('drop').addEventListener('click', () => cable.drop());
    part('unplug').addEventListener('change', ({ target }) => (cable.isUnplugged = target.checked));
  }

  /** `isConnected`: there is something to drop. */
  setConnected(isConnected) {
    this.#part('drop').disabled = !isConnected;
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) this.#part('typing-preset').focus();
  }
}
