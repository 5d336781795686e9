import { find } from './dom.js';

const ROOM_PATTERN = /^[A-Za-z0-9\-._~]{1,64}$/;
const NAME_KEY = 'signalbox.name';

/**
 * The form before the room. With a server in development mode a room's name is enough; otherwise it asks for what an
 * application server would hand out.
 */
export class JoinView {
  #view = find('join');
  #error = find('join-error');
  #button = find('join-button');
  #takesRooms = false;

  /** The room that the address names, or null. */
  room = roomInAddress();

  /** `join(wish)` is called with `{name, room, role}` or `{name, apiKey, sessionId, token}`. */
  constructor(join) {
    if (this.room) find('room').value = this.room;
    find('name').value = rememberedName();
    find('join-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const wish = this.#wish();
      if (wish) join(wish);
    });
  }

  show({ takesRooms }) {
    this.#takesRooms = takesRooms;
    find('room-fields').hidden = !takesRooms;
    find('credential-fields').hidden = takesRooms;
    find('join-title').textContent = takesRooms ? 'Join a room' : 'Join a session';
    find('join-hint').textContent = takesRooms
      ? 'Everybody who opens this page and joins the same room can talk to each other.'
      : 'Enter the session that your application made, and a token for it.';
    find('demo-hint').hidden = !takesRooms;
    this.#view.hidden = false;
    this.setBusy(false);
    find('name').focus();
  }

  hide() {
    this.#view.hidden = true;
    this.setError(null);
  }

  setBusy(isBusy) {
    this.#button.disabled = isBusy;
    this.#button.textContent = isBusy ? 'Joining…' : 'Join';
  }

  setError(message) {
    this.#error.hidden = message === null;
    this.#error.textContent = message ?? '';
  }

  #wish() {
    this.setError(null);
    const value = (id) => find(id).value.trim();
    const name = value('name');
    rememberName(name);
    if (!this.#takesRooms) {
      const wish = { name, apiKey: value('api-key'), sessionId: value('session-id'), token: value('token') };
      if (wish.apiKey && wish.sessionId && wish.token) return wish;
      this.setError('API key, session ID and token are all needed.');
      return null;
    }
    const room = value('room').replace(/\s+/g, '-');
    if (!ROOM_PATTERN.test(room)) {
      this.setError('A room’s name is 1 to 64 letters, digits, “-”, “.”, “_” or “~”.');
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

// A browser may refuse storage altogether; then the name is typed again.

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
    // Nothing to do about it.
  }
}
