import { keepKeys } from '../keys/key-guard.js';

/** The longest reason, in UTF-16 units (MOD-1). */
const REASON_LENGTH = 256;

/** Asks a moderator before an action, and for what goes with it. */
export class QuestionView {
  #part;
  #dialog;
  #act = null;
  #opener = null;

  constructor(part) {
    this.#part = part;
    this.#dialog = part('question');
    part('question-reason').maxLength = REASON_LENGTH;
    part('question-no').addEventListener('click', () => this.close());
    part('question-yes').addEventListener('click', () => this.#confirm());
    keepKeys(part('question-reason'), (event) => {
      if (event.type !== 'keydown' || event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      this.#confirm();
    });
    // Escape is for this dialog, and not for one of the page.
    this.#dialog.addEventListener('keydown', (event) => event.key === 'Escape' && event.stopPropagation());
    this.#dialog.addEventListener('close', () => this.#closed());
  }

  /**
   * `title`, `text` and `yes` are texts; `reason` is the label of the field for a reason, and `also` that of a box, each
   * null if there is none. `isDanger`: what is asked for cannot be undone, or hits hard. `act({reason, also})` is called
   * if the moderator says yes. `opener` gets the focus back.
   */
  ask({ title, text, yes, reason = null, also = null, isDanger = false, act, opener }) {
    this.close();
    this.#act = act;
    this.#opener = opener;
    this.#part('question-title').textContent = title;
    this.#part('question-text').textContent = text;
    this.#part('question-yes').textContent = yes;
    this.#part('question-yes').classList.toggle('danger', isDanger);
    this.#show('question-reason', reason);
    this.#show('question-also', also);
    this.#part('question-reason').value = '';
    this.#part('question-also').checked = false;
    this.#dialog.showModal();
    // What cannot be undone is not one key away.
    (reason === null ? this.#part('question-no') : this.#part('question-reason')).focus();
  }

  close() {
    if (this.#dialog.open) this.#dialog.close();
  }

  #show(id, label) {
    const line = this.#part(`${id}-line`);
    line.hidden = label === null;
    this.#part(`${id}-label`).textContent = label ?? '';
  }

  #confirm() {
    const act = this.#act;
    const reason = this.#part('question-reason').value.trim();
    const also = this.#part('question-also').checked;
    this.close();
    act({ reason, also });
  }

  #closed() {
    // The event comes late: the user may have been asked something else meanwhile.
    if (this.#dialog.open) return;
    this.#act = null;
    if (this.#opener?.isConnected) this.#opener.focus({ preventScroll: true });
    this.#opener = null;
  }
}
