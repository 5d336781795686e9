import { displayName } from '../../text-chat/index.js';
import { copyText } from '../clipboard.js';
import { exactTime, make } from '../../chat/views/dom.js';
import { FramePace } from '../../chat/views/frame-pace.js';
import { EventBook } from './event-book.js';

/** The height of a line of the log in pixels, as in style.css. All lines have it, so that their places are known. */
const LINE_HEIGHT = 28;

/** Lines above and below the view that are in the document, too. */
const MARGIN_LINES = 10;

/** The most characters of a detail in a line. The chosen event shows all. */
const DETAIL_LENGTH = 300;

const ARROWS = { in: '↓', out: '↑', page: '·' };
const DIRECTIONS = { in: 'received', out: 'sent', page: 'this page' };

/**
 * A panel that sends any signal to any participant, and lists every line on the socket and every event of the library.
 * Only the lines in the view are in the document, and while the panel is closed nothing is.
 */
export class InspectorView {
  #part;
  #panel;
  #toggle;
  #target;
  #log;
  #lines;
  #events = new EventBook();
  #options = new Map();
  #nameOf;
  /** Number of the entry → its line in the document. */
  #shown = new Map();
  #chosen = null;
  #isPinned = true;
  #pace = new FramePace(() => this.#show());

  /**
   * `send(options, targetId)` is called with signal options; `targetId` is empty for all participants. `nameOf(id)` is
   * the name of a connection.
   */
  constructor(part, { send, nameOf }) {
    this.#part = part;
    this.#panel = part('inspector');
    this.#toggle = part('inspector-toggle');
    this.#target = part('signal-target');
    this.#log = part('log');
    this.#lines = part('log-lines');
    this.#nameOf = nameOf;
    this.#toggle.addEventListener('click', () => this.#setOpen(this.#panel.hidden));
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#escape();
    });
    part('log-filter').addEventListener('input', ({ target }) => this.#setFilter(target.value));
    part('log-pause').addEventListener('click', () => this.#setPaused(!this.#events.isPaused));
    part('log-export').addEventListener('click', () => this.#export());
    part('log-clear').addEventListener('click', () => this.#clear());
    part('frame-copy').addEventListener('click', ({ target }) => this.#copy(target));
    part('frame-close').addEventListener('click', () => this.#escape());
    this.#log.addEventListener('scroll', () => {
      this.#isPinned = this.#isAtEnd();
      this.#show();
    });
    this.#log.addEventListener('keydown', (event) => this.#pressed(event));
    this.#log.addEventListener('click', ({ target }) => {
      const line = target.closest('[data-number]');
      if (line) this.#choose(this.#indexOf(Number(line.dataset.number)));
    });
    new ResizeObserver(() => this.#changed(0)).observe(this.#log);
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

  /** Opens the panel for a signal to this connection. */
  composeTo(connectionId) {
    this.#setOpen(true);
    this.#target.value = connectionId;
  }

  /** Adds the lines of a WebSocket message, as `entriesOf` returns them. */
  frame(entries) {
    for (const entry of entries) {
      // The names of now: a connection that leaves later keeps its name in the log.
      const described = entry.message?.connection;
      const fromName = entry.from === null ? null : described ? displayName(described) : this.#nameOf(entry.from);
      const toName = entry.to === null ? null : this.#nameOf(entry.to);
      this.#events.add({ ...entry, kind: kindOf(entry), fromName, toName, detail: detailOf(entry) });
    }
    this.#changed(entries.length);
  }

  /** Adds an event of this page, for which there is no line on the socket. `kind` is its colour: `good` or `bad`. */
  note(kind, type, detail) {
    const entry = { direction: 'page', at: Date.now(), seq: null, type, from: null, to: null, size: null };
    this.#events.add({ ...entry, kind, detail, raw: '', message: null, fromName: null, toName: null });
    this.#changed(1);
  }

  // The log

  #changed(lineCount) {
    if (!this.#panel.hidden) this.#pace.request(lineCount);
  }

  #show() {
    if (this.#panel.hidden) return;
    const entries = this.#events.matching;
    this.#lines.style.height = `${entries.length * LINE_HEIGHT}px`;
    if (this.#isPinned && !this.#events.isPaused) this.#log.scrollTop = this.#log.scrollHeight;
    const first = Math.max(0, Math.floor(this.#log.scrollTop / LINE_HEIGHT) - MARGIN_LINES);
    const visible = Math.ceil(this.#log.clientHeight / LINE_HEIGHT) + 2 * MARGIN_LINES;
    const last = Math.min(entries.length, first + visible);
    const shown = new Map();
    for (let index = first; index < last; index += 1) {
      const entry = entries[index];
      const line = this.#shown.get(entry.number) ?? this.#makeLine(entry);
      line.style.transform = `translateY(${index * LINE_HEIGHT}px)`;
      line.setAttribute('aria-posinset', index + 1);
      line.setAttribute('aria-setsize', entries.length);
      shown.set(entry.number, line);
    }
    for (const [number, line] of this.#shown) if (!shown.has(number)) line.remove();
    for (const [number, line] of shown) if (!this.#shown.has(number)) this.#lines.append(line);
    this.#shown = shown;
    this.#markChosen();
    this.#showCounts(entries.length);
  }

  #makeLine(entry) {
    const { number, direction, at, seq, type, fromName, toName, size, kind, detail } = entry;
    const route = toName !== null ? `${fromName ?? 'you'} → ${toName}` : (fromName ?? '');
    return make(
      'div',
      {
        class: `log-line ${kind}`,
        role: 'option',
        id: this.#lineId(number),
        'data-number': number,
        'aria-selected': 'false',
      },
      make('span', { class: 'log-direction', 'aria-label': DIRECTIONS[direction] }, ARROWS[direction]),
      make('time', {}, exactTime(at)),
      make('span', { class: 'log-seq' }, seq === null ? '' : `#${seq}`),
      make('span', { class: 'log-name' }, type),
      make('bdi', { class: 'log-route' }, route),
      make('span', { class: 'log-detail' }, detail.slice(0, DETAIL_LENGTH)),
      make('span', { class: 'log-size' }, size === null ? '' : `${size} B`),
    );
  }

  #lineId(number) {
    return `${this.#log.id}-${number}`;
  }

  #showCounts(count) {
    const { entries, filter, waitingCount, droppedCount, isPaused } = this.#events;
    const parts = [filter === '' ? String(count) : `${count} of ${entries.length}`];
    if (droppedCount > 0) parts.push(`${droppedCount} older ones removed`);
    if (isPaused) parts.push(`paused, ${waitingCount} waiting`);
    const text = parts.join(' · ');
    const shown = this.#part('log-count');
    if (shown.textContent !== text) shown.textContent = text;
  }

  #isAtEnd() {
    return this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < LINE_HEIGHT;
  }

  // The chosen line

  #indexOf(number) {
    return this.#events.matching.findIndex((entry) => entry.number === number);
  }

  #choose(index) {
    const entry = this.#events.matching[index] ?? null;
    this.#chosen = entry?.number ?? null;
    this.#part('frame').hidden = entry === null;
    if (entry !== null) {
      this.#isPinned = false;
      this.#part('frame-title').textContent = entry.raw === '' ? entry.type : `${entry.type} · ${entry.size} bytes`;
      this.#part('frame-text').textContent =
        entry.message === null ? entry.raw || entry.detail : JSON.stringify(entry.message, null, 2);
      this.#part('frame-raw').textContent = entry.raw;
      this.#part('frame-raw-box').hidden = entry.raw === '';
    }
    this.#show();
  }

  #markChosen() {
    for (const [number, line] of this.#shown) line.setAttribute('aria-selected', String(number === this.#chosen));
    const isShown = this.#chosen !== null && this.#shown.has(this.#chosen);
    if (isShown) this.#log.setAttribute('aria-activedescendant', this.#lineId(this.#chosen));
    else this.#log.removeAttribute('aria-activedescendant');
  }

  #pressed(event) {
    const count = this.#events.matching.length;
    const current = this.#chosen === null ? -1 : this.#indexOf(this.#chosen);
    const next = {
      ArrowDown: current < 0 ? count - 1 : Math.min(current + 1, count - 1),
      ArrowUp: current < 0 ? count - 1 : Math.max(current - 1, 0),
      Home: 0,
      End: count - 1,
    }[event.key];
    if (next === undefined || count === 0) return;
    event.preventDefault();
    const top = next * LINE_HEIGHT;
    const { scrollTop, clientHeight } = this.#log;
    this.#isPinned = false;
    if (top < scrollTop) this.#log.scrollTop = top;
    else if (top + LINE_HEIGHT > scrollTop + clientHeight) this.#log.scrollTop = top + LINE_HEIGHT - clientHeight;
    this.#choose(next);
  }

  // Commands

  #setFilter(filter) {
    this.#events.filter = filter;
    this.#isPinned = true;
    this.#show();
  }

  #setPaused(isPaused) {
    this.#events.isPaused = isPaused;
    this.#part('log-pause').setAttribute('aria-pressed', String(isPaused));
    this.#show();
  }

  #clear() {
    this.#events.clear();
    this.#choose(-1);
  }

  async #copy(button) {
    if (await copyText(this.#part('frame-raw').textContent || this.#part('frame-text').textContent)) {
      button.textContent = 'Copied';
    } else {
      getSelection().selectAllChildren(this.#part('frame-text'));
      button.textContent = 'Selected: press Ctrl+C';
    }
    setTimeout(() => (button.textContent = 'Copy'), 1500);
  }

  #export() {
    const address = URL.createObjectURL(new Blob([this.#events.exported()], { type: 'application/jsonl' }));
    make('a', { href: address, download: 'signalbox-events.jsonl' }).click();
    // The browser reads the file after this task.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  #escape() {
    if (!this.#part('frame').hidden) {
      this.#choose(-1);
      this.#log.focus();
      return;
    }
    this.#setOpen(false);
    this.#toggle.focus();
  }

  /** Whether the user wants to know what a developer wants to know. */
  get isOpen() {
    return !this.#panel.hidden;
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    this.#part('room-view').classList.toggle('with-inspector', isOpen);
    this.#part('pane').classList.toggle('wide', isOpen);
    if (isOpen) {
      this.#isPinned = true;
      this.#show();
      this.#part('signal-type').focus();
    }
  }
}

function kindOf({ direction, type }) {
  if (type === 'error' || type === 'disconnected' || type === 'malformed') return 'bad';
  if (type === 'ack' || type === 'connected') return 'good';
  return direction;
}

/** The most interesting member of a line, in words. */
function detailOf({ type, message }) {
  if (message === null) return '';
  switch (message.ev ?? message.op) {
    case 'signal':
      return typeof message.data === 'string' ? message.data : '';
    case 'ack':
      return `acknowledges ${message.id}`;
    case 'error':
      return `${message.code ?? ''} ${message.message ?? ''}`.trim();
    case 'connected':
      return String(message.outcome ?? '');
    case 'connectionCreated':
      return String(message.connection?.connectionId ?? '');
    case 'connectionDestroyed':
    case 'disconnected':
      return `${message.connectionId ?? ''} ${message.reason ?? ''}`.trim();
    case 'connectionAway':
    case 'connectionBack':
      return String(message.connectionId ?? '');
    default:
      return type === 'connect' && message.resume ? 'resume' : '';
  }
}
