#!/usr/bin/env python3
"""Keeps the messages of a project in PostgreSQL: each message is one row, also after crashes (docs/backend.md).

DATABASE_URL names the database, such as postgresql://user:password@localhost/chat. The offset in the feed is written
in the transaction of the rows, so the two always agree. The program may be started twice: one of them writes.
"""

import json

import psycopg2
from signalbox_feed import Gone, Project, insist, setting

TABLES = """
CREATE TABLE IF NOT EXISTS messages (
    session_id text, seq bigint, type text, data text, json json, user_id text, connection json,
    sent_at timestamptz, changed bigint, edited_at timestamptz, reactions json, erased boolean,
    PRIMARY KEY (session_id, seq));
CREATE TABLE IF NOT EXISTS gaps (
    session_id text, first bigint, last bigint, told_at timestamptz, PRIMARY KEY (session_id, first, last));
CREATE TABLE IF NOT EXISTS feed_offsets (project text PRIMARY KEY, position text NOT NULL);
"""
# What is erased stays erased.
MESSAGE = """
INSERT INTO messages VALUES (%(session)s, %(seq)s, %(type)s, %(data)s, %(json)s, %(user)s, %(connection)s,
    to_timestamp(%(time)s / 1000.0), %(changed)s, to_timestamp(%(edited)s / 1000.0), %(reactions)s, %(erased)s)
ON CONFLICT (session_id, seq) DO UPDATE SET type = excluded.type, data = excluded.data, json = excluded.json,
    changed = excluded.changed, edited_at = excluded.edited_at, reactions = excluded.reactions, erased = excluded.erased
WHERE NOT messages.erased
"""
ERASURE = """
UPDATE messages SET type = NULL, data = NULL, json = NULL, reactions = NULL, erased = true
WHERE session_id = %(session)s
    AND (seq = %(ref)s OR seq <= %(through)s OR (user_id = %(user)s AND seq < %(seq)s))
"""
GAP = "INSERT INTO gaps VALUES (%s, %s, %s, now()) ON CONFLICT (session_id, first, last) DO UPDATE SET told_at = now()"


def text(value):
    """PostgreSQL has no NUL in texts."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def write(cursor, event):
    session = event.get("sessionId", "")
    match event["event"]:
        case "signal" | "change":
            connection = event.get("connection", {})
            names = ("seq", "type", "data", "time", "changed", "edited")
            row = {name: text(event.get(name)) for name in names}
            objects = ("json", "connection", "reactions")
            row |= {name: json.dumps(event[name]) if name in event else None for name in objects}
            row |= {"session": session, "user": connection.get("user"), "erased": event.get("erased", False)}
            cursor.execute(MESSAGE, row)
        case "erased":
            cursor.execute(ERASURE, {"ref": None, "through": None, "user": None, **event, "session": session})
        case "gap":
            cursor.execute(GAP, (session, event.get("from", 0), event.get("through", 0)))


class Copy:
    def __init__(self):
        self.project = Project()
        self.database = None

    def step(self):
        """Writes what follows in the feed. A fault ends the connection, and so the transaction."""
        try:
            if self.database is None:
                self.database = psycopg2.connect(setting("DATABASE_URL"))
                with self.database, self.database.cursor() as cursor:
                    cursor.execute(TABLES)
                    start = "INSERT INTO feed_offsets VALUES (%s, '-1') ON CONFLICT DO NOTHING"
                    cursor.execute(start, (self.project.key,))
            with self.database, self.database.cursor() as cursor:
                cursor.execute("SELECT position FROM feed_offsets WHERE project = %s", (self.project.key,))
                (offset,) = cursor.fetchone()
            try:
                events, following = self.project.read(offset)
            except Gone:
                # The whole feed again. What was lost is a gap of nobody knows which session.
                events, following = [{"event": "gap"}], "-1"
            if following == offset:
                return  # Nothing has come.
            with self.database, self.database.cursor() as cursor:
                move = "UPDATE feed_offsets SET position = %s WHERE project = %s AND position = %s"
                cursor.execute(move, (following, self.project.key, offset))
                if cursor.rowcount == 1:  # Otherwise another copy of this program has written these events.
                    for event in events:
                        write(cursor, event)
        except Exception:
            if self.database is not None:
                self.database.close()
            self.database = None
            raise


if __name__ == "__main__":
    copy = Copy()
    while True:
        insist(copy.step, psycopg2.Error)
