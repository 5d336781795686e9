// The admin page: asks the server every two seconds, and shows the answers.
import {
  CursorPages, Pages, Series, age, bytes, cards, count, decimal, describeEvent, describeKept, describeState,
  describeWaiting, moment, personName, restrictionAuthor, restrictionName, restrictionSubject, sessionHash,
  sessionInHash, sessionName, terms, undoing,
} from "./model.mjs";

const interval = 2000;
const eventLimit = 200;
const element = (id) => document.getElementById(id);
const sessionPages = new Pages(100);
const sleeperPages = new CursorPages();
const sleeperLimit = 100;
// A search reads 500 sleeping sessions with a request. What these do not find, "Next" goes on to search.
const searchLimit = 10;
const memberPages = new Pages(100);
const shown = cards.map(makeCard);
let token = sessionStorage.getItem("token") ?? "";
let last = null;
let selected = null;
let selectedLabel = null;
let lastSeq = null;
let timer = null;
let generation = 0;

async function ask(path, method = "GET", content = undefined) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const body = content === undefined ? undefined : JSON.stringify(content);
  const response = await fetch(`/admin/v1/${path}`, { method, headers, body, cache: "no-store" });
  if (response.status === 401) {
    element("login").hidden = false;
    throw new Error("The server asks for the admin token.");
  }
  if (response.status === 204) return null;
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { status: response.status });
  return answer;
}

// One round at a time. An action of the user begins a new one, and the answers of the old one are ignored.
async function refresh() {
  clearTimeout(timer);
  const round = ++generation;
  const isCurrent = () => round === generation;
  try {
    const stats = await ask("stats");
    if (!isCurrent()) return;
    stats.at = performance.now();
    showStats(stats);
    await refreshList(isCurrent);
    if (!isCurrent()) return;
    if (selected !== null) await refreshDetail(isCurrent);
    if (!isCurrent()) return;
    const feeds = await ask("feeds");
    if (!isCurrent()) return;
    showConsumers(feeds.items);
    element("login").hidden = true;
    setStatus(`${stats.status === "ok" ? "Running" : stats.status} for ${age(stats.uptimeSeconds)}, version ${stats.version}`);
  } catch (error) {
    if (isCurrent()) setStatus(`${error.message} Trying again…`, true);
  }
  if (isCurrent()) timer = setTimeout(refresh, interval);
}

const showsSleepers = () => element("which").value === "asleep";
const listPages = () => (showsSleepers() ? sleeperPages : sessionPages);

async function refreshList(isCurrent) {
  const search = element("search").value.trim();
  if (showsSleepers()) return refreshSleepers(search, isCurrent);
  const query = new URLSearchParams({ limit: sessionPages.size, offset: sessionPages.offset });
  if (search) query.set("search", search);
  const sessions = await ask(`sessions?${query}`);
  if (isCurrent()) showSessions(sessions);
}

async function refreshSleepers(search, isCurrent) {
  const items = [];
  let next = sleeperPages.before;
  for (let count = 0; count < searchLimit && items.length < sleeperLimit && (count === 0 || next); count += 1) {
    const query = new URLSearchParams({ asleep: true, limit: sleeperLimit - items.length });
    if (search) query.set("search", search);
    if (next) query.set("before", next);
    const page = await ask(`sessions?${query}`);
    if (!isCurrent()) return;
    items.push(...page.items);
    next = page.next ?? null;
  }
  sleeperPages.note(items.length, next);
  showSleepers(items);
}

async function refreshDetail(isCurrent) {
  const path = `sessions/${encodeURIComponent(selected)}`;
  try {
    const session = await ask(path);
    if (session.asleep) return await refreshEmpty(path, session, isCurrent);
    const members = await ask(`${path}/connections?limit=${memberPages.size}&offset=${memberPages.offset}`);
    const events = await ask(`${path}/events?limit=100${lastSeq === null ? "" : `&after=${lastSeq}`}`);
    const { restrictions } = await ask(`${path}/moderation`);
    if (!isCurrent()) return;
    selectedLabel = session.label;
    showPresence("present");
    showMembers(members);
    showRestrictions(restrictions);
    showEvents(events);
  } catch (error) {
    if (error.status !== 404) throw error;
    if (isCurrent()) await refreshEmpty(path, null, isCurrent);
  }
}

