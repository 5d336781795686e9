import { find } from './dom.js';
import { labelOf } from './page-link.js';

const ROOM_PATTERN = /^[A-Za-z0-9\-._~]{1,64}$/;
const NAME_KEY = 'signalbox.name';

/**
 * The form in front of the room. A server in development mode needs the name of a room only. For other servers the form
 * asks for an API key, a session id and a token, which an application's server would provide.
 */
export class JoinView {
  #view = find('join');
  #error = find('join-error');
  #button = find('join-button');
  #cancel = find('join-cancel');
  #forget = find('forget-link');
  #hasRooms = false;
  #link = null;
  #words;
  #hasWrongRoom = new URLSearchParams(location.search).has('room') && roomInAddress() === null;
  /**
   * `ready`: the user may join. `link`: they may join with a link. `asking`: the server has not answered yet. `absent`:
   * it does not answer. `sentence`: they read one, and cannot join.
   */
  #state = 'asking';

  /** The room in the address of the page, or null. */
  room = roomInAddress();

  /**
   * `words` are the texts. `join(request)` is called with `{name, room, role}` or `{name, apiKey, sessionId, token}`, `cancel()` when the user
   * does not want to wait for it, `retry()` to ask an absent server again, and `forget()` to use no link.
   */
  constructor({ words, join, cancel, retry, forget }) {
    this.#words = words;
    this.#button.textContent = words.text('join');
    if (this.room) find('room').value = this.room;
    find('name').value = rememberedName();
    find('join-form').addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#state === 'absent') {
        this.showWaiting();
        retry();
        return;
      }
      if (this.#state === 'link') join(this.#link);
      const request = this.#state === 'ready' ? this.#request() : null;
      if (request) join(request);
    });
    // Another input is not the same attempt again.
    find('join-form').addEventListener('input', () => {
      this.#hasWrongRoom = false;
      if (this.#state === 'ready' && !this.#button.disabled) this.#button.textContent = this.#words.text('join');
    });
    this.#cancel.addEventListener('click', cancel);
    this.#forget.addEventListener('click', forget);
  }

  /** The server has not told yet whether it has rooms. */
  showWaiting() {
    this.#showAlone('asking', this.#words.text('hintWaiting'));
    this.#button.disabled = true;
    this.#button.textContent = this.#words.text('waiting');
  }

  /** The server does not answer, or not as a Signalbox server. */
  showAbsent(message) {
    this.#showAlone('absent', this.#words.text('hintAbsent'));
    this.setError(message);
    this.#button.disabled = false;
    this.#button.textContent = this.#words.text('tryAgain');
    this.#button.focus();
  }

  #showAlone(state, hint) {
    this.#state = state;
    this.setError(null);
    find('join-title').textContent = this.#words.text('joinRoom');
    find('join-hint').textContent = hint;
    for (const id of ['name-field', 'room-fields', 'credential-fields', 'demo-hint', 'forget-link', 'join-cancel']) {
      find(id).hidden = true;
    }
    find('join-title').hidden = false;
    this.#button.hidden = false;
    this.#view.hidden = false;
  }

  /** There is nothing to do here but to read why. */
  showSentence(sentence) {
    this.#showAlone('sentence', sentence);
    find('join-title').hidden = true;
    this.#button.hidden = true;
  }

  /** The user came with a link to this session. */
  showLink(access, { mayForget }) {
    this.#showAlone('link', this.#words.text('hintLink'));
    this.#link = access;
    find('join-title').textContent = labelOf(access.sessionId) ?? this.#words.text('joinSession');
    this.#forget.hidden = !mayForget;
    this.setBusy(false);
    this.#button.focus();
  }

  show({ hasRooms }) {
    this.#state = 'ready';
    find('join-title').hidden = false;
    this.#button.hidden = false;
    this.#hasRooms = hasRooms;
    this.setError(null);
    find('name-field').hidden = false;
    find('room-fields').hidden = !hasRooms;
    find('credential-fields').hidden = hasRooms;
    find('join-title').textContent = this.#words.text(hasRooms ? 'joinRoom' : 'joinSession');
    find('join-hint').textContent = this.#words.text(hasRooms ? 'hintRooms' : 'hintSession');
    find('demo-hint').hidden = !hasRooms;
    this.#forget.hidden = true;
    this.#view.hidden = false;
    this.setBusy(false);
    if (this.#hasWrongRoom) this.setError(this.#words.text('wrongRoom', { rule: { text: this.#words.text('roomRule') } }));
    find('name').focus();
  }

  get isShown() {
    return !this.#view.hidden;
  }

  hide() {
    this.#view.hidden = true;
    this.setError(null);
  }

  setBusy(isBusy) {
    this.#button.disabled = isBusy;
    this.#button.textContent = this.#words.text(isBusy ? 'joining' : 'join');
    this.#cancel.hidden = !isBusy;
    if (isBusy) this.setError(null);
  }

  /** The attempt to join has failed. */
  setFailed(message) {
    this.setBusy(false);
    this.setError(message);
    this.#button.textContent = this.#words.text('tryAgain');
  }

  setError(message) {
    this.#error.hidden = message === null;
    this.#error.textContent = message ?? '';
  }

  #request() {
    this.setError(null);
    const value = (id) => find(id).value.trim();
    const name = value('name');
    rememberName(name);
    if (!this.#hasRooms) {
      const request = { name, apiKey: value('api-key'), sessionId: value('session-id'), token: value('token') };
      if (request.apiKey && request.sessionId && request.token) return request;
      this.setError(this.#words.text('needsCredentials'));
      return null;
    }
    const room = value('room').replace(/\s+/g, '-');
    if (!ROOM_PATTERN.test(room)) {
      this.setError(this.#words.text('roomRule'));
      find('room').focus();
      return null;
    }
    return { name, room, role: value('role') };
  }
}

function roomInAddress() {
  const room = new URLSearchParams(location.search).get('room');
  return room !== null && ROOM_PATTERN.test(room) ? room : null;
}

// A browser may refuse storage. Then the user enters the name again.

function rememberedName() {
  try {
    return localStorage.getItem(NAME_KEY) ?? '';
  } catch {
    return '';
  }
}

function rememberName(name) {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // The browser refuses storage.
  }
}
