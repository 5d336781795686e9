import Glibc
import SignalingCore
import SignalingProtocol

/// The rows of the projects' feeds. Used within a transaction, on one thread at a time.
final class FeedRows {
    /// What is left of a feed, and how far its receiver has got.
    struct State {
        var range: FeedRange
        var cursor: Int64?

        init(range: FeedRange, cursor: Int64?) { (self.range, self.cursor) = (range, cursor) }

        /// Of a feed that begins.
        init(at time: WallTime) { range = FeedRange(first: FeedOffset.next(after: 0, at: time)) }
    }

    private static let stateColumns = "start, gone, last, cursor"
    private let insert: Statement
    private let select: Statement
    private let count: Statement
    private let nth: Statement
    private let lastThrough: Statement
    private let delete: Statement
    private let findState: Statement
    private let writeState: Statement
    private let projects: Statement
    /// As many entries as each feed has, or more: a transaction that was rolled back may have counted some.
    private var mostCounts: [APIKey: Int] = [:]

    init(_ database: Database) throws(DatabaseError) {
        insert = try Statement("INSERT INTO feed VALUES (?, ?, ?, ?, ?)", in: database)
        select = try Statement(
            """
            SELECT position, session, entry, checksum FROM feed WHERE project = ? AND position > ? ORDER BY position
            LIMIT ?
            """, in: database)
        count = try Statement("SELECT count(*) FROM feed WHERE project = ?", in: database)
        nth = try Statement(
            "SELECT position FROM feed WHERE project = ? ORDER BY position LIMIT 1 OFFSET ?", in: database)
        lastThrough = try Statement(
            "SELECT max(position) FROM feed WHERE project = ? AND position <= ?", in: database)
        delete = try Statement("DELETE FROM feed WHERE project = ? AND position <= ?", in: database)
        findState = try Statement("SELECT \(Self.stateColumns) FROM feed_state WHERE project = ?", in: database)
        writeState = try Statement("REPLACE INTO feed_state VALUES (?, ?, ?, ?, ?)", in: database)
        projects = try Statement("SELECT project FROM feed_state", in: database)
    }

    func state(of project: APIKey) throws(DatabaseError) -> State? {
        findState.bind(project.bytes, at: 1)
        defer { findState.reset() }
        guard try findState.step() else { return nil }
        let (start, gone, last) = (findState.integer(0), findState.integer(1), findState.integer(2))
        guard 0 <= start, start <= gone, gone <= last, last <= FeedOffset.greatest else {
            throw DatabaseError(damaged: "a row of the table feed_state was changed")
        }
        let cursor = findState.integer(3)
        return State(
            range: FeedRange(start: start, goneThrough: gone, last: last), cursor: cursor < 0 ? nil : cursor)
    }

    func write(_ state: State, of project: APIKey) throws(DatabaseError) {
        writeState.bind(project.bytes, at: 1)
        let range = state.range
        for (index, value) in [range.start, range.goneThrough, range.last, state.cursor ?? -1].enumerated() {
            writeState.bind(value, at: Int32(index) + 2)
        }
        try writeState.run()
    }

    func append(
        _ entries: [FeedEntry], of session: SessionID, in project: APIKey, at time: WallTime
    ) throws(DatabaseError) {
        var state = try state(of: project) ?? State(at: time)
        for entry in entries {
            state.range.last = FeedOffset.next(after: state.range.last, at: time)
            let (name, bytes) = (Array(session.rawValue.utf8), entry.encoded)
            insert.bind(project.bytes, at: 1)
            insert.bind(state.range.last, at: 2)
            insert.bind(name, at: 3)
            insert.bind(bytes, at: 4)
            insert.bind(Self.checksum(state.range.last, name, bytes), at: 5)
            try insert.run()
        }
        mostCounts[project]? += entries.count
        try write(state, of: project)
    }

