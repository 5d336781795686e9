import SignalingCore
import SignalingProtocol

extension SQLiteArchive {
    /// An archive in numbers, for operators.
    public struct Summary: Sendable, Equatable {
        public var sessionCount = 0
        public var messageCount = 0
        /// What the messages count for the bounds.
        public var byteCount = 0
    }

    /// Copies a database, which is intact.
    static func copy(_ source: DatabaseFiles, to draft: String) throws(CommandLogFault) {
        do throws(DatabaseError) {
            let original = try Database.openForReading(source, ArchiveSchema.schema)
            // SQLite copies rows without a look at them, and follows damaged pages without an end.
            if let damage = try original.damage(in: .structureAndContent).first { throw DatabaseError(damaged: damage) }
            try original.copy(to: draft)
            let copy = try Database(path: draft, access: .readWrite)
            _ = try ArchiveTotals.read(from: copy)
        } catch {
            throw CommandLogFault(
                error.kind == .damaged ? .damaged : .notWritten,
                "cannot copy \(source.path): \(error). Run signalbox state check on its folder.")
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
    static func check(_ files: DatabaseFiles) throws(CommandLogFault) -> (summary: Summary, faults: [String])? {
        guard files.exists else { return nil }
        try files.checkKinds()
        var found = Summary()
        var faults: [String] = []
        do throws(DatabaseError) {
            let database = try Database.openForReading(files, ArchiveSchema.schema)
            faults = try database.damage(in: .structureAndContent)
            try database.execute("BEGIN")
            defer { database.rollBack() }
            let totals = Summary(try ArchiveTotals.read(from: database))
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
        return (found, faults.map { "\(files.name): \($0)" })
    }
}

extension SQLiteArchive.Summary {
    fileprivate init(_ totals: ArchiveTotals) {
        self.init(
            sessionCount: totals.sessionCount, messageCount: totals.messageCount, byteCount: totals.byteCount)
    }
}
