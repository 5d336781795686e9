import SignalingCore
import SignalingProtocol

/// Writes to an archive, one transaction after the other. Used on one thread at a time.
final class ArchiveStore {
    /// One step of the writer.
    enum Work: Sendable {
        case append([ArchivedMessage], to: SessionID)
        case put([ArchivedForm], of: SessionID)
        /// One of a user is done in several transactions (``eraseMessages(in:of:after:)``).
        case erase(ErasureScope, of: SessionID)
        /// Without a feed in that of the session's project.
        case announce([FeedEntry], of: SessionID, in: APIKey?)
        case keepCursor(FeedOffset, of: APIKey)
        case removeDamaged(of: APIKey, through: Int64)
        case changeBounds(HistoryBounds)

        init(_ step: ArchiveStep, of session: SessionID) {
            self =
                switch step {
                case .append(let messages): .append(messages, to: session)
                case .put(let forms): .put(forms, of: session)
                case .erase(let scope): .erase(scope, of: session)
                case .announce(let entries): .announce(entries, of: session, in: nil)
                }
        }

        var isErasureOfUser: Bool {
            switch self {
            case .erase(let scope, _): scope.senderEnd != nil
            case .append, .put, .announce, .keepCursor, .removeDamaged, .changeBounds: false
            }
        }

        /// What it adds to a transaction.
        var rowCount: Int {
            switch self {
            case .append(let messages, _): messages.count
            case .put(let forms, _): forms.count
            case .erase, .announce, .keepCursor, .removeDamaged, .changeBounds: 1
            }
        }
    }

    /// The chunks that one step trims of a session: about half a MiB.
    static let trimmedChunkCount = 64

    let database: Database
    let sessions: ArchiveSessions
    private(set) var totals: ArchiveTotals
    /// The bytes of the pages that the file uses. A page that becomes free is used again.
    private(set) var usedByteCount: Int
    private(set) var bounds: HistoryBounds
    /// Reads the project of a session.
    let projectOf: (SessionID) -> APIKey?
    let chunks: ArchiveChunks
    let feeds: FeedRows
    private let tail: TailMark?
    /// The date, for the positions of feeds.
    private let clock: () -> WallTime
    private let begin: Statement
    private let commit: Statement
    private let writeTotals: Statement
    private let pages: Pages

    /// - Parameters:
    ///   - tail: is told of the last transaction, if there is one.
    ///   - projectOf: reads the project of a session.
    init(
        _ database: Database, bounds: HistoryBounds, tail: TailMark? = nil,
        projectOf: @escaping (SessionID) -> APIKey? = { _ in nil }, clock: @escaping () -> WallTime = { .ofSystem }
    ) throws(DatabaseError) {
        self.database = database
        self.clock = clock
        self.tail = tail
        self.bounds = bounds
        self.projectOf = projectOf
        pages = try Pages(database)
        usedByteCount = try pages.usedByteCount()
        totals = try ArchiveTotals.read(from: database)
        sessions = try ArchiveSessions(database)
        chunks = try ArchiveChunks(database)
        feeds = try FeedRows(database)
        begin = try Statement("BEGIN IMMEDIATE", in: database)
        commit = try Statement("COMMIT", in: database)
        writeTotals = try Statement(ArchiveTotals.write, in: database)
    }

