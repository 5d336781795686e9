// The test page: a form, and behind it the room. The browser loads the room while the user fills in the form, so that
// the form needs little and shows early.
import { JoinView } from './page/join-view.js';

/** A server that has not answered after this time counts as absent. */
const ANSWER_MILLISECONDS = 8000;

/** The form shows that it waits for the server only if this takes so long: a fast answer does not flicker. */
const PATIENCE_MILLISECONDS = 400;

const isDemo = new URLSearchParams(location.search).has('demo');

/** Whether the server has rooms: only in development mode. */
let hasRooms = false;
/** The promise of the `Room`, from its first use on. */
let room = null;
/** Increases with each attempt to join. An older one that is loaded late does nothing. */
let attempt = 0;

const join = new JoinView({
  join: enter,
  async cancel() {
    attempt += 1;
    join.setBusy(false);
    (await room?.catch(() => null))?.cancel();
  },
  retry: start,
});

start();

async function start() {
  const patience = setTimeout(() => join.showWaiting(), PATIENCE_MILLISECONDS);
  try {
    hasRooms = await askForRooms();
  } catch {
    join.showAbsent();
    return;
  } finally {
    clearTimeout(patience);
  }
  if (isDemo && hasRooms) {
    enter({ name: 'Left', room: join.room ?? newRoom(), role: 'publisher' });
    return;
  }
  join.show({ hasRooms });
  // A failure shows when the user joins.
  loadRoom().catch(() => {});
}

/** Asks `/livez` first: on a server without rooms, the browser would report a failed request for a room as an error. */
async function askForRooms() {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), ANSWER_MILLISECONDS);
  try {
    const response = await fetch('./livez', { signal: waiting.signal });
    const { rooms } = await response.json();
    return rooms === true;
  } finally {
    clearTimeout(timer);
  }
}

async function enter(request) {
  attempt += 1;
  const own = attempt;
  join.setBusy(true);
  const timeout = new Promise((_, reject) => setTimeout(reject, ANSWER_MILLISECONDS));
  try {
    const loaded = await Promise.race([loadRoom(), timeout]);
    if (own === attempt) loaded.enter(request);
  } catch {
    if (own === attempt) failed('The server did not deliver the rest of the page. Check that it is running.');
  }
}

function loadRoom() {
  room ??= import('./page/room.js').then(
    ({ Room }) => new Room({ isDemo, joined: () => join.hide(), left: () => join.show({ hasRooms }), failed }),
    (error) => {
      room = null;
      throw error;
    },
  );
  return room;
}

function failed(message) {
  join.show({ hasRooms });
  join.setFailed(message);
}

function newRoom() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  return `demo-${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
