// The test page: joins the parts of the page with a session. Everything it does with the server goes through the public
// calls of the library, as in any application.
import { breakSockets } from './page/breakable-socket.js';
import OT from './opentok/index.js';
import { ComposerView } from './page/composer-view.js';
import { find } from './page/dom.js';
import { InspectorView } from './page/inspector-view.js';
import { JoinView } from './page/join-view.js';
import { MessagesView } from './page/messages-view.js';
import { PeopleView } from './page/people-view.js';
import { Composer } from './text-chat/composer.js';
import { displayName } from './text-chat/display-name.js';
import { OPENTOK_RULE } from './text-chat/grouping-rule.js';
import { openTokRows } from './text-chat/classic-rows.js';
import { SessionChannel } from './text-chat/session-channel.js';
import { TextChatComponent } from './text-chat/text-chat-component.js';
import { ChatTimeline } from './text-chat/timeline.js';

const STATUS = {
  connecting: 'Connecting…',
  connected: 'Connected',
  reconnecting: 'Reconnecting…',
  disconnected: 'Not connected',
};

const ENDINGS = {
  forceDisconnected: 'You were removed from this room.',
  networkDisconnected: 'The connection was lost. Messages are no longer received.',
};

let takesRooms = false;
let session = null;
let chat = null;
let channel = null;
let wish = null;

const join = new JoinView((wanted) => {
  wish = wanted;
  enter();
});
const people = new PeopleView((connection) => {
  session.forceDisconnect(connection, (error) => noteOutcome('forceDisconnect', error));
});
const messages = new MessagesView({
  retry: (localId) => chat.retry(localId),
  discard: (localId) => chat.discard(localId),
});
// OpenTok's length and its blanks.
const composer = new ComposerView(new Composer({ unit: 'utf16', sendsBlankText: true }), () => {
  chat.send(Date.now(), newLocalId());
  messages.scrollToEnd();
});
const inspector = new InspectorView((options, targetId) => {
  const to = targetId ? session.connections.get(targetId) : undefined;
  inspector.note('out', options.type ? `signal:${options.type}` : 'signal', `to ${to ? displayName(to) : 'everybody'}${shown(options.data)}`);
  session.signal(to ? { ...options, to } : options, (error) => noteOutcome('signal', error));
});

find('drop').addEventListener('click', () => breakSockets());
find('leave').addEventListener('click', () => session?.disconnect());
find('rejoin').addEventListener('click', () => enter());
find('invite').addEventListener('click', async () => {
  await navigator.clipboard.writeText(roomLink(wish.room));
  const button = find('invite');
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy link'), 1500);
});
document.addEventListener('visibilitychange', () => {
  if (!chat) return;
  chat.isVisible = !document.hidden;
  if (!document.hidden) chat.markRead();
});
OT.on('exception', (event) => inspector.note('bad', 'exception', `${event.code} ${event.message}`));

start();

async function start() {
  // The body is read although nobody needs it: unread, the request would stay open in the browser.
  takesRooms = await fetch('./session').then((answer) => answer.text().then(() => answer.ok), () => false);
  join.show({ takesRooms });
}

async function enter() {
  join.setBusy(true);
  find('rejoin').disabled = true;
  setStatus('connecting');
  try {
    const { apiKey, sessionId, token } = wish.room === undefined ? wish : await credentialsFor(wish);
    connect(apiKey, sessionId, token);
  } catch {
    failed('The server did not hand out a token. Is it still running?');
  }
}

