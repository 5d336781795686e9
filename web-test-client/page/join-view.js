import { find } from './dom.js';

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
  #hasRooms = false;

  /** The room in the address of the page, or null. */
  room = roomInAddress();

  /** `join(request)` is called with `{name, room, role}` or `{name, apiKey, sessionId, token}`. */
  constructor(join) {
    if (this.room) find('room').value = this.room;
    find('name').value = rememberedName();
    find('join-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const request = this.#request();
      if (request) join(request);
    });
  }

  show({ hasRooms }) {
    this.#hasRooms = hasRooms;
    find('room-fields').hidden = !hasRooms;
    find('credential-fields').hidden = hasRooms;
    find('join-title').textContent = hasRooms ? 'Join a room' : 'Join a session';
    find('join-hint').textContent = hasRooms
      ? 'All users who join the same room can chat with each other.'
      : 'Enter a session of your application and a token for it. ' +
        'The commands “signalbox session” and “signalbox token” create both.';
    find('demo-hint').hidden = !hasRooms;
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

  #request() {
    this.setError(null);
    const value = (id) => find(id).value.trim();
    const name = value('name');
    rememberName(name);
    if (!this.#hasRooms) {
      const request = { name, apiKey: value('api-key'), sessionId: value('session-id'), token: value('token') };
      if (request.apiKey && request.sessionId && request.token) return request;
      this.setError('Enter the API key, the session ID and a token.');
      return null;
    }
    const room = value('room').replace(/\s+/g, '-');
    if (!ROOM_PATTERN.test(room)) {
      this.setError('A room name has 1 to 64 characters: letters a–z and A–Z, digits, “-”, “.”, “_” and “~”.');
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
