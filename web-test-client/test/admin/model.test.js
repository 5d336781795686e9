// The admin page's computations. The page itself is part of the server: Sources/server/SignalingServer/Admin/Page.
import assert from "node:assert/strict";
import test from "node:test";
import {
  CursorPages, Pages, Series, age, bytes, cards, decimal, describeEvent, describeKept, describeState, describeWaiting,
  percent, personName, restrictionAuthor, restrictionName, restrictionSubject, seconds, sessionHash, sessionInHash,
  sessionName, terms, undoing,
} from "../../../Sources/server/SignalingServer/Admin/Page/model.mjs";

const stats = (at, changes = {}) => ({
  at, connections: { joined: 2, unjoined: 1, detached: 0 }, sessions: 1, signals: 0, signalRefusals: 0, deliveries: 0,
  refusals: 0, sentBytes: 0, loopBusySeconds: 0, loopLongestTurnSeconds: 0.002, webhookDelaySeconds: 0,
  residentMemoryBytes: 50_000_000, ...changes,
});
const card = (title) => cards.find((each) => each.title === title);

test("a rate is the change per second, and nothing without an earlier answer", () => {
  const { read } = card("Signals per second");
  assert.equal(read(stats(1000, { signals: 7 }), null), 0);
  assert.equal(read(stats(3000, { signals: 17 }), stats(1000, { signals: 7 })), 5);
  // The server was restarted.
  assert.equal(read(stats(3000), stats(1000, { signals: 7 })), 0);
});

test("every card reads and writes an answer", () => {
  for (const each of cards) assert.match(each.write(each.read(stats(2000), stats(0))), /\d/, each.title);
});

test("a series keeps the newest values, the last one at the right", () => {
  const series = new Series(3);
  for (const value of [9, 1, 2, 4]) series.add(value);
  assert.equal(series.points, "0,22 50,15 100,1");
  const empty = new Series(3);
  empty.add(0);
  assert.equal(empty.points, "100,29");
});

test("pages stay within a list that shrinks", () => {
  const pages = new Pages(100);
  assert.equal(pages.text, "none");
  pages.note(250);
  pages.next();
  pages.next();
  pages.next();
  assert.equal(pages.text, "201–250 of 250");
  assert.ok(pages.hasPrevious && !pages.hasNext);
  assert.ok(pages.note(150));
  assert.equal(pages.text, "101–150 of 150");
  pages.previous();
  assert.equal(pages.offset, 0);
});

test("a list of unknown length goes on where the server says, and back the same way", () => {
  const pages = new CursorPages();
  assert.deepEqual([pages.text, pages.before, pages.hasNext, pages.hasPrevious], ["none", null, false, false]);
  pages.note(100, "k");
  assert.equal(pages.text, "1–100 of more");
  pages.next();
  pages.next();
  // Twice, before there is an answer. A search has found nothing in what the server has read.
  pages.note(0, "g");
  assert.deepEqual([pages.text, pages.before], ["none so far", "k"]);
  pages.next();
  pages.note(3, undefined);
  assert.deepEqual([pages.text, pages.before, pages.hasNext], ["101–103", "g", false]);
  pages.next();
  assert.equal(pages.before, "g", "there is nothing behind it");
  pages.previous();
  pages.previous();
  pages.previous();
  assert.equal(pages.before, null);
  pages.note(1, "k");
  pages.next();
  pages.restart();
  assert.deepEqual([pages.text, pages.before], ["none", null]);
});

test("HIS-3: what a sleeping session keeps, in words", () => {
  const kept = (hasHistory, restrictions) => describeKept({ hasHistory, restrictions });
  assert.deepEqual(
    [kept(true, 0), kept(false, 1), kept(true, 12), kept(false, 0)],
    ["messages", "1 restriction", "messages, 12 restrictions", ""]);
});