async function credentialsFor({ room, name, role }) {
  const query = new URLSearchParams({ data: name });
  if (role !== 'publisher') query.set('role', role);
  const answer = await fetch(`./room/${encodeURIComponent(room)}?${query}`);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

function connect(apiKey, sessionId, token) {
  session?.off();
  const previous = session;
  session = OT.initSession(apiKey, sessionId);
  // Coming back to the same room continues the same conversation on the page.
  channel?.stop();
  if (previous !== session || !chat) {
    chat = newChat();
    messages.clear();
  }
  session.off();
  listen(session);
  channel = new SessionChannel(session, (event) => chat.handle(event, Date.now()));
  chat.channel = channel;
  session.connect(token, (error) => {
    if (error) failed(error.message);
  });
}

function newChat() {
  return new TextChatComponent({
    composer: composer.composer,
    timeline: new ChatTimeline({ rule: OPENTOK_RULE, limit: 2000 }),
    changed(changes, activity) {
      if (activity?.kind === 'unread') setUnread(activity.count);
      if (changes.length > 0) showMessages(changes.some(({ insert }) => insert?.message?.direction === 'received'));
    },
  });
}

function listen(joined) {
  joined.on({
    sessionConnected() {
      inspector.note('good', 'sessionConnected', joined.connection.connectionId);
      chat.alias = wish.name || displayName(joined.connection);
      chat.isVisible = !document.hidden;
      showRoom();
      showMessages(false);
    },
    sessionDisconnected(event) {
      inspector.note('bad', 'sessionDisconnected', event.reason);
      left(event.reason);
    },
    sessionReconnecting() {
      inspector.note('bad', 'sessionReconnecting', '');
      setStatus('reconnecting');
    },
    sessionReconnected({ outcome }) {
      inspector.note('good', 'sessionReconnected', outcome);
      setStatus('connected');
      if (outcome === 'lost') showNotice('You were away for long. Messages may be missing.', { offersRejoin: false });
    },
    sessionConnectFailed(event) {
      inspector.note('bad', 'sessionConnectFailed', `${event.code} ${event.message}`);
    },
    connectionCreated({ connection }) {
      const isMe = connection.connectionId === joined.connection.connectionId;
      inspector.note('in', 'connectionCreated', `${displayName(connection)} · ${connection.connectionId}`);
      inspector.addTarget(connection, isMe);
      people.add(connection, { isMe, mayRemove: joined.capabilities.permittedTo('forceDisconnect') });
    },
    connectionDestroyed({ connection, reason }) {
      inspector.note('in', 'connectionDestroyed', `${displayName(connection)} · ${reason}`);
      inspector.removeTarget(connection);
      people.remove(connection);
    },
    signal(event) {
      inspector.note('in', event.type, `from ${event.from ? displayName(event.from) : 'the server'}${shown(event.data)}`);
    },
  });
}

function showRoom() {
  join.hide();
  people.clear();
  inspector.clearTargets();
  setStatus('connected');
  find('notice').hidden = true;
  find('room-view').hidden = false;
  find('room-actions').hidden = false;
  const name = find('room-name');
  name.textContent = wish.room ?? 'Session';
  name.hidden = false;
  // Clipboards exist on secure pages only; without one the link in the address bar must do.
  find('invite').hidden = wish.room === undefined || !navigator.clipboard;
  if (wish.room !== undefined) history.replaceState(null, '', roomLink(wish.room));
  setUnread(0);
  composer.setEnabled(true);
  composer.focus();
}

function left(reason) {
  setStatus('disconnected');
  find('rejoin').disabled = false;
  people.clear();
  inspector.clearTargets();
  composer.setEnabled(false);
  if (reason === 'clientDisconnected') {
    showJoin();
    return;
  }
  showNotice(ENDINGS[reason] ?? `The connection ended (${reason}).`);
  find('rejoin').focus();
}

function showJoin() {
  find('notice').hidden = true;
  find('room-view').hidden = true;
  find('room-actions').hidden = true;
  find('room-name').hidden = true;
  join.show({ takesRooms });
}

function failed(message) {
  setStatus('disconnected');
  find('rejoin').disabled = false;
  // A failed "Join again" leaves the conversation on the page; a failed first try leaves the form.
  if (find('room-view').hidden) {
    join.setBusy(false);
    join.setError(message);
  } else {
    showNotice(message);
  }
}

function showNotice(text, { offersRejoin = true } = {}) {
  find('notice-text').textContent = text;
  find('rejoin').hidden = !offersRejoin;
  find('notice').hidden = false;
}

function showMessages(hasNews) {
  messages.show(openTokRows(chat.rows), { isHeld: (localId) => chat.obstacle !== null && localId !== chat.obstacle, hasNews });
}

function setStatus(state) {
  find('drop').disabled = state !== 'connected';
  find('status').dataset.state = state;
  find('status-text').textContent = STATUS[state];
}

function setUnread(count) {
  const place = wish?.room && !find('room-view').hidden ? `${wish.room} · Signalbox` : 'Signalbox';
  document.title = count > 0 ? `(${count}) ${place}` : place;
}

function noteOutcome(request, error) {
  if (error) inspector.note('bad', `${request} refused`, `${error.code} ${error.name}: ${error.message}`);
  else inspector.note('good', `${request} acknowledged`, '');
}

function shown(data) {
  return data === undefined ? '' : `: ${data}`;
}

function roomLink(room) {
  const link = new URL(location.href);
  link.search = new URLSearchParams({ room }).toString();
  link.hash = '';
  return link.href;
}

function newLocalId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
