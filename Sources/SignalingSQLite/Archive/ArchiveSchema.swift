/// The tables of an archive (HIS-1 to HIS-3).
///
/// `message` is keyed by session and seq, so that a page is read from neighbouring rows. `session` has the sums that the
/// bounds need, and what must not come back.
enum ArchiveSchema {
    static let schema = DatabaseSchema(
        // "SgHi" in ASCII.
        applicationID: 0x5367_4869, version: 1,
        tables: [
            "session": """
            CREATE TABLE session (
                id BLOB PRIMARY KEY,            -- UTF-8
                key INTEGER NOT NULL,           -- of the rows of message
                last INTEGER NOT NULL,          -- the greatest seq that there ever was
                trimmed INTEGER NOT NULL,       -- messages up to it are gone, and do not come back
                oldest INTEGER NOT NULL,        -- the time of the oldest message
                count INTEGER NOT NULL,         -- messages
                bytes INTEGER NOT NULL          -- what they count for the bounds
            ) STRICT, WITHOUT ROWID
            """,
            "message": """
            CREATE TABLE message (
                session INTEGER NOT NULL,
                seq INTEGER NOT NULL,
                time INTEGER NOT NULL,          -- milliseconds since 1970
                head BLOB NOT NULL,             -- JSON: seq and sender
                content BLOB,                   -- JSON: type and data; NULL once it is erased
                PRIMARY KEY (session, seq)
            ) STRICT, WITHOUT ROWID
            """,
        ])
}