    private static func checksum(_ position: Int64, _ session: [UInt8], _ entry: [UInt8]) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(position)
        session.withUnsafeBytes { checksum.add($0) }
        entry.withUnsafeBytes { checksum.add($0) }
        return checksum.value
    }

    /// - Parameter isDamaged: called with the position of an entry that was changed. A reader at this entry has a gap.
    func read(
        _ project: APIKey, from start: FeedStart, limit: Int, isDamaged: (Int64) -> Void
    ) throws(DatabaseError) -> FeedReading {
        guard let range = try state(of: project)?.range else { return FeedReading(ofEmptyFeedFrom: start) }
        guard let position = range.position(from: start) else { return .gone }
        select.bind(project.bytes, at: 1)
        select.bind(position, at: 2)
        select.bind(Int64(limit) + 1, at: 3)
        defer { select.reset() }
        var (rows, more): ([(position: Int64, session: SessionID, entry: FeedEntry)], Bool) = ([], false)
        while try select.step() {
            let (position, name, bytes) = (select.integer(0), select.bytes(1), select.bytes(2))
            guard Self.checksum(position, name, bytes) == select.integer(3), let entry = FeedEntry(decoding: bytes)
            else {
                isDamaged(position)
                // A reader that begins has no gap, and another one learns of it once it is here.
                if rows.isEmpty, case .after = start { return .gone }
                more = true
                if rows.isEmpty { continue } else { break }
            }
            if rows.count == limit {
                more = true
                break
            }
            rows.append((position, SessionID(rawValue: String(decoding: name, as: UTF8.self)), entry))
            more = false
        }
        var page = FeedPage(at: FeedOffset([position]))
        page.add(rows, more: more, of: 0)
        return .page(page)
    }

    func keepCursor(_ offset: FeedOffset, of project: APIKey, at time: WallTime) throws(DatabaseError) {
        var state = try state(of: project) ?? State(at: time)
        state.cursor = offset.fitted(to: 1).parts[0]
        try write(state, of: project)
    }

    /// Removes an entry that was changed, and those before it. So its readers meet the gap once.
    func removeDamaged(_ project: APIKey, through position: Int64) throws(DatabaseError) {
        guard var state = try state(of: project), position <= state.range.last else { return }
        _ = try remove(project, through: position, &state)
    }

    /// - Returns: whether there was anything to remove.
    private func remove(_ project: APIKey, through end: Int64, _ state: inout State) throws(DatabaseError) -> Bool {
        lastThrough.bind(project.bytes, at: 1)
        lastThrough.bind(end, at: 2)
        // The position of an entry: a reader that has the last one that goes has no gap.
        let last = try lastThrough.step() ? lastThrough.integer(0) : 0
        lastThrough.reset()
        guard last > state.range.goneThrough else { return false }
        delete.bind(project.bytes, at: 1)
        delete.bind(last, at: 2)
        try delete.run()
        state.range.goneThrough = last
        try write(state, of: project)
        return true
    }

    // MARK: - Trimming

    func allProjects() throws(DatabaseError) -> [APIKey] {
        defer { projects.reset() }
        var found: [APIKey] = []
        while try projects.step() { found.append(APIKey(rawValue: projects.text(0))) }
        return found
    }

    /// Deletes the oldest entries that are over a bound, but not more than a transaction should.
    ///
    /// - Returns: whether it stopped for that reason.
    func trim(
        _ project: APIKey, before time: Int64, atMost limit: Int, stepCount: Int64
    ) throws(DatabaseError) -> Bool {
        guard var state = try state(of: project) else { return false }
        let total = try entryCount(of: project, over: Int64(limit))
        let excess = min(stepCount, max(0, total - Int64(limit)))
        // Either what is too old, or what is too much: the last one of a step.
        let old = max(0, time) << 20
        var end = excess > 0 ? try position(of: project, at: excess - 1) ?? 0 : 0
        let step = try position(of: project, at: stepCount - 1) ?? .max
        end = max(end, min(old - 1, step))
        end = min(end, state.range.last)
        guard try remove(project, through: end, &state) else { return false }
        return excess == stepCount || step < old - 1
    }

    /// The number of entries, which is counted only if they may be too many: half a million take a while.
    private func entryCount(of project: APIKey, over limit: Int64) throws(DatabaseError) -> Int64 {
        if let most = mostCounts[project], most <= limit { return Int64(most) }
        count.bind(project.bytes, at: 1)
        defer { count.reset() }
        let total = try count.step() ? count.integer(0) : 0
        mostCounts[project] = Int(total)
        return total
    }

    private func position(of project: APIKey, at index: Int64) throws(DatabaseError) -> Int64? {
        nth.bind(project.bytes, at: 1)
        nth.bind(index, at: 2)
        defer { nth.reset() }
        return try nth.step() ? nth.integer(0) : nil
    }
}

extension APIKey {
    fileprivate var bytes: [UInt8] { Array(rawValue.utf8) }
}

extension WallTime {
    /// The system's clock, for the positions of feeds (FEED-3).
    static var ofSystem: WallTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
