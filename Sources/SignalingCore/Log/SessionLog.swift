import DequeModule
import SignalingProtocol

/// The one order of a session: its last events, in the order of their seq, without a gap.
///
/// Bounded in events, in bytes and in time (G5): the oldest go first. Who still needed them learns that they are gone (G4).
public struct SessionLog: Sendable {
    /// How much a session keeps.
    public struct Bounds: Sendable {
        /// Most events; at least 1.
        public var eventCount: Int
        /// Most bytes of encoded lines. The newest event is kept even if it alone is larger.
        public var byteCount: Int
        /// Longest time; looked at when an event is added.
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

    public let bounds: Bounds
    public private(set) var entries: Deque<LogEntry> = []
    public private(set) var byteCount = 0
    /// The seq of the newest event ever appended; zero before the first.
    public private(set) var lastSeq = Seq.zero

    public init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    /// A log as it was kept: the events up to `lastSeq`, without a gap. Of more than the bounds allow the oldest are not taken.
    init(bounds: Bounds, lastSeq: Seq, entries: Deque<LogEntry>) {
        self.bounds = bounds
        self.lastSeq = lastSeq
        self.entries = entries
        byteCount = entries.reduce(0) { $0 + $1.line.byteCount }
        while self.entries.count > 1, self.entries.count > bounds.eventCount || byteCount > bounds.byteCount {
            byteCount -= self.entries.removeFirst().line.byteCount
        }
    }

    /// Everything after this seq is still here.
    public var reachesBackTo: Seq { Seq(lastSeq.rawValue - Int64(entries.count)) }

    /// Appends the event that comes next; its seq is the log's own doing, so there cannot be a gap or a repeat.
    @discardableResult
    public mutating func append(
        audience: Audience, kind: LogEntry.Kind, now: MonotonicInstant, line: (Seq) -> EncodedLine
    ) -> LogEntry {
        lastSeq = lastSeq.next
        let entry = LogEntry(seq: lastSeq, audience: audience, kind: kind, appendedAt: now, line: line(lastSeq))
        entries.append(entry)
        byteCount += entry.line.byteCount
        while entries.count > 1, let oldest = entries.first, isTooMuch(oldest, now: now) {
            byteCount -= entries.removeFirst().line.byteCount
        }
        return entry
    }

    private func isTooMuch(_ oldest: LogEntry, now: MonotonicInstant) -> Bool {
        entries.count > bounds.eventCount || byteCount > bounds.byteCount
            || now.duration(since: oldest.appendedAt) > bounds.age
    }

    /// The event with that seq, if it is still here.
    public func entry(_ seq: Seq) -> LogEntry? {
        guard seq > reachesBackTo, seq <= lastSeq else { return nil }
        return entries[entries.count - 1 - Int(lastSeq.rawValue - seq.rawValue)]
    }

    /// The events after a seq, oldest first; `nil` if some of them are no longer here.
    public func entries(after seq: Seq) -> Deque<LogEntry>.SubSequence? {
        guard seq >= reachesBackTo else { return nil }
        let count = max(0, Int(lastSeq.rawValue - seq.rawValue))
        return entries[(entries.count - count)...]
    }
}
