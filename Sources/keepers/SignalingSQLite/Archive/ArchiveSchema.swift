/// The tables of an archive (HIS-1 to HIS-3).
///
/// `chunk` has neighbouring messages of a session, in the form of ``ArchiveChunk``. `session` has the sums that the
/// bounds need, and what must not come back. `state` has the sums of all sessions, so that the start reads one row. `feed`
/// has the entries of the projects' feeds, and `feed_state` what is left of them (FEED-4).
enum ArchiveSchema {
    private static let feed = """
        CREATE TABLE feed (
            project BLOB NOT NULL,          -- UTF-8
            position INTEGER NOT NULL,
            session BLOB NOT NULL,          -- UTF-8
            entry BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (project, position)
        ) STRICT, WITHOUT ROWID
        """
    private static let feedState = """
        CREATE TABLE feed_state (
            project BLOB PRIMARY KEY,       -- UTF-8
            start INTEGER NOT NULL,         -- where the feed began
            gone INTEGER NOT NULL,          -- entries up to this position are gone
            last INTEGER NOT NULL,          -- the greatest position that was given out
            cursor INTEGER NOT NULL         -- how far the receiver of the project has got; -1: there was none
        ) STRICT, WITHOUT ROWID
        """

    static let schema = DatabaseSchema(
        // "SgHi" in ASCII.
        applicationID: 0x5367_4869, version: 2,
        tables: [
            "chunk": """
            CREATE TABLE chunk (
                session INTEGER NOT NULL,       -- the key of the session
                first INTEGER NOT NULL,         -- the seq of the first message
                checksum INTEGER NOT NULL,
                messages BLOB NOT NULL,
                PRIMARY KEY (session, first)
            ) STRICT, WITHOUT ROWID
            """,
            "session": """
            CREATE TABLE session (
                id BLOB PRIMARY KEY,            -- UTF-8
                key INTEGER NOT NULL,
                last INTEGER NOT NULL,          -- the greatest seq that there ever was
                trimmed INTEGER NOT NULL,       -- messages up to it are gone, and do not come back
                oldest INTEGER NOT NULL,        -- the time of the oldest message, in milliseconds since 1970
                count INTEGER NOT NULL,         -- messages
                bytes INTEGER NOT NULL,         -- what they count for the bounds
                checksum INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            "state": """
            CREATE TABLE state (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                key INTEGER NOT NULL,           -- the greatest key that was ever used, or more: grows each time
                sessions INTEGER NOT NULL,
                messages INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                checksum INTEGER NOT NULL
            ) STRICT
            """,
            "feed": feed,
            "feed_state": feedState,
        ], migrations: [1: [feed, feedState]])
}
