import { displayName } from '../text-chat/index.js';
import { make, timeOfDay } from './dom.js';

/** The most lines that the log keeps. */
const MAX_LINES = 200;

/** Closer to the end than this many pixels counts as being at the end. */
const END_SLACK = 24;

/** A panel that sends any signal to any participant, and logs all events of the session. */
export class InspectorView {
  #part;
  #panel;
  #toggle;
  #target;
  #log;
  #options = new Map();

  /** `send(options, targetId)` is called with signal options; `targetId` is empty for all participants. */
  constructor(part, send) {
    this.#part = part;
    this.#panel = part('inspector');
    this.#toggle = part('inspector-toggle');
    this.#target = part('signal-target');
    this.#log = part('log');
    this.#toggle.addEventListener('click', () => this.#setOpen(this.#panel.hidden));
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      this.#setOpen(false);
      this.#toggle.focus();
    });
    part('log-clear').addEventListener('click', () => this.#log.replaceChildren());
    part('signal-form').addEventListener('submit', (event) => {
      event.preventDefault();
      // An empty field leaves the property out: a signal without type or data differs from an empty one.
      const type = part('signal-type').value;
      const data = part('signal-data').value;
      const options = {};
      if (type !== '') options.type = type;
      if (data !== '') options.data = data;
      if (part('signal-online-only').checked) options.onlineOnly = true;
      send(options, this.#target.value);
    });
  }

  addTarget(connection, isMe) {
    const { connectionId } = connection;
    if (this.#options.has(connectionId)) return;
    const label = `${displayName(connection)}${isMe ? ' (you)' : ''} · ${connectionId.slice(0, 4)}`;
    const option = make('option', { value: connectionId }, label);
    this.#options.set(connectionId, option);
    this.#target.append(option);
  }

  removeTarget({ connectionId }) {
    this.#options.get(connectionId)?.remove();
    this.#options.delete(connectionId);
  }

  clearTargets() {
    for (const option of this.#options.values()) option.remove();
    this.#options.clear();
  }

  /** Adds a line. `kind` is its colour: `in`, `out`, `good` or `bad`. */
  note(kind, name, detail) {
    const wasAtEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < END_SLACK;
    this.#log.append(
      make(
        'li',
        { class: `log-line ${kind}` },
        make('time', {}, timeOfDay(Date.now(), true)),
        make('span', { class: 'log-name' }, name),
        make('span', { class: 'log-detail' }, detail),
      ),
    );
    if (this.#log.childElementCount > MAX_LINES) this.#log.firstElementChild.remove();
    if (wasAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    this.#part('room-view').classList.toggle('with-inspector', isOpen);
    if (isOpen) {
      this.#log.scrollTop = this.#log.scrollHeight;
      this.#part('signal-type').focus();
    }
  }
}
