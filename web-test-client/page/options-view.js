import { TYPING_PRESETS } from '../text-chat/typing/typing-presets.js';

/** What a person may choose for one end of the conversation: how typing is told, and what befalls the connection. */
export class OptionsView {
  #panel;
  #toggle;
  #part;

  /**
   * `policyChosen(policy)`, `wireFormChosen(type)`, `optedOut(isOptedOut)`; `cable` is what can be dropped. `store` has what was chosen
   * before the page was loaded.
   */
  constructor(part, { policyChosen, wireFormChosen, optedOut, cable, store }) {
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
    const kept = store.options;
    this.#choice(part('typing-preset'), kept.typingPreset, (preset) => {
      store.set('typingPreset', preset);
      policyChosen(TYPING_PRESETS[preset]);
    });
    this.#choice(part('wire-form'), kept.wireForm, (type) => {
      store.set('wireForm', type);
      wireFormChosen(type);
    });
    const shown = part('typing-shown');
    shown.checked = kept.isTypingShown !== false;
    if (!shown.checked) optedOut(true);
    shown.addEventListener('change', () => {
      store.set('isTypingShown', shown.checked);
      optedOut(!shown.checked);
    });
    part('drop').addEventListener('click', () => cable.drop());
    part('unplug').addEventListener('change', ({ target }) => (cable.isUnplugged = target.checked));
  }

  /** `isConnected`: there is something to drop. */
  setConnected(isConnected) {
    this.#part('drop').disabled = !isConnected;
  }

  #choice(select, kept, chosen) {
    if ([...select.options].some(({ value }) => value === kept)) {
      select.value = kept;
      chosen(kept);
    }
    select.addEventListener('change', () => chosen(select.value));
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) this.#part('typing-preset').focus();
  }
}
