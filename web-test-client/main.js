// The test page: a form, and behind it one end of a conversation, or two. Everything it does with the server goes through the
// public calls of the library, as in any application.
import { firstCable, layCable } from './page/breakable-socket.js';
import OT from './opentok/index.js';
import { find } from './page/dom.js';
import { JoinView } from './page/join-view.js';
import { Pane } from './page/pane.js';

const isDemo = new URLSearchParams(location.search).has('demo');

let takesRooms = false;
let wish = null;
/** The other end, and what it is made with once it has been asked for. */
let second = null;
let other = null;
let wantsSecond = false;

const join = new JoinView((wanted) => {
  wish = wanted;
  enter();
});

const first = new Pane({
  OT,
  cable: firstCable,
  access: () => accessFor(wish),
  joined: showRoom,
  left: leaveAll,
  failed(message) {
    join.setBusy(false);
    join.setError(message);
    if (isDemo) showJoin();
  },
  unread: showTitle,
});
first.element.hidden = true;
find('panes').append(first.element);

find('leave').addEventListener('click', () => first.leave());
find('second').addEventListener('click', () => (wantsSecond ? closeSecond() : openSecond()));
find('invite').addEventListener('click', async () => {
  await navigator.clipboard.writeText(roomLink({ room: wish.room }));
  const button = find('invite');
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy link'), 1500);
});

start();

async function start() {
  // Asked for a room instead, a server without rooms would make the browser complain of an error.
  takesRooms = await fetch('./livez').then((answer) => answer.json()).then(({ rooms }) => rooms === true, () => false);
  if (isDemo && takesRooms) {
    wish = { name: 'Left', room: join.room ?? newRoom(), role: 'publisher' };
    enter();
  } else {
    showJoin();
  }
}

function enter() {
  join.setBusy(true);
  first.enter();
}

async function accessFor(wanted) {
  if (wanted.room === undefined) return wanted;
  const { name, room, role } = wanted;
  const query = new URLSearchParams({ data: name });
  if (role !== 'publisher') query.set('role', role);
  const answer = await fetch(`./room/${encodeURIComponent(room)}?${query}`);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return { ...(await answer.json()), name, room };
}

function showRoom() {
  join.hide();
  find('panes').hidden = false;
  find('room-actions').hidden = false;
  const name = find('room-name');
  name.textContent = wish.room ?? 'Session';
  name.hidden = false;
  // Clipboards exist on secure pages only; without one the link in the address bar must do.
  find('invite').hidden = wish.room === undefined || !navigator.clipboard;
  if (wish.room !== undefined) history.replaceState(null, '', roomLink({ ...(isDemo ? { demo: '' } : {}), room: wish.room }));
  showTitle();
  first.composer.focus();
  if (isDemo && !wantsSecond) openSecond();
}

function showJoin() {
  find('panes').hidden = true;
  find('room-actions').hidden = true;
  find('room-name').hidden = true;
  join.show({ takesRooms });
}

function leaveAll() {
  closeSecond();
  first.element.hidden = true;
  showJoin();
  showTitle();
}

/**
 * The other end, in the same page. One library gives one Session for one session id, so it gets a library of its own: the same
 * module under another address is loaded once more.
 */
async function openSecond() {
  setSecond(true);
  other ??= await loadOther();
  // Somebody may have thought better of it meanwhile.
  if (!wantsSecond || second) return;
  second = new Pane({
    ...other,
    suffix: '-2',
    access: () => accessFor({ ...wish, name: isDemo ? 'Right' : 'Second person', role: 'publisher' }),
    joined: showTitle,
    left: closeSecond,
    failed: closeSecond,
    unread: showTitle,
  });
  second.element.hidden = true;
  find('panes').append(second.element);
  second.enter();
}

async function loadOther() {
  const cable = layCable();
  const { default: otherOT } = await import('./opentok/index.js?second');
  return { OT: otherOT, cable };
}

function closeSecond() {
  setSecond(false);
  second?.remove();
  second = null;
  showTitle();
}

function setSecond(isOpen) {
  wantsSecond = isOpen;
  const button = find('second');
  button.setAttribute('aria-pressed', String(isOpen));
  find('panes').classList.toggle('two', isOpen);
}

function showTitle() {
  const place = wish?.room && !find('panes').hidden ? `${wish.room} · Signalbox` : 'Signalbox';
  const count = document.hidden || !second ? first.unreadCount : 0;
  document.title = count > 0 ? `(${count}) ${place}` : place;
}

function roomLink(query) {
  const link = new URL(location.href);
  link.search = new URLSearchParams(query).toString().replace('demo=', 'demo');
  link.hash = '';
  return link.href;
}

function newRoom() {
  return `demo-${[...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
