// What the admin page computes. Nothing here touches the page or the network, so that node can test it.

/** The numbers on the cards: the title, how to read them from two answers of /stats, and how to write them. */
export const cards = [
  { title: "Connections", read: (now) => now.connections.joined, write: count },
  { title: "Without a session", read: (now) => now.connections.unjoined, write: count },
  { title: "Detached", read: (now) => now.connections.detached, write: count },
  { title: "Sessions", read: (now) => now.sessions, write: count },
  { title: "Signals per second", read: rate((each) => each.signals), write: decimal },
  { title: "Deliveries per second", read: rate((each) => each.deliveries), write: decimal },
  { title: "Sent per second", read: rate((each) => each.sentBytes), write: bytes },
  { title: "Refusals per second", read: rate((each) => each.refusals + each.signalRefusals), write: decimal },
  { title: "Event loop busy", read: rate((each) => each.loopBusySeconds), write: percent },
  { title: "Longest turn", read: (now) => now.loopLongestTurnSeconds, write: seconds },
  { title: "Webhook delay", read: (now) => now.webhookDelaySeconds, write: age },
  { title: "Memory", read: (now) => now.residentMemoryBytes ?? 0, write: bytes },
];

/** Reads a growing number as its change per second. `at` is the time of an answer in milliseconds. */
function rate(read) {
  return (now, before) => {
    if (!before || now.at <= before.at) return 0;
    return Math.max(0, (read(now) - read(before)) / ((now.at - before.at) / 1000));
  };
}

/** The newest values of a number, as many as a sparkline shows. */
export class Series {
  constructor(limit = 60) {
    this.limit = limit;
    this.values = [];
  }

  add(value) {
    this.values.push(value);
    if (this.values.length > this.limit) this.values.shift();
  }

  /** The points of an SVG polyline in a box of 100 by 30. The newest value is at the right. */
  get points() {
    const highest = Math.max(...this.values, 0) || 1;
    const step = 100 / (this.limit - 1);
    const start = 100 - step * (this.values.length - 1);
    return this.values
      .map((value, index) => `${round(start + index * step)},${round(29 - (28 * value) / highest)}`)
      .join(" ");
  }
}

/** The part of a list that is shown. */
export class Pages {
  constructor(size) {
    this.size = size;
    this.offset = 0;
    this.count = 0;
  }

  /** Notes the size of the whole list. Returns whether the shown part lies behind its end. */
  note(count) {
    this.count = count;
    if (this.offset === 0 || this.offset < count) return false;
    this.offset = Math.max(0, Math.floor((count - 1) / this.size) * this.size);
    return true;
  }

  get hasPrevious() {
    return this.offset > 0;
  }

  get hasNext() {
    return this.offset + this.size < this.count;
  }

  previous() {
    this.offset = Math.max(0, this.offset - this.size);
  }

  next() {
    if (this.hasNext) this.offset += this.size;
  }

  get text() {
    if (this.count === 0) return "none";
    return `${count(this.offset + 1)}–${count(Math.min(this.offset + this.size, this.count))} of ${count(this.count)}`;
  }
}

/** The part of a list that is shown, if the server says where the list goes on, and not how long it is. */
export class CursorPages {
  constructor() {
    this.restart();
  }

  restart() {
    this.starts = [{ before: null, index: 0 }];
    this.note(0, null);
  }

  /** Where the shown part begins; null at the beginning of the list. */
  get before() {
    return this.starts.at(-1).before;
  }

  /** Notes how many items are shown, and where the list goes on. */
  note(count, next) {
    this.count = count;
    this.following = next ?? null;
  }

  get hasPrevious() {
    return this.starts.length > 1;
  }

  get hasNext() {
    return this.following !== null;
  }

  previous() {
    if (this.hasPrevious) this.starts.pop();
  }

  next() {
    if (!this.hasNext) return;
    this.starts.push({ before: this.following, index: this.starts.at(-1).index + this.count });
    // The next answer says where this part ends.
    this.following = null;
  }

  get text() {
    if (this.count === 0) return this.hasNext ? "none so far" : "none";
    const { index } = this.starts.at(-1);
    return `${count(index + 1)}–${count(index + this.count)}${this.hasNext ? " of more" : ""}`;
  }
}

/** What a session keeps that sleeps, in words. */
export function describeKept({ hasHistory, restrictions }) {
  const held = restrictions === 1 ? "1 restriction" : `${count(restrictions)} restrictions`;
  return [hasHistory && "messages", restrictions > 0 && held].filter(Boolean).join(", ");
}

