// The test page: a form, and then a pane for the user, or two panes for two users. The page uses the library as any
// application does, through its public calls.
import { firstNetworkSwitch, installNetworkSwitch } from './page/network-switch.js';
import OT from './opentok/index.js';
import { find } from './page/dom.js';
import { JoinView } from './page/join-view.js';
import { Pane } from './page/pane.js';

const COPIED_MILLISECONDS = 1500;

const isDemo = new URLSearchParams(location.search).has('demo');

/** Whether the server has rooms: only in development mode. */
let hasRooms = false;
/** The room or session that the user asked to join. */
let request = null;
/** The library of the second pane, once it has been loaded. */
let secondLibrary = null;
let secondPane = null;
let isSecondWanted = false;

const join = new JoinView((wanted) => {
  request = wanted;
  enter();
});

const firstPane = new Pane({
  OT,
  network: firstNetworkSwitch,
  access: () => accessFor(request),
  joined: showRoom,
  left: leaveRoom,
  failed(message) {
    join.setBusy(false);
    join.setError(message);
    if (isDemo) showJoin();
  },
  unread: showTitle,
});
firstPane.element.hidden = true;
find('panes').append(firstPane.element);

find('leave').addEventListener('click', () => firstPane.leave());
find('second').addEventListener('click', () => (isSecondWanted ? closeSecond() : openSecond()));
find('invite').addEventListener('click', copyLink);

start();

async function start() {
  // Ask `/livez` first: on a server without rooms, the browser would report a failed request for a room as an error.
  hasRooms = await fetch('./livez')
    .then((response) => response.json())
    .then(({ rooms }) => rooms === true, () => false);
  if (isDemo && hasRooms) {
    request = { name: 'Left', room: join.room ?? newRoom(), role: 'publisher' };
    enter();
  } else {
    showJoin();
  }
}

function enter() {
  join.setBusy(true);
  firstPane.enter();
}

async function accessFor(wanted) {
  if (wanted.room === undefined) return wanted;
  const { name, room, role } = wanted;
  const query = new URLSearchParams({ data: name });
  if (role !== 'publisher') query.set('role', role);
  const response = await fetch(`./room/${encodeURIComponent(room)}?${query}`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return { ...(await response.json()), name, room };
}

function showRoom() {
  join.hide();
  find('panes').hidden = false;
  find('room-actions').hidden = false;
  const name = find('room-name');
  name.textContent = request.room ?? 'Session';
  name.hidden = false;
  // Browsers have a clipboard on secure pages only. Elsewhere the user copies the link from the address bar.
  find('invite').hidden = request.room === undefined || !navigator.clipboard;
  if (request.room !== undefined) {
    history.replaceState(null, '', roomLink({ ...(isDemo ? { demo: '' } : {}), room: request.room }));
  }
  showTitle();
  firstPane.composer.focus();
  if (isDemo && !isSecondWanted) openSecond();
}

function showJoin() {
  find('panes').hidden = true;
  find('room-actions').hidden = true;
  find('room-name').hidden = true;
  join.show({ hasRooms });
}

function leaveRoom() {
  closeSecond();
  firstPane.element.hidden = true;
  showJoin();
  showTitle();
}

async function copyLink() {
  const button = find('invite');
  try {
    await navigator.clipboard.writeText(roomLink({ room: request.room }));
    button.textContent = 'Link copied';
  } catch {
    button.textContent = 'Copy it from the address bar';
  }
  setTimeout(() => (button.textContent = 'Copy link'), COPIED_MILLISECONDS);
}

/** Opens the pane of a second user, who joins the same room. */
async function openSecond() {
  setSecondWanted(true);
  secondLibrary ??= await loadSecondLibrary();
  // The user may have closed it while the library was loaded.
  if (!isSecondWanted || secondPane) return;
  secondPane = new Pane({
    ...secondLibrary,
    suffix: '-2',
    access: () => accessFor({ ...request, name: isDemo ? 'Right' : 'Second user', role: 'publisher' }),
    joined: showTitle,
    left: closeSecond,
    failed: closeSecond,
    unread: showTitle,
  });
  secondPane.element.hidden = true;
  find('panes').append(secondPane.element);
  secondPane.enter();
}

/**
 * A library returns the same Session for the same session id, so the second user needs another library: the browser
 * loads the same module again under another address.
 */
async function loadSecondLibrary() {
  const network = installNetworkSwitch();
  const { default: secondOT } = await import('./opentok/index.js?second');
  return { OT: secondOT, network };
}

function closeSecond() {
  setSecondWanted(false);
  secondPane?.remove();
  secondPane = null;
  showTitle();
}

function setSecondWanted(isWanted) {
  isSecondWanted = isWanted;
  find('second').setAttribute('aria-pressed', String(isWanted));
  find('panes').classList.toggle('two', isWanted);
}

function showTitle() {
  const title = request?.room && !find('panes').hidden ? `${request.room} · Signalbox` : 'Signalbox';
  const count = document.hidden || !secondPane ? firstPane.unreadCount : 0;
  document.title = count > 0 ? `(${count}) ${title}` : title;
}

function roomLink(query) {
  const link = new URL(location.href);
  link.search = new URLSearchParams(query).toString().replace('demo=', 'demo');
  link.hash = '';
  return link.href;
}

function newRoom() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  return `demo-${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