// A session that nobody is in may sleep, and its restrictions with it.
async function refreshEmpty(path, session, isCurrent) {
  let restrictions = null;
  try {
    ({ restrictions } = await ask(`${path}/moderation`));
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  if (!isCurrent()) return;
  selectedLabel = session?.label ?? selectedLabel;
  showPresence(restrictions ? "asleep" : "ended");
  showMembers({ count: 0, items: [] });
  showRestrictions(restrictions ?? []);
}

// Whether somebody is in the session, `present`, or it is `asleep` or `ended`.
function showPresence(presence) {
  showTitle({ present: "", asleep: " (nobody is here)", ended: " (ended)" }[presence]);
  for (const id of ["members-pages", "members-list", "events-part"]) element(id).hidden = presence === "asleep";
  element("asleep").hidden = presence !== "asleep";
  element("act").hidden = presence === "ended";
}

function setStatus(text, isFailed = false) {
  element("status").textContent = text;
  element("status").classList.toggle("failed", isFailed);
}

function make(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function makeCard(card) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const line = svg.appendChild(document.createElementNS(svg.namespaceURI, "polyline"));
  // No live region: a screen reader must not read twelve numbers every two seconds.
  const output = make("p", { text: "–", className: "value" });
  const title = make("h2", { text: card.title });
  element("numbers").append(make("div", { className: "card", role: "group", "aria-label": card.title }, title, output, svg));
  return { ...card, series: new Series(), output, line };
}

function showStats(stats) {
  for (const card of shown) {
    const value = card.read(stats, last);
    card.series.add(value);
    card.output.textContent = card.write(value);
    card.line.setAttribute("points", card.series.points);
  }
  last = stats;
}

// Changes rows in place, so that the focus and a selection of text survive.
function fill(table, items, key, cells) {
  const body = element(table).tBodies[0];
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  items.forEach((item, index) => {
    const row = known.get(key(item)) ?? make("tr");
    known.delete(key(item));
    row.dataset.key = key(item);
    cells(row, item);
    if (body.rows[index] !== row) body.insertBefore(row, body.rows[index] ?? null);
  });
  for (const row of known.values()) row.remove();
}

function setCells(row, values) {
  values.forEach(([text, className], index) => {
    const cell = row.cells[index] ?? row.insertCell();
    if (className) cell.className = className;
    if (text instanceof Node) {
      if (!cell.firstChild) cell.append(text);
    } else if (cell.textContent !== text) {
      cell.textContent = text;
    }
  });
}

function showRange(pages, prefix) {
  element(`${prefix}range`).textContent = pages.text;
  showSteps(pages, prefix);
}

function showSteps(pages, prefix) {
  element(`${prefix}previous`).disabled = !pages.hasPrevious;
  element(`${prefix}next`).disabled = !pages.hasNext;
}

function showSessions(sessions) {
  sessionPages.note(sessions.count);
  showList(sessionPages);
  fill("sessions", sessions.items, (each) => each.sessionId, (row, each) => {
    row.classList.toggle("selected", each.sessionId === selected);
    setCells(row, [
      [row.cells.length ? row.cells[0].firstChild : sessionLink(each), "id"], [each.apiKey ?? ""],
      [count(each.connections), "number"], [count(each.detached), "number"], [decimal(each.eventsPerSecond), "number"],
      [bytes(each.sentBytesPerSecond), "number"], [count(each.lastSeq), "number"], [bytes(each.logBytes), "number"],
    ]);
  });
}

function showSleepers(items) {
  showList(sleeperPages);
  fill("sleepers", items, (each) => each.sessionId, (row, each) => {
    row.classList.toggle("selected", each.sessionId === selected);
    setCells(row, [
      [row.cells.length ? row.cells[0].firstChild : sessionLink(each), "id"], [each.apiKey ?? ""],
      [each.lastJoinAt === undefined ? "" : moment(each.lastJoinAt)], [describeKept(each)],
      [count(each.lastSeq), "number"],
    ]);
  });
}

function showList(pages) {
  showRange(pages, "");
  element("sessions-list").hidden = showsSleepers();
  for (const id of ["sleepers-list", "sleepers-note"]) element(id).hidden = !showsSleepers();
}

// A link: the address can be reloaded, shared, and opened in another tab.
function sessionLink({ sessionId, label }) {
  const link = make("a", { text: sessionName(sessionId, label), className: "link", href: sessionHash(sessionId) });
  // The name first, and the ID for a search on the page.
  if (label) link.append(make("span", { text: sessionId, className: "quiet" }));
  return link;
}

function showTitle(state) {
  element("detail-title").textContent = `${sessionName(selected, selectedLabel)}${state}`;
  element("detail-id").textContent = selectedLabel ? selected : "";
}

function select(id) {
  if (id === selected) return;
  selected = id;
  selectedLabel = null;
  lastSeq = null;
  memberPages.offset = 0;
  element("events").replaceChildren();
  element("members").tBodies[0].replaceChildren();
  showRestrictions([]);
  element("detail").hidden = id === null;
  element("act").reset();
  showDone("");
  if (id !== null) showPresence("present");
  refresh();
}

function showMembers(members) {
  memberPages.note(members.count);
  showRange(memberPages, "members-");
  fill("members", members.items, (each) => each.connectionId, (row, each) => {
    setCells(row, [
      [each.connectionId, "id"], [each.user ?? "", "data"], [each.data, "data"], [each.role], [describeState(each)], [each.address ?? ""],
      [age(each.ageSeconds), "number"],
      [row.cells.length ? row.cells[7].firstChild : disconnectButton(each)],
    ]);
  });
}

function disconnectButton({ connectionId, data }) {
  const person = personName(data, connectionId);
  const button = make("button", {
    text: "Disconnect", className: "danger", type: "button", "aria-label": `Disconnect ${person}`,
  });
  const session = selected;
  button.addEventListener("click", () => disconnect(session, connectionId, person));
  return button;
}

function disconnect(session, connection, person) {
  confirm(`Disconnect ${person}? The client cannot resume this connection.`, "Disconnect", () =>
    ask(`sessions/${encodeURIComponent(session)}/connections/${encodeURIComponent(connection)}`, "DELETE"));
}

// What the form asks for: a question, its verb, and the request.
function actionOnUser(name, session, user) {
  const path = `sessions/${encodeURIComponent(session)}`;
  const { value, selectedOptions } = element("act-seconds");
  const chosen = terms(value, element("act-reason").value);
  const moderate = () => ask(`${path}/moderation`, "POST", { action: name, user, ...chosen });
  const time = value ? `for ${selectedOptions[0].text}` : "until it is undone";
  const reason = chosen.reason ? ` The user reads the reason: “${chosen.reason}”` : "";
  return {
    mute: [`Mute user ${user} ${time}? The user may not signal in this session.${reason}`, "Mute", moderate],
    ban: [
      `Ban user ${user} ${time}? The user's connections to this session end, and new ones are refused.${reason}`, "Ban",
      moderate,
    ],
    erase: [
      `Erase all messages of user ${user} in this session? Nothing brings them back.`, "Erase",
      () => ask(`${path}/messages?${new URLSearchParams({ user })}`, "DELETE"),
    ],
  }[name];
}

function showDone(text, isFailed = false) {
  element("act-done").textContent = text;
  element("act-done").classList.toggle("failed", isFailed);
}

function actOnUser(name) {
  const user = element("act-user").value;
  const session = selected;
  const [question, verb, send] = actionOnUser(name, session, user);
  showDone("");
  confirm(question, verb, async () => {
    let outcome = [{ mute: "Muted ", ban: "Banned ", erase: "Erased the messages of " }[name] + `user ${user}.`];
    try {
      await send();
      // The next action must not get the terms of this one by mistake.
      if (session === selected) element("act").reset();
    } catch (error) {
      outcome = [`The server has refused it: ${error.message}.`, true];
    }
    if (session === selected) showDone(...outcome);
  });
}

function undo(session, restriction) {
  const question = `Undo: ${restrictionName(restriction)}, ${restrictionSubject(restriction)}?`;
  confirm(question, "Undo", () =>
    ask(`sessions/${encodeURIComponent(session)}/moderation`, "POST", undoing(restriction)));
}

function confirm(question, verb, act) {
  const dialog = element("confirm");
  element("question").textContent = question;
  element("confirmed").textContent = verb;
  dialog.returnValue = "cancel";
  dialog.onclose = async () => {
    if (dialog.returnValue !== "confirmed") return;
    try {
      await act();
    } catch (error) {
      if (error.status !== 404) setStatus(error.message, true);
    }
    refresh();
  };
  dialog.showModal();
}

function showRestrictions(restrictions) {
  element("held-none").hidden = restrictions.length > 0;
  element("held-list").hidden = restrictions.length === 0;
  fill("held", restrictions, (each) => String(each.ref), (row, each) => {
    setCells(row, [
      [restrictionName(each)], [restrictionSubject(each), "data"], [moment(each.time)],
      [each.until === undefined ? "undone" : moment(each.until)], [restrictionAuthor(each), "data"],
      [each.reason ?? "", "data"], [row.cells.length ? row.cells[6].firstChild : undoButton(each)],
    ]);
  });
}

function undoButton(restriction) {
  const button = make("button", {
    text: "Undo", type: "button",
    "aria-label": `Undo: ${restrictionName(restriction)}, ${restrictionSubject(restriction)}`,
  });
  const session = selected;
  button.addEventListener("click", () => undo(session, restriction));
  return button;
}

function showEvents(events) {
  const list = element("events");
  for (const event of events.items) list.prepend(make("li", { text: describeEvent(event) }));
  while (list.children.length > eventLimit) list.lastChild.remove();
  lastSeq = events.items.at(-1)?.seq ?? lastSeq ?? events.lastSeq;
}

function showConsumers(items) {
  element("backends").hidden = items.length === 0;
  fill("consumers", items, (each) => `${each.apiKey} ${each.kind} ${each.name}`, (row, each) => {
    const { entries, time } = describeWaiting(each);
    setCells(row, [
      [each.name, "data"], [each.apiKey], [each.kind], [count(each.events), "number"], [entries, "number"],
      [time, "number"],
    ]);
  });
}

for (const [prefix, pages] of [["", listPages], ["members-", () => memberPages]]) {
  for (const direction of ["previous", "next"]) {
    element(prefix + direction).addEventListener("click", () => {
      pages()[direction]();
      showSteps(pages(), prefix);
      refresh();
    });
  }
}
for (const id of ["search", "which"]) {
  element(id).addEventListener("input", () => {
    sessionPages.offset = 0;
    sleeperPages.restart();
    showSteps(listPages(), "");
    element("search").placeholder = showsSleepers() ? "name, user or ID" : "name, person or ID";
    refresh();
  });
}
element("act").addEventListener("submit", (event) => {
  event.preventDefault();
  actOnUser(event.submitter.value);
});
element("close").addEventListener("click", () => {
  // Not `location.hash`, which would leave a `#` and scroll.
  history.pushState(null, "", location.pathname + location.search);
  select(null);
});
addEventListener("hashchange", () => select(sessionInHash(location.hash)));
addEventListener("popstate", () => select(sessionInHash(location.hash)));
element("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = element("token").value;
  sessionStorage.setItem("token", token);
  refresh();
});
selected = sessionInHash(location.hash);
element("detail").hidden = selected === null;
if (selected !== null) showPresence("present");
refresh();