/** What waits for a backend in a feed, in words: the number of entries, and for how long the oldest has waited. */
export function describeWaiting({ waitingEntries, hasMore, waitingSeconds, isGone }) {
  if (isGone) return { entries: "further than the feed reaches", time: "" };
  // The feed cannot be read at present.
  if (waitingEntries === undefined) return { entries: "unknown", time: "" };
  return { entries: `${count(waitingEntries)}${hasMore ? "+" : ""}`, time: age(waitingSeconds) };
}

/** The terms of a restriction that an operator has chosen, for a request. */
export function terms(seconds, reason) {
  return { ...(seconds && { seconds: Number(seconds) }), ...(reason.trim() && { reason: reason.trim() }) };
}

/** An event of a session in words. */
export function describeEvent(event) {
  const about = event.connectionId ? ` ${event.connectionId}` : "";
  const kinds = {
    signal: "signal to all", directedSignal: "signal to", presence: "presence of", erasure: "erasure",
    erased: "erased signal", moderation: "moderation",
  };
  return `${event.seq}  ${kinds[event.kind] ?? event.kind}${about}  ${event.bytes} bytes`;
}

const restrictions = { mute: "muted", ban: "banned", freeze: "frozen" };

/** A restriction in a word. */
export const restrictionName = ({ kind }) => restrictions[kind] ?? kind;

/** Whom a restriction concerns. */
export function restrictionSubject({ user, connectionId }) {
  if (user !== undefined) return `user ${user}`;
  return connectionId === undefined ? "the session" : `the guest of connection ${connectionId}`;
}

/** The moderator of a restriction; the project's own server has no connection. */
export function restrictionAuthor({ by }) {
  if (!by) return "a backend";
  return by.user === undefined ? `connection ${by.connectionId}` : `user ${by.user}`;
}

/** The action that undoes a restriction. */
export const undoing = ({ kind, ref }) => (kind === "freeze" ? { action: "unfreeze" } : { action: `un${kind}`, ref });

/** A moment in the time zone of the reader. */
export function moment(milliseconds) {
  return new Date(milliseconds).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
}

/** The state of a connection in words. */
export function describeState(connection) {
  const parts = [connection.state];
  if (connection.isBacklogged) parts.push("reads slowly");
  if (connection.isPaused) parts.push("paused");
  if (connection.waitingBytes) parts.push(`${bytes(connection.waitingBytes)} unsent`);
  return parts.join(", ");
}

export function count(value) {
  return Math.round(value).toLocaleString("en");
}

export function decimal(value) {
  return value >= 100 ? count(value) : String(round(value));
}

export function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let index = 0;
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  return `${decimal(value)} ${units[index]}`;
}

export function percent(value) {
  return `${Math.round(value * 100)} %`;
}

export function seconds(value) {
  return value < 1 ? `${round(value * 1000)} ms` : `${round(value)} s`;
}

/** 90061 → "1 d 1 h". */
export function age(value) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const index = units.findIndex(([, size]) => value >= size);
  if (index < 0) return "0 s";
  const [name, size] = units[index];
  const text = `${Math.floor(value / size)} ${name}`;
  const next = units[index + 1];
  const rest = next ? Math.floor((value % size) / next[1]) : 0;
  return rest > 0 ? `${text} ${rest} ${next[0]}` : text;
}

function round(value) {
  return Math.round(value * 10) / 10;
}

/** What the page calls a session: its label, if it has one. */
export const sessionName = (id, label) => label || id;

/** The fragment of the page's address that shows a session. */
export const sessionHash = (id) => `#session=${encodeURIComponent(id)}`;

/** The session that an address names; null if it names none. */
export const sessionInHash = (hash) => new URLSearchParams(hash.replace(/^#/, "")).get("session") || null;

const nameLimit = 60;

/**
 * What the page calls a person. The data of a connection is a name, or JSON with one, or anything else that a backend
 * writes; without data the connection's ID has to do.
 */
export function personName(data, connectionId) {
  const name = (nameIn(data) ?? data).trim();
  const characters = [...name];
  if (!characters.length) return connectionId;
  return characters.length > nameLimit ? `${characters.slice(0, nameLimit).join("")}…` : name;
}

function nameIn(data) {
  let value;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  const names = [value?.name, value?.userName, value?.username, value?.displayName];
  return names.find((name) => typeof name === "string" && name.trim()) ?? null;
}