    /// Executes a body in one transaction. When it throws, nothing has changed.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        let before = (totals, bounds, usedByteCount)
        do throws(DatabaseError) {
            try begin.run()
            try body()
            if totals != before.0 {
                // Says which transaction was the last one, for the mark of the tail.
                totals.lastKey += 1
                try totals.write(writeTotals)
            }
            usedByteCount = try pages.usedByteCount()
            try commit.run()
            tail?.write(totals.lastKey)
        } catch {
            database.rollBack()
            (totals, bounds, usedByteCount) = before
            throw error
        }
    }

    // MARK: - Within a transaction

    func execute(_ work: Work) throws(DatabaseError) {
        switch work {
        case .append(let messages, let session): try append(messages, to: session)
        case .put(let forms, let session): try put(forms, of: session)
        case .erase(let scope, let session): try erase(scope, of: session)
        case .announce(let entries, let session, let feed):
            guard let project = feed ?? projectOf(session) else { return }
            try feeds.append(entries, of: session, in: project, at: clock())
            totals.lastKey += 1
        case .keepCursor(let offset, let project): try feeds.keepCursor(offset, of: project, at: clock())
        case .removeDamaged(let project, let position): try feeds.removeDamaged(project, through: position)
        case .changeBounds(let new): bounds = new
        }
    }

    private func append(_ messages: [ArchivedMessage], to session: SessionID) throws(DatabaseError) {
        try change(session, createsIt: !messages.isEmpty) { (row) throws(DatabaseError) in
            let trimmed = row.trimmed
            var rest = messages.filter { $0.seq.rawValue > trimmed }.sorted { $0.seq < $1.seq }[...]
            while let first = rest.first {
                let chunk = try chunks.row(at: first.seq.rawValue, row.key)
                let next = try chunks.first(after: first.seq.rawValue, row.key) ?? .max
                let end = rest.firstIndex { $0.seq.rawValue >= next } ?? rest.endIndex
                try add(rest[..<end], to: chunk, &row)
                rest = rest[end...]
            }
            try trimToBounds(&row)
        }
    }

    /// Adds messages to the chunk before or around them, and divides it if it is full.
    private func add(
        _ new: ArraySlice<ArchivedMessage>, to old: ArchiveChunks.Row?, _ row: inout ArchivedSession
    ) throws(DatabaseError) {
        var merged = old?.chunk?.messages ?? []
        var added = 0
        for message in new {
            let index = merged.lastIndex { $0.seq <= message.seq }
            if let index, merged[index].seq == message.seq { continue }
            merged.insert(message, at: index.map { $0 + 1 } ?? 0)
            added += 1
            let time = message.time.milliseconds
            row.oldest = row.count == 0 ? time : min(row.oldest, time)
            row.count += 1
            row.byteCount += message.byteCount
            row.last = max(row.last, message.seq.rawValue)
        }
        guard added > 0 else { return }
        for chunk in ArchiveChunk.pack(merged) { try chunks.insert(chunk, row.key) }
    }

    private func put(_ forms: [ArchivedForm], of session: SessionID) throws(DatabaseError) {
        try change(session, createsIt: false) { (row) throws(DatabaseError) in
            var rest = forms.sorted { $0.seq < $1.seq }[...]
            while let first = rest.first {
                let next = try chunks.first(after: first.seq.rawValue, row.key)
                let end = next.flatMap { next in rest.firstIndex { $0.seq.rawValue >= next } } ?? rest.endIndex
                if let chunk = try chunks.row(at: first.seq.rawValue, row.key)?.chunk {
                    try put(rest[..<end], in: chunk, &row)
                }
                rest = rest[end...]
            }
            try trimToBounds(&row)
        }
    }

    private func put(
        _ forms: ArraySlice<ArchivedForm>, in chunk: ArchiveChunk, _ row: inout ArchivedSession
    ) throws(DatabaseError) {
        var new = chunk
        var isChanged = false
        for form in forms {
            guard let index = new.messages.firstIndex(where: { $0.seq == form.seq }),
                let changed = new.messages[index].changed(to: form)
            else { continue }
            row.byteCount += changed.byteCount - new.messages[index].byteCount
            new.messages[index] = changed
            isChanged = true
        }
        guard isChanged else { return }
        try rewrite(new, row.key)
        // The sums may be the same, and yet the mark of the tail must tell whether this transaction is there.
        totals.lastKey += 1
    }

    /// Writes a chunk whose messages have other sizes than before. One that is too large is divided. One that was divided,
    /// or has become sparse, is joined with a neighbour if that needs no further chunk: otherwise messages that grow and
    /// shrink would end in chunks of their own.
    private func rewrite(_ chunk: ArchiveChunk, _ key: Int64) throws(DatabaseError) {
        var (messages, replaced) = (chunk.messages, [chunk.first])
        var new = ArchiveChunk.pack(messages)
        if new.count > 1 || chunk.isSparse {
            let next = try messages.last.flatMap { (last) throws(DatabaseError) in
                try chunks.first(after: last.seq.rawValue, key)
            }
            // The last chunk of a session gets messages that follow, and the others only grow by edits.
            if next != nil { new = ArchiveChunk.pack(messages, evenly: true) }
            for seq in [next, chunk.first - 1] {
                guard let seq, let other = try chunks.row(at: seq, key)?.chunk else { continue }
                let all = seq < chunk.first ? other.messages + messages : messages + other.messages
                let joined = ArchiveChunk.pack(all, evenly: true)
                guard joined.count <= new.count else { continue }
                (messages, new) = (all, joined)
                replaced.append(other.first)
            }
        }
        for first in replaced where !new.contains(where: { $0.first == first }) { try chunks.delete(first, key) }
        for chunk in new { try chunks.insert(chunk, key) }
    }

    private func trimToBounds(_ row: inout ArchivedSession) throws(DatabaseError) {
        let bounds = bounds
        _ = try trim(&row) { row, _ in row.count > bounds.messageCount || row.byteCount > bounds.byteCount }
    }

    private func erase(_ scope: ErasureScope, of session: SessionID) throws(DatabaseError) {
        guard let erasure = scope.limited else { return }
        try change(session, createsIt: false) { (row) throws(DatabaseError) in
            switch erasure {
            case .message(let seq):
                guard var chunk = try chunks.row(at: seq.rawValue, row.key)?.chunk,
                    let index = chunk.messages.firstIndex(where: { $0.seq == seq })
                else { return }
                row.byteCount += chunk.messages[index].erased.byteCount - chunk.messages[index].byteCount
                chunk.messages[index] = chunk.messages[index].erased
                try chunks.insert(chunk, row.key)
            case .through(let seq):
                // All at once: none of it may be read after the answer.
                while try trim(&row, { _, message in message.seq <= seq }) {}
                row.trimmed = max(row.trimmed, min(seq.rawValue, row.last))
            case .user: _ = try eraseMessages(in: scope, &row, after: .min, limit: .max)
            }
        }
    }

    /// Changes the row of a session, and the sums with it.
    func change(
        _ session: SessionID, createsIt: Bool, _ body: (inout ArchivedSession) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        var row: ArchivedSession
        if let found = try sessions.row(session) {
            row = found
        } else {
            guard createsIt else { return }
            totals.lastKey += 1
            totals.sessionCount += 1
            row = ArchivedSession(
                id: Array(session.rawValue.utf8), key: totals.lastKey, last: 0, trimmed: 0, oldest: 0, count: 0,
                byteCount: 0)
        }
        try change(&row, body)
    }

    func change(
        _ row: inout ArchivedSession, _ body: (inout ArchivedSession) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let (count, byteCount) = (row.count, row.byteCount)
        try body(&row)
        totals.messageCount += row.count - count
        totals.byteCount += row.byteCount - byteCount
        try sessions.write(row)
    }

    func project(of row: ArchivedSession) -> APIKey? {
        projectOf(SessionID(rawValue: String(decoding: row.id, as: UTF8.self)))
    }

    /// Forgets a session without messages.
    func forget(_ row: ArchivedSession) throws(DatabaseError) {
        try sessions.delete(row)
        totals.sessionCount -= 1
    }

    /// Deletes the oldest messages for as long as they are over a bound, but not more than a transaction should.
    ///
    /// - Returns: whether it stopped for that reason.
    func trim(
        _ row: inout ArchivedSession, _ isOver: (ArchivedSession, ArchivedMessage) -> Bool
    ) throws(DatabaseError) -> Bool {
        for _ in 0..<Self.trimmedChunkCount {
            guard row.count > 0, let oldest = try oldest(row.key) else {
                // Also after damage, which had hidden messages from the sums.
                (row.count, row.byteCount) = (0, 0)
                return false
            }
            var rest = (oldest.chunk?.messages ?? [])[...]
            while let message = rest.first, isOver(row, message) {
                rest = rest.dropFirst()
                row.trimmed = max(row.trimmed, message.seq.rawValue)
                row.count -= 1
                row.byteCount -= message.byteCount
            }
            if let first = rest.first { row.oldest = first.time.milliseconds }
            if let first = rest.first, first.seq.rawValue == oldest.first { return false }
            try chunks.delete(oldest.first, row.key)
            guard rest.isEmpty else {
                try chunks.insert(ArchiveChunk(Array(rest)), row.key)
                return false
            }
        }
        return true
    }

    private func oldest(_ key: Int64) throws(DatabaseError) -> ArchiveChunks.Row? {
        var found: ArchiveChunks.Row?
        try chunks.read(.from(.min), key) {
            found = $0; return false
        }
        return found
    }
}

/// Counts the pages of a database.
private struct Pages {
    private let all: Statement
    private let free: Statement

    init(_ database: Database) throws(DatabaseError) {
        all = try Statement("PRAGMA page_count", in: database)
        free = try Statement("PRAGMA freelist_count", in: database)
    }

    func usedByteCount() throws(DatabaseError) -> Int {
        defer {
            all.reset()
            free.reset()
        }
        guard try all.step(), try free.step() else { return 0 }
        return Int(all.integer(0) - free.integer(0)) * ArchiveChunk.pageByteCount
    }
}
