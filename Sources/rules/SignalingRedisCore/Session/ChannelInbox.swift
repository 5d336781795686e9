import SignalingCore
import SignalingProtocol

/// An entry of a session as a node hears of it.
package struct ChannelEntry: Equatable {
    let position: LogPosition
    let time: MonotonicInstant
    /// `nil` for an entry of this node, which it has itself.
    let bytes: [UInt8]?
}

/// Puts the entries of a session in their order. They arrive in replies, as messages, and in ranges that were asked
/// for: early, late, or several times.
struct ChannelInbox {
    /// More entries than these are dropped, and asked for in ranges when it is their turn.
    static let waitingCount = 4_096
    static let waitingByteCount = 4 << 20

    /// The random name of the order of commands; empty as long as the log does not have the session.
    private(set) var generation = ""
    /// Of the last entry that was delivered.
    private(set) var number: UInt64 = 0
    private(set) var id: CommandID?
    private(set) var time = MonotonicInstant(nanoseconds: 0)
    /// The last counter of each run.
    private(set) var counters: [RunID: UInt64] = [:]
    /// Since when entries wait for an earlier one.
    private(set) var gapSince: MonotonicInstant?

    private(set) var waiting: [UInt64: ChannelEntry] = [:]
    private(set) var waitingBytes = 0
    private var recent = RecentIDs()

    init() {}

    /// A session after the entry at a position.
    init(generation: String, position: LogPosition, time: MonotonicInstant, counters: [RunID: UInt64]) {
        self.generation = generation
        number = position.number
        id = position.id
        self.time = time
        self.counters = counters
        recent.note(position)
    }

    var position: LogPosition? { id.map { LogPosition(number: number, id: $0) } }

    /// Whether nothing is known that contradicts the position.
    func agrees(with position: LogPosition) -> Bool { recent.agrees(with: position) }

    /// The generation becomes known with the first entry.
    ///
    /// - Returns: whether this is the generation of the entries so far.
    mutating func adopt(generation new: String) -> Bool {
        if generation.isEmpty { generation = new }
        return generation == new
    }

    /// - Returns: whether the entry agrees with the order so far (LOG-2).
    mutating func receive(_ entry: ChannelEntry, now: MonotonicInstant) -> Bool {
        let position = entry.position
        if position.number <= number { return recent.agrees(with: position) }
        if let other = waiting[position.number] { return other.position == position }
        guard waiting.count < Self.waitingCount, waitingBytes < Self.waitingByteCount else { return true }
        waiting[position.number] = entry
        waitingBytes += entry.bytes?.count ?? 0
        if gapSince == nil, position.number != number + 1 { gapSince = now }
        return true
    }

    /// Removes the entry that is next.
    mutating func next(now: MonotonicInstant) -> ChannelEntry? {
        guard let entry = waiting.removeValue(forKey: number + 1) else { return nil }
        waitingBytes -= entry.bytes?.count ?? 0
        number = entry.position.number
        id = entry.position.id
        time = entry.time
        counters[entry.position.id.run] = entry.position.id.counter
        recent.note(entry.position)
        gapSince = waiting.isEmpty || waiting[number + 1] != nil ? nil : now
        return entry
    }

    /// Redis may have forgotten what waits, and may give these numbers to others: it is asked for again.
    ///
    /// - Parameter last: Redis has everything up to this number.
    /// - Returns: whether something waited.
    @discardableResult
    mutating func forgetWaiting(behind last: UInt64 = 0) -> Bool {
        let kept = waiting.filter { $0.key <= last }
        defer {
            waiting = kept
            waitingBytes = kept.values.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
            if kept.isEmpty { gapSince = nil }
        }
        return kept.count < waiting.count
    }

    /// What waits, in no particular order.
    var waitingEntries: [ChannelEntry] { Array(waiting.values) }

    /// The log has this many entries. Those that are missing must be asked for, unless they arrive by themselves.
    mutating func note(lastNumber: UInt64, now: MonotonicInstant) {
        if lastNumber > number, gapSince == nil { gapSince = now }
    }

    /// A range was asked for, and nothing is missing until the next entry.
    mutating func gapIsFilled() { gapSince = nil }

    /// A range was asked for in vain.
    mutating func gapRemains(now: MonotonicInstant) { gapSince = now }

    /// The first and the last number that are missing before the first entry that waits. Without a last number,
    /// everything after the last delivered entry is missing.
    var missing: (first: UInt64, last: UInt64?) {
        (number + 1, waiting.keys.min().map { $0 - 1 })
    }
}

/// The ids of the last entries, in a ring.
private struct RecentIDs {
    private static let count: UInt64 = 32
    private var ids: [CommandID?] = []
    private var last: UInt64 = 0

    mutating func note(_ position: LogPosition) {
        if ids.isEmpty { ids = Array(repeating: nil, count: Int(Self.count)) }
        ids[Int(position.number % Self.count)] = position.id
        last = position.number
    }

    /// Whether a position is not known to be another one's. An old one is not known any more.
    func agrees(with position: LogPosition) -> Bool {
        guard !ids.isEmpty, position.number <= last, position.number + Self.count > last,
            let known = ids[Int(position.number % Self.count)]
        else { return true }
        return known == position.id
    }
}
