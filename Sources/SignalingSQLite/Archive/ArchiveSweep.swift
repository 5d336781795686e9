import SignalingCore
import SignalingProtocol

/// Trims what is over the bounds, and forgets the sessions that are empty, in transactions of a bounded size: other work
/// goes on between them.
struct ArchiveSweep {
    private enum Phase {
        /// Looks at each session, in the order of their names.
        case sessions(after: [UInt8])
        /// Trims the sessions with the most bytes to this size.
        case largest([[UInt8]], level: Int)
        case done
    }

    /// The sessions that a step looks at.
    private static let sessionCount = 256
    /// The sessions that are chosen to be trimmed at once, since choosing reads the rows of all.
    private static let chosenCount = 1_024

    private let oldest: Int64
    private var phase = Phase.sessions(after: [])
    private(set) var forgotten: [SessionID] = []

    init(now: WallTime, bounds: HistoryBounds) { oldest = bounds.oldestTime(at: now).milliseconds }

    /// Trims only what is over the common bound.
    private init() {
        oldest = .min
        phase = .largest([], level: 0)
    }

    /// The sweep that cannot wait for the next minute: messages come so fast that the archive would be far larger then.
    ///
    /// - Parameter lastByteCount: what the last one of its kind has left. It may have found nothing to trim, after damage.
    static func due(_ store: ArchiveStore, lastByteCount: Int) -> ArchiveSweep? {
        let bound = store.bounds.totalByteCount
        return store.totals.byteCount - max(bound, lastByteCount) > bound / 16 ? ArchiveSweep() : nil
    }

    var isDone: Bool {
        switch phase {
        case .done: true
        case .sessions, .largest: false
        }
    }

    /// The next step. Called within a transaction; repeated on a copy of the sweep if the transaction fails.
    mutating func step(_ store: ArchiveStore) throws(DatabaseError) {
        switch phase {
        case .sessions(let id): phase = try lookAtSessions(after: id, store)
        case .largest(let chosen, let level): phase = try trim(chosen, to: level, store)
        case .done: break
        }
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
        return rows.count == Self.sessionCount ? .sessions(after: last) : try chooseLargest(store)
    }

    private func chooseLargest(_ store: ArchiveStore) throws(DatabaseError) -> Phase {
        let bound = store.bounds.totalByteCount
        guard store.totals.byteCount > bound else { return .done }
        let rows = try store.sessions.largestRows(limit: Self.chosenCount)
        // A little more than needed, so that not every sweep begins here.
        let excess = store.totals.byteCount - (bound - bound / 64)
        let level = Self.level(
            of: rows.map(\.byteCount), excess: excess, areAll: rows.count == store.totals.sessionCount)
        let chosen = rows.filter { $0.byteCount > level }.map(\.id)
        // The sums are wrong after damage, and nothing is left to trim.
        return chosen.isEmpty ? .done : .largest(chosen, level: level)
    }

    /// The size to which the largest sessions must be trimmed so that this excess goes: each loses what it has more than
    /// the others.
    ///
    /// - Parameters:
    ///   - sizes: the largest first.
    ///   - areAll: whether there are no other sessions. Otherwise no session is trimmed far below the smallest of these.
    static func level(of sizes: [Int], excess: Int, areAll: Bool) -> Int {
        let floor = areAll ? 0 : (sizes.last ?? 0) / 10 * 9
        var sum = 0
        for (index, size) in sizes.enumerated() {
            sum += size
            let level = (sum - excess) / (index + 1)
            let next = index + 1 < sizes.count ? sizes[index + 1] : 0
            if level >= next { return max(level, floor) }
        }
        return floor
    }

    private func trim(_ chosen: [[UInt8]], to level: Int, _ store: ArchiveStore) throws(DatabaseError) -> Phase {
        guard let id = chosen.first else { return try chooseLargest(store) }
        var isUnfinished = false
        if var row = try store.sessions.row(id) {
            try store.change(&row) { (row) throws(DatabaseError) in
                isUnfinished = try store.trim(&row) { row, _ in row.byteCount > level }
            }
        }
        return .largest(isUnfinished ? chosen : Array(chosen.dropFirst()), level: level)
    }
}