test("what waits for a backend in a feed, in words", () => {
  const waiting = { waitingEntries: 1000, hasMore: false, waitingSeconds: 5400.25 };
  assert.deepEqual(describeWaiting(waiting), { entries: "1,000", time: "1 h 30 min" });
  assert.deepEqual(describeWaiting({ ...waiting, hasMore: true }), { entries: "1,000+", time: "1 h 30 min" });
  const nothing = { waitingEntries: 0, hasMore: false, waitingSeconds: 0 };
  assert.deepEqual(describeWaiting(nothing), { entries: "0", time: "0 s" });
  assert.deepEqual(describeWaiting({ isGone: true }), { entries: "further than the feed reaches", time: "" });
  // The server cannot read the feed at present.
  assert.deepEqual(describeWaiting({}), { entries: "unknown", time: "" });
});

test("MOD-1: an operator may leave out how long a restriction holds, and why", () => {
  assert.deepEqual(terms("", " "), {});
  assert.deepEqual(terms("600", " Spam "), { seconds: 600, reason: "Spam" });
});

test("MOD-2: restrictions in words, and the actions that undo them", () => {
  const by = { connectionId: "c-1" };
  const mute = { ref: 5, kind: "mute", user: "u-17", by: { ...by, user: "u-3" } };
  assert.deepEqual(
    [restrictionName(mute), restrictionSubject(mute), restrictionAuthor(mute), undoing(mute)],
    ["muted", "user u-17", "user u-3", { action: "unmute", ref: 5 }]);
  const ban = { ref: 6, kind: "ban", connectionId: "c-2", by };
  assert.deepEqual(
    [restrictionName(ban), restrictionSubject(ban), restrictionAuthor(ban), undoing(ban)],
    ["banned", "the guest of connection c-2", "connection c-1", { action: "unban", ref: 6 }]);
  const freeze = { ref: 7, kind: "freeze" };
  assert.deepEqual(
    [restrictionName(freeze), restrictionSubject(freeze), restrictionAuthor(freeze), undoing(freeze)],
    ["frozen", "the session", "a backend", { action: "unfreeze" }]);
});

test("events and states in words", () => {
  assert.equal(describeEvent({ seq: 4, kind: "signal", bytes: 90 }), "4  signal to all  90 bytes");
  assert.equal(
    describeEvent({ seq: 5, kind: "presence", connectionId: "c", bytes: 80 }), "5  presence of c  80 bytes");
  assert.equal(describeState({ state: "connected" }), "connected");
  assert.equal(
    describeState({ state: "connected", isBacklogged: true, isPaused: true, waitingBytes: 1500 }),
    "connected, reads slowly, paused, 1.5 KB unsent");
});

test("numbers with their units", () => {
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(12_345_678), "12.3 MB");
  assert.equal(decimal(0.25), "0.3");
  assert.equal(percent(0.256), "26 %");
  assert.equal(seconds(0.0021), "2.1 ms");
  assert.equal(age(0), "0 s");
  assert.equal(age(90_061), "1 d 1 h");
  assert.equal(age(61), "1 min 1 s");
});

test("a session is called by its label, and its address names it", () => {
  assert.equal(sessionName("1_MX4", "Support 7"), "Support 7");
  assert.equal(sessionName("1_MX4", null), "1_MX4");
  for (const id of ["1_MX4xMDB-fg", "a b&c=d#e%", "ü"]) assert.equal(sessionInHash(sessionHash(id)), id);
  for (const none of ["", "#", "#session=", "#other=1"]) assert.equal(sessionInHash(none), null);
});

test("a person is called by the name in the data of the connection", () => {
  for (const [data, name] of [
    ["Bob", "Bob"], [" Bob ", "Bob"], ['{"name":"Bob"}', "Bob"], ['{"userName":"Bob","id":7}', "Bob"],
    ['{"id":7}', '{"id":7}'], ['{"name":7}', '{"name":7}'], ["7", "7"], ["null", "null"], ["name=Bob", "name=Bob"],
    ["", "c-1"], ["  ", "c-1"], ['{"name":" "}', '{"name":" "}'], ["😀".repeat(61), "😀".repeat(60) + "…"],
  ]) assert.equal(personName(data, "c-1"), name, data);
});
