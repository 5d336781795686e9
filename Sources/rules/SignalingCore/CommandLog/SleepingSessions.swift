import SignalingProtocol

/// Some of the sessions that sleep (HIS-3), the greatest ID first: a part of a list that may be long.
public struct SleepingSessions: Sendable {
    /// A session as it fell asleep.
    public struct Row: Sendable {
        public let id: SessionID
        /// The encoded state. Empty if the store's row was changed.
        fileprivate let state: [UInt8]

        package init(id: SessionID, state: [UInt8]) { (self.id, self.state) = (id, state) }

        /// Decodes the state. May be called on any thread.
        ///
        /// - Returns: `nil` for a state that this version cannot read: the session will begin anew.
        func decoded() -> SessionState? { try? SessionState(decoding: state) }
    }

    /// The bytes of the states that are read at once, unless a single one is larger.
    package static let byteLimit = 4 << 20

    public private(set) var rows: [Row] = []
    /// Where the list goes on: others may have smaller IDs than this one. `nil` at the end of the range.
    public private(set) var next: SessionID?
    /// Which restrictions hold depends on it. In the log's time.
    var time = MonotonicInstant(nanoseconds: .min)
    private let limit: Int
    private var byteCount = 0

    /// - Parameter limit: the most rows; at least 1.
    public init(atMost limit: Int) { self.limit = limit }

    /// A part that a store has read.
    ///
    /// - Parameter rows: the greatest ID first.
    package init(rows: [Row], next: SessionID?) {
        self.init(atMost: max(1, rows.count))
        (self.rows, self.next) = (rows, next)
    }

    /// Without the rows of other IDs. The list goes on where it did.
    package func `where`(_ isIncluded: (SessionID) -> Bool) -> SleepingSessions {
        SleepingSessions(rows: rows.filter { isIncluded($0.id) }, next: next)
    }

    /// What several stores have of one range. IDs below the greatest `next` are in one of the parts, and not in another.
    package init(merging parts: [SleepingSessions], atMost limit: Int) {
        self.init(atMost: limit)
        let end = parts.compactMap(\.next).max()
        for row in parts.flatMap(\.rows).sorted(by: { $0.id > $1.id }) where end.map({ row.id >= $0 }) ?? true {
            if !add(row.id, row.state) { return }
        }
        next = end
    }

    /// With the restrictions that hold at a moment.
    func asOf(_ time: MonotonicInstant) -> SleepingSessions {
        var read = self
        read.time = time
        return read
    }

    /// Adds the session with the next smaller ID.
    ///
    /// - Returns: false if there is no room for it, and reading ends.
    public mutating func add(_ id: SessionID, _ state: [UInt8]) -> Bool {
        byteCount += state.count
        guard let last = rows.last else {
            rows.append(Row(id: id, state: state))
            return true
        }
        guard rows.count < limit, byteCount <= Self.byteLimit else {
            next = last.id
            return false
        }
        rows.append(Row(id: id, state: state))
        return true
    }
}

/// The store of the sleeping sessions cannot be read at present.
public struct SleepersUnread: Error, Sendable {
    public init() {}
}

/// A store that several nodes share, and that knows which sessions sleep.
public protocol SleepingSessionList: AnyObject {
    /// Reads some of the sleeping sessions whose IDs are in a range, the greatest first.
    ///
    /// - Parameter answer: called on the caller's thread, later or from within the call.
    func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void)
}

extension Range<SessionID> {
    /// All sessions. IDs are printable ASCII.
    public static var all: Range<SessionID> { SessionID("")..<SessionID("\u{7F}") }

    /// One session alone.
    public static func only(_ session: SessionID) -> Range<SessionID> {
        session..<SessionID(session.rawValue + "\0")
    }

    /// The part with smaller IDs; `nil` if there is none.
    public func below(_ session: SessionID) -> Range<SessionID>? {
        let end = Swift.min(upperBound, session)
        return lowerBound < end ? lowerBound..<end : nil
    }
}
