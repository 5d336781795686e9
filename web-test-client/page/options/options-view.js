import { TypingIntervalsView } from './typing-intervals-view.js';

/** The options of a pane: the form and the intervals of typing, the form of messages, and the network switch. */
export class OptionsView {
  #panel;
  #toggle;
  #part;
  #network;
  #offlineChanged;

  /**
   * `policyChosen(policy)`, `wireFormChosen(type)`, `optedOut(isOptedOut)`, `lookChosen(look)` and
   * `maxLengthChosen(length)` are called when the user chooses, and at once for choices in `store`. `network` is the network switch of the pane, and `offlineChanged(isOffline)` is called
   * when it is switched.
   */
  constructor(
    part,
    { policyChosen, wireFormChosen, optedOut, lookChosen, maxLengthChosen, network, offlineChanged, store },
  ) {
    this.#network = network;
    this.#offlineChanged = offlineChanged;
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
    const stored = store.options;
    const intervals = new TypingIntervalsView(part('typing-intervals'), part('typing-error'), (policy, changes) => {
      store.set('typingIntervals', changes);
      policyChosen(policy);
    });
    const preset = part('typing-preset');
    if ([...preset.options].some(({ value }) => value === stored.typingPreset)) preset.value = stored.typingPreset;
    policyChosen(intervals.show(preset.value, stored.typingIntervals ?? {}));
    preset.addEventListener('change', () => {
      store.set('typingPreset', preset.value);
      // Changes of another preset do not belong to this one.
      store.set('typingIntervals', {});
      policyChosen(intervals.show(preset.value));
    });
    this.#choice(part('wire-form'), stored.wireForm, (type) => {
      store.set('wireForm', type);
      wireFormChosen(type);
    });
    this.#choice(part('look'), stored.look, (look) => {
      store.set('look', look);
      lookChosen(look);
    });
    this.#number(part('max-length'), stored.maxLength, (length) => {
      store.set('maxLength', length);
      maxLengthChosen(length);
    });
    const shown = part('typing-shown');
    shown.checked = stored.isTypingShown !== false;
    if (!shown.checked) optedOut(true);
    shown.addEventListener('change', () => {
      store.set('isTypingShown', shown.checked);
      optedOut(!shown.checked);
    });
    part('drop').addEventListener('click', () => network.drop());
    part('offline').addEventListener('change', ({ target }) => this.setOffline(target.checked));
  }

  setOffline(isOffline) {
    this.#part('offline').checked = isOffline;
    this.#network.isOffline = isOffline;
    this.#offlineChanged(isOffline);
  }

  /** Only a connection can be dropped. */
  setConnected(isConnected) {
    this.#part('drop').disabled = !isConnected;
  }

  #choice(select, stored, chosen) {
    if ([...select.options].some(({ value }) => value === stored)) {
      select.value = stored;
      chosen(stored);
    }
    select.addEventListener('change', () => chosen(select.value));
  }

  /** A number outside of the field's range is marked, and changes nothing. */
  #number(input, stored, chosen) {
    const isValid = () => input.value !== '' && input.validity.valid;
    if (stored !== undefined) {
      const before = input.value;
      input.value = stored;
      if (isValid()) chosen(input.valueAsNumber);
      else input.value = before;
    }
    input.addEventListener('input', () => {
      input.setAttribute('aria-invalid', String(!isValid()));
      if (isValid()) chosen(input.valueAsNumber);
    });
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) this.#part('typing-preset').focus();
  }
}
