import SignalingProtocol

/// Some of the sessions that sleep (HIS-3), the greatest ID first: a part of a list that may be long.
public struct SleepingSessions: Sendable {
    /// A session as it fell asleep.
    public struct Row: Sendable {
        public let id: SessionID
        /// The encoded state. Empty if the store's row was changed.
        fileprivate let state: [UInt8]

        /// Decodes the state. May be called on any thread.
        ///
        /// - Returns: `nil` for a state that this version cannot read: the session will begin anew.
        func decoded() -> SessionState? { try? SessionState(decoding: state) }
    }

    /// The bytes of the states that are read at once, unless a single one is larger.
    static let byteLimit = 4 << 20

    public private(set) var rows: [Row] = []
    /// Where the list goes on: others may have smaller IDs than this one. `nil` at the end of the range.
    public private(set) var next: SessionID?
    /// Which restrictions hold depends on it. In the log's time.
    var time = MonotonicInstant(nanoseconds: .min)
    private let limit: Int
    private var byteCount = 0

    /// - Parameter limit: the most rows; at least 1.
    public init(atMost limit: Int) { self.limit = limit }

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

/// Why the sleeping sessions are not known.
public enum SleepersUnread: Error, Sendable {
    /// Several servers share the sessions, and nothing lists those that sleep.
    case unlisted
    /// The store cannot be read at present.
    case unreadable
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
