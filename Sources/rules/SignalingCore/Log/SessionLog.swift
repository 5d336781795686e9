import DequeModule
import SignalingProtocol

/// The order of a session (G1): its latest events, by seq, without a gap.
///
/// Bounded in events, in bytes and in time (G5, RES-14): the oldest events go first. A client that still needs them has
/// overrun the log, and learns of the loss (G4).
public struct SessionLog: Sendable {
    /// How many events a log keeps, and for how long.
    public struct Bounds: Sendable {
        /// The maximum number of events; at least 1.
        public var eventCount: Int
        /// The maximum number of bytes of encoded lines. The newest event is kept even if it alone is larger.
        public var byteCount: Int
        /// The maximum time that an event is kept. Applied only when an event is appended.
        public var age: Duration

        public init(
            eventCount: Int = 2048, byteCount: Int = 1_048_576,
            age: Duration = max(Limits.resumeWindow, Limits.recoveryWindow)
        ) {
            self.eventCount = max(1, eventCount)
            self.byteCount = byteCount
            self.age = age
        }
    }

    public private(set) var bounds: Bounds
    public private(set) var entries: Deque<LogEntry> = []
    public private(set) var byteCount = 0
    /// The seq of the newest event ever appended; zero before the first.
    public private(set) var lastSeq = Seq.zero
    /// The newest event that some members get in another way than others, or not at all; zero before the first. Follows
    /// from the events.
    private(set) var lastExclusiveSeq = Seq.zero
    /// The connections that are away after the newest event. They are no events: they have no seq, and clients get the
    /// present state only (PRES-4).
    public internal(set) var absences = Absences()

    /// Whatever changes what a client has to get changes this value.
    struct Mark: Hashable {
        let lastSeq: Seq
        let absences: UInt64

        static let beginning = Mark(lastSeq: .zero, absences: 0)
    }

    var mark: Mark { Mark(lastSeq: lastSeq, absences: absences.version) }

    public init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    /// A saved log: the events up to `lastSeq`, without a gap. Drops the oldest events over the bounds.
    init(bounds: Bounds, lastSeq: Seq, entries: Deque<LogEntry>) {
        self.bounds = bounds
        self.lastSeq = lastSeq
        self.entries = entries
        byteCount = entries.reduce(0) { $0 + $1.line.byteCount }
        lastExclusiveSeq = entries.last(where: \.isExclusive)?.seq ?? .zero
        changeBounds(to: bounds)
    }

    /// Replaces the bounds. Drops the oldest events over the new count and size; the age applies with the next event.
    mutating func changeBounds(to new: Bounds) {
        bounds = new
        while entries.count > 1, entries.count > bounds.eventCount || byteCount > bounds.byteCount {
            byteCount -= entries.removeFirst().line.byteCount
        }
    }

    /// The log has every event after this seq. A client that needs an earlier one has overrun the log.
    public var reachesBackTo: Seq { Seq(lastSeq.rawValue - Int64(entries.count)) }

    /// Whether the log has every event after this seq. False for a seq that is still to come.
    func hasAll(after seq: Seq) -> Bool { (reachesBackTo...lastSeq).contains(seq) }

    /// Appends the next event. The log assigns the seq, so there is no gap and no repetition.
    @discardableResult
    public mutating func append(
        audience: Audience, kind: LogEntry.Kind, now: MonotonicInstant, line: (Seq) -> EncodedLine
    ) -> LogEntry {
        lastSeq = lastSeq.next
        let entry = LogEntry(seq: lastSeq, audience: audience, kind: kind, appendedAt: now, line: line(lastSeq))
        entries.append(entry)
        byteCount += entry.line.byteCount
        if entry.isExclusive { lastExclusiveSeq = lastSeq }
        while entries.count > 1, isOldestOverBounds(now) {
            byteCount -= entries.removeFirst().line.byteCount
        }
        return entry
    }

    private func isOldestOverBounds(_ now: MonotonicInstant) -> Bool {
        entries.count > bounds.eventCount || byteCount > bounds.byteCount
            || now.duration(since: entries[0].appendedAt) > bounds.age
    }

    /// Takes the content of events away. Their seqs stay, as events for nobody.
    mutating func erase(where isErased: (LogEntry) -> Bool) {
        for index in entries.indices where isErased(entries[index]) {
            byteCount -= entries[index].line.byteCount
            entries[index] = entries[index].erased
        }
        // What one user has chosen is for its connections only (CHG-12), and may be erased.
        lastExclusiveSeq = entries.last(where: \.isExclusive)?.seq ?? .zero
    }

    /// Drops all events. A client that needs one of them has overrun the log.
    mutating func removeAll() {
        entries = []
        byteCount = 0
        absences = Absences()
    }

    /// What most messages need to know of a log.
    public struct End: Sendable {
        public let lastSeq: Seq
        public let bounds: Bounds
        /// The size of the newest event, and whether it is a join or a departure; `nil` before the first.
        public let newest: (byteCount: Int, isPresence: Bool)?
    }

    public var end: End { End(lastSeq: lastSeq, bounds: bounds, newest: newest) }

    private var newest: (byteCount: Int, isPresence: Bool)? {
        guard !entries.isEmpty else { return nil }
        let index = entries.count - 1
        let isPresence = if case .presence = entries[index].kind { true } else { false }
        return (entries[index].line.byteCount, isPresence)
    }

    /// The size of an event's line; 0 for an event that the log does not have.
    func byteCount(of seq: Seq) -> Int {
        guard seq > reachesBackTo, seq <= lastSeq else { return 0 }
        return entries[entries.count - 1 - Int(lastSeq.rawValue - seq.rawValue)].line.byteCount
    }

    /// The event with this seq; `nil` when the log does not have it any more, or not yet.
    public func entry(_ seq: Seq) -> LogEntry? {
        guard seq > reachesBackTo, seq <= lastSeq else { return nil }
        return entries[entries.count - 1 - Int(lastSeq.rawValue - seq.rawValue)]
    }

    /// The events after a seq, oldest first; `nil` on an overrun, when some of them are no longer in the log.
    public func entries(after seq: Seq) -> Deque<LogEntry>.SubSequence? {
        guard seq >= reachesBackTo else { return nil }
        let count = max(0, Int(lastSeq.rawValue - seq.rawValue))
        return entries[(entries.count - count)...]
    }
}
