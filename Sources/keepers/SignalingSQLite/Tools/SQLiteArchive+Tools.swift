import SignalingCore
import SignalingProtocol

/// What waits in a session for its archive, in its order.
typealias WaitingMessages = (session: SessionID, steps: [ArchiveStep])

extension SQLiteArchive {
    /// An archive in numbers, for operators.
    public struct Summary: Sendable, Equatable {
        public var sessionCount = 0
        public var messageCount = 0
        /// What the messages count for the bounds of their sessions.
        public var byteCount = 0
    }

    /// Copies a database, which is intact, and adds what waits for it.
    ///
    /// - Parameter source: `nil` to begin with an empty database.
    static func copy(
        _ source: DatabaseFiles?, adding waiting: [WaitingMessages], to draft: String
    ) throws(CommandLogFault) {
        // First, as for a check.
        let confirmed = source.map { TailMark.read($0).confirmed } ?? 0
        do throws(DatabaseError) {
            if let source {
                let original = try Database.openForReading(source, ArchiveSchema.schema)
                // SQLite copies rows without a look at them, and follows damaged pages without an end.
                if let damage = try original.damage(in: .structureAndContent).first {
                    throw DatabaseError(damaged: damage)
                }
                try original.copy(to: draft)
            }
            let copy = try Database(path: draft, access: .readWrite)
            if source == nil { try copy.create(ArchiveSchema.schema) }
            try copy.execute("PRAGMA synchronous = FULL")
            // What is still to be erased must not stay in free pages (HIS-9).
            try copy.execute("PRAGMA secure_delete = ON")
            // The server trims what is over its bounds.
            let store = try ArchiveStore(
                copy, bounds: HistoryBounds(messageCount: .max, byteCount: .max, totalByteCount: .max))
            guard store.totals.lastKey >= confirmed else {
                throw DatabaseError(damaged: "the newest messages are missing")
            }
            for (session, steps) in waiting {
                try store.transaction { () throws(DatabaseError) in
                    for step in steps { try store.execute(ArchiveStore.Work(step, of: session)) }
                }
            }
        } catch {
            throw CommandLogFault(
                error.kind == .damaged ? .damaged : .notWritten,
                "cannot copy \(source?.path ?? "the history to \(draft)"): \(error). "
                    + "Run signalbox state check on its folder.")
        }
    }

    /// The sums of an archive; `nil` if the folder has none, or an empty one. Changes nothing, and works while a server
    /// runs.
    static func summary(_ files: DatabaseFiles) throws(CommandLogFault) -> Summary? {
        guard files.exists else { return nil }
        try files.checkKinds()
        do throws(DatabaseError) {
            let database = try Database.openForReading(files, ArchiveSchema.schema)
            let totals = try ArchiveTotals.read(from: database)
            return totals.sessionCount == 0 ? nil : Summary(totals)
        } catch {
            throw CommandLogFault(error.kind == .damaged ? .damaged : .unusable, "cannot read \(files.path): \(error)")
        }
    }

    /// Checks every row of an archive: SQLite's own check of the file, each checksum, and the sums.
    ///
    /// - Returns: the sums, and one line for each fault; `nil` if the folder has no archive.
    static func check(_ files: DatabaseFiles) throws(CommandLogFault) -> (
        summary: Summary, faults: [String], isCopy: Bool
    )? {
        guard files.exists else { return nil }
        try files.checkKinds()
        // First, since a server may be running: the database is never behind an earlier mark.
        let confirmed = TailMark.read(files).confirmed
        var found = Summary()
        var faults: [String] = []
        var isCopy = false
        do throws(DatabaseError) {
            let database = try Database.openForReading(files, ArchiveSchema.schema)
            faults = try database.damage(in: .structureAndContent)
            isCopy = try !database.usesWriteAheadLog()
            try database.execute("BEGIN")
            defer { database.rollBack() }
            let sums = try ArchiveTotals.read(from: database)
            if sums.lastKey < confirmed { faults.append("the newest messages are missing") }
            let totals = Summary(sums)
            let (sessions, chunks) = (try ArchiveSessions(database), try ArchiveChunks(database))
            var last: [UInt8] = []
            while let row = try sessions.rows(after: last, limit: 1).first {
                last = row.id
                var (count, byteCount) = (0, 0)
                try chunks.read(.from(.min), row.key) { chunk in
                    for message in chunk.chunk?.messages ?? [] {
                        count += 1
                        byteCount += message.byteCount
                    }
                    return true
                }
                if count != row.count || byteCount != row.byteCount {
                    faults.append(
                        "messages of the session \(String(decoding: row.id, as: UTF8.self)) are missing or were changed: "
                            + "\(count) of \(row.count) can be read")
                }
                found.sessionCount += 1
                found.messageCount += row.count
                found.byteCount += row.byteCount
            }
            if found != totals { faults.append("the sums of the table state are not those of its sessions") }
        } catch {
            guard error.kind == .damaged else { throw files.openingFault(error) }
            faults.append("\(error)")
        }
        return (found, faults.map { "\(files.name): \($0)" }, isCopy)
    }
}

extension SQLiteArchive.Summary {
    fileprivate init(_ totals: ArchiveTotals) {
        self.init(
            sessionCount: totals.sessionCount, messageCount: totals.messageCount, byteCount: totals.byteCount)
    }
}
