import SignalingCore
import SignalingProtocol

/// Trims what is over the bounds, and forgets the sessions that are empty, in transactions of a bounded size: other work
/// goes on between them.
struct ArchiveSweep {
    private enum Phase {
        /// Trims the feeds of these projects; `nil` before they are known.
        case feeds([APIKey]?)
        /// Looks at each session, in the order of their names.
        case sessions(after: [UInt8])
        /// Adds up what each project has, which changes meanwhile.
        case shares(after: [UInt8], ArchiveShares)
        /// Looks for the largest sessions of the projects that have too much.
        case largest(after: [UInt8], LargestSessions)
        /// Trims these sessions, from this index on, until the projects have lost what they have too much.
        case trimming([LargestSessions.Trimmed], from: Int, excesses: [APIKey?: Int])
        case done
    }

    /// The sessions that a step looks at.
    private static let sessionCount = 256
    /// The sessions that a step only reads.
    private static let readCount = 1_024
    /// The entries of a feed that a step deletes.
    private static let entryCount: Int64 = 1_024
    /// What a step trims until it ends.
    private static let trimmedByteCount = 512 << 10

    private let oldest: Int64
    private var phase = Phase.feeds(nil)
    private(set) var forgotten: [SessionID] = []

    init(now: WallTime, bounds: HistoryBounds) { oldest = bounds.oldestTime(at: now).milliseconds }

    /// Trims only what is over the common bound.
    private init() {
        oldest = .min
        phase = .shares(after: [], ArchiveShares())
    }

    /// The sweep that cannot wait for the next minute: messages come so fast that the archive would be far larger then.
    ///
    /// - Parameter lastByteCount: what the last one of its kind has left. It may have found nothing to trim, after damage.
    static func due(_ store: ArchiveStore, lastByteCount: Int) -> ArchiveSweep? {
        let bound = store.bounds.totalByteCount
        return store.usedByteCount - max(bound, lastByteCount) > bound / 16 ? ArchiveSweep() : nil
    }

    var isDone: Bool {
        switch phase {
        case .done: true
        case .feeds, .sessions, .shares, .largest, .trimming: false
        }
    }

    /// The next step. Called within a transaction; repeated on a copy of the sweep if the transaction fails.
    mutating func step(_ store: ArchiveStore) throws(DatabaseError) {
        switch phase {
        case .feeds(let projects): phase = try trimFeeds(projects, store)
        case .sessions(let id): phase = try lookAtSessions(after: id, store)
        case .shares(let id, let shares): phase = try add(after: id, to: shares, store)
        case .largest(let id, let largest): phase = try choose(after: id, largest, store)
        case .trimming(let sessions, let index, let excesses):
            phase = try trim(sessions, from: index, excesses, store)
        case .done: break
        }
    }

    /// Entries go with the age of what they announce, and at a number (FEED-4).
    private func trimFeeds(_ known: [APIKey]?, _ store: ArchiveStore) throws(DatabaseError) -> Phase {
        var projects = known ?? []
        if known == nil { projects = try store.feeds.allProjects() }
        guard let project = projects.last else { return .sessions(after: []) }
        let isUnfinished = try store.feeds.trim(
            project, before: oldest, atMost: store.bounds.feedEntryCount, stepCount: Self.entryCount)
        return .feeds(isUnfinished ? projects : projects.dropLast())
    }

    private mutating func lookAtSessions(after id: [UInt8], _ store: ArchiveStore) throws(DatabaseError) -> Phase {
        let rows = try store.sessions.rows(after: id, limit: Self.sessionCount)
        var last = id
        let (bounds, oldest) = (store.bounds, oldest)
        for var row in rows {
            if row.count > 0, row.oldest < oldest || row.count > bounds.messageCount || row.byteCount > bounds.byteCount
            {
                var isUnfinished = false
                try store.change(&row) { (row) throws(DatabaseError) in
                    isUnfinished = try store.trim(&row) { row, message in
                        message.time.milliseconds < oldest || row.count > bounds.messageCount
                            || row.byteCount > bounds.byteCount
                    }
                }
                // The rest of this session is the next step.
                if isUnfinished { return .sessions(after: last) }
            }
            if row.count == 0 {
                try store.forget(row)
                forgotten.append(SessionID(rawValue: String(decoding: row.id, as: UTF8.self)))
            }
            last = row.id
        }
        return rows.count == Self.sessionCount ? .sessions(after: last) : Self.next(store)
    }

    private static func next(_ store: ArchiveStore) -> Phase {
        store.usedByteCount > store.bounds.totalByteCount ? .shares(after: [], ArchiveShares()) : .done
    }

    private func add(
        after id: [UInt8], to shares: ArchiveShares, _ store: ArchiveStore
    ) throws(DatabaseError) -> Phase {
        let rows = try store.sessions.rows(after: id, limit: Self.readCount)
        var shares = shares
        for row in rows { shares.add(row.storedByteCount, of: store.project(of: row)) }
        if rows.count == Self.readCount, let last = rows.last { return .shares(after: last.id, shares) }
        let excesses = shares.excesses(used: store.usedByteCount, bound: store.bounds.totalByteCount)
        // Without any the sums are wrong after damage, and nothing is left to trim.
        return excesses.isEmpty ? .done : .largest(after: [], LargestSessions(excesses))
    }

    private func choose(
        after id: [UInt8], _ largest: LargestSessions, _ store: ArchiveStore
    ) throws(DatabaseError) -> Phase {
        let rows = try store.sessions.rows(after: id, limit: Self.readCount)
        var largest = largest
        for row in rows where row.count > 0 {
            largest.add(row, of: store.project(of: row))
        }
        if rows.count == Self.readCount, let last = rows.last { return .largest(after: last.id, largest) }
        let trimmed = largest.trimmed()
        return trimmed.isEmpty ? .done : .trimming(trimmed, from: 0, excesses: largest.excesses)
    }

    private func trim(
        _ sessions: [LargestSessions.Trimmed], from start: Int, _ excesses: [APIKey?: Int], _ store: ArchiveStore
    ) throws(DatabaseError) -> Phase {
        let before = store.totals.byteCount
        var (index, excesses) = (start, excesses)
        while index < sessions.count, before - store.totals.byteCount < Self.trimmedByteCount,
            index - start < Self.sessionCount
        {
            let (project, level) = (sessions[index].project, sessions[index].level)
            var isUnfinished = false
            // Small sessions lose more than down to the level, so not all of them are trimmed.
            if let excess = excesses[project], excess > 0, var row = try store.sessions.row(sessions[index].id) {
                let size = row.storedByteCount
                defer { excesses[project] = excess - size + row.storedByteCount }
                try store.change(&row) { (row) throws(DatabaseError) in
                    isUnfinished = try store.trim(&row) { row, _ in row.storedByteCount > level }
                }
            }
            // The rest of this session is the next step.
            if isUnfinished { break }
            index += 1
        }
        return index < sessions.count ? .trimming(sessions, from: index, excesses: excesses) : Self.next(store)
    }
}
