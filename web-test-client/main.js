// The test page: a form, and behind it the room. The browser loads the room while the user fills in the form, so that
// the form needs little and shows early.
import { refuseFiles } from './chat/views/refused-files.js';
import { writeWords } from './chat/words/write-words.js';
import { adoptColours } from './page/colours.js';
import { JoinView } from './page/join-view.js';
import { forgetLink, linkIn, openLink, takeLink } from './page/page-link.js';
import { joinedIn } from './page/room-history.js';
import { pageWords } from './page/words.js';

/** A server that has not answered after this time counts as absent. */
const ANSWER_MILLISECONDS = 8000;

/** The form shows that it waits for the server only if this takes so long: a fast answer does not flicker. */
const PATIENCE_MILLISECONDS = 400;

adoptColours();

const words = await pageWords(navigator.languages);
// The chat follows the language of the document.
document.documentElement.lang = words.language;
document.documentElement.dir = words.direction;
writeWords(document, words);

const query = new URLSearchParams(location.search);
const isDemo = query.has('demo');

/** Whether the page shows what developers use, besides in development mode. Whoever comes with a link wants to chat. */
const wantsTools = query.has('tools');

/** The link with which the user came, or null. */
let link = takeLink();
// The user has put another link into the address bar: a change of the fragment alone does not load the page.
addEventListener('hashchange', () => {
  if (linkIn(location.hash) !== null) location.reload();
});

addEventListener('popstate', ({ state }) => {
  const entered = joinedIn(state);
  // The last request of a session is known as long as the page is.
  const request = entered?.room ? entered : entered && lastRequest;
  if (request) enter(request);
  else leave();
});

refuseFiles(document, async () => {
  if (join.isShown) join.setError(words.text('noFiles'));
  else (await room)?.tell(words.text('noFiles'));
});

/** What the user has joined last. */
let lastRequest = null;
/** Whether the server has rooms: only in development mode. */
let hasRooms = false;
/** The promise of the `Room`, from its first use on. */
let room = null;
/** Increases with each attempt to join. An older one that is loaded late does nothing. */
let attempt = 0;

const join = new JoinView({
  words,
  join: enter,
  cancel: leave,
  retry: start,
  forget() {
    link = null;
    forgetLink();
    showForm();
  },
});

start();

async function start() {
  const patience = setTimeout(() => join.showWaiting(), PATIENCE_MILLISECONDS);
  try {
    hasRooms = await askForRooms();
    link = await openLink(link, (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }));
    document.body.classList.toggle('has-tools', hasTools());
  } catch (error) {
    if (error instanceof SyntaxError) join.showAbsent(words.text('notSignalbox'));
    else join.showAbsent(words.text('noServer'));
    return;
  } finally {
    clearTimeout(patience);
  }
  if (link?.access) {
    showForm();
    enter(link.access);
    return;
  }
  const entered = joinedIn(history.state);
  if (entered?.room && hasRooms) {
    // The page was loaded again in a room.
    showForm();
    enter(entered);
    return;
  }
  if (isDemo && hasRooms) {
    enter({ name: words.text('startUser'), room: join.room ?? newRoom(), role: 'publisher' });
    return;
  }
  showForm();
  // A failure shows when the user joins.
  if (hasTools()) loadRoom().catch(() => {});
}

function hasTools() {
  return hasRooms || wantsTools;
}

function showForm() {
  if (link?.access) {
    join.showLink(link.access, { mayForget: hasTools() });
  } else if (hasTools()) {
    join.show({ hasRooms });
    if (link?.problem) join.setError(words.text(link.problem));
  } else {
    join.showSentence(words.text(link?.problem ?? 'needsLink'));
  }
}

/** Asks `/livez` first: on a server without rooms, the browser would report a failed request for a room as an error. */
async function askForRooms() {
  const { rooms } = await (await ask('./livez')).json();
  return rooms === true;
}

/** A request that fails when the server is slow to answer, or to send the rest of its answer. */
function ask(path, options) {
  return fetch(path, { ...options, signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
}

async function enter(request) {
  attempt += 1;
  lastRequest = request;
  const own = attempt;
  const beganAt = performance.now();
  join.setBusy(true);
  const timeout = new Promise((_, reject) => setTimeout(reject, ANSWER_MILLISECONDS));
  try {
    const loaded = await Promise.race([loadRoom(), timeout]);
    if (own === attempt) loaded.enter(request, performance.now() - beganAt);
  } catch {
    if (own === attempt) failed(words.text('notDelivered'));
  }
}

/** Leaves the room, or ends the attempt to join. */
async function leave() {
  attempt += 1;
  if (join.isShown) join.setBusy(false);
  (await room?.catch(() => null))?.leave();
}

function loadRoom() {
  room ??= import('./page/room.js').then(
    ({ Room }) => new Room({ isDemo, hasTools: hasTools(), words, joined: () => join.hide(), left: showForm, failed }),
    (error) => {
      room = null;
      throw error;
    },
  );
  return room;
}

/** `isFinal`: the same attempt cannot succeed. */
function failed(message, isFinal = false) {
  if (isFinal && link?.access && !hasTools()) {
    join.showSentence(message);
    return;
  }
  showForm();
  join.setFailed(message);
}

function newRoom() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  return `demo-${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
