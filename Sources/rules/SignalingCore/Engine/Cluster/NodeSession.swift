import SignalingProtocol

/// What a node has to know of a session that several nodes host.
struct NodeSession {
    /// Whether the log has not answered `open` yet. The session has no state then.
    var isOpening = false
    /// Changes when the session is opened again before it is open. Late answers to earlier attempts are void.
    var openingCount = 0
    /// The commands that wait until the session is open, in their order; none of an open session.
    var waiting: [Submission] = []
    /// The requests for the session's state that wait until this node has caught up.
    var readers = WaitingReaders()
    /// The last use of the session by a client or a backend of this node, in the process's time.
    var lastInterest = MonotonicInstant(nanoseconds: 0)
    /// What a copy that this node has dropped had for the archive, and the epoch of its order.
    var dropped: (unarchived: Unarchived, epoch: Epoch)?
    /// Whether the connections of this node have lost their sockets, and the log does not know it yet.
    var mustDetach = false
    /// No `advance` is appended before this moment, in the log's time.
    var nextAdvance: MonotonicInstant?
    /// The number of the last entry with which a client of this node came into the session.
    var lastJoin: UInt64 = 0
    var heldSignals = HeldSignals()

    /// What a reader of a session gets.
    enum Reading {
        /// The state after every entry that the log had at the time of the request; `nil` if the log had no session.
        case state(SessionState?)
        /// This version cannot read the session.
        case unreadable
    }
}

/// The requests for a session's state that wait until the node has everything that the log has (LOG-35). Those that come
/// while the node asks the log wait for its next question, and share that one: all clients of a room may ask at once.
struct WaitingReaders {
    typealias Reader = (NodeSession.Reading) -> Void

    private var asked: [Reader] = []
    private var later: [Reader] = []
    private var isAsking = false

    var isEmpty: Bool { asked.isEmpty && later.isEmpty }

    mutating func add(_ reader: @escaping Reader) { later.append(reader) }

    /// - Returns: whether the log must be asked now. The caller does so.
    mutating func beginAsking() -> Bool {
        guard !isAsking, !later.isEmpty else { return false }
        (asked, later, isAsking) = (later, [], true)
        return true
    }

    /// The log has answered.
    mutating func takeAsked() -> [Reader] {
        defer { (asked, isAsking) = ([], false) }
        return asked
    }

    mutating func takeAll() -> [Reader] {
        defer { self = WaitingReaders() }
        return asked + later
    }

    /// The session is opened again: the answer to an earlier question says nothing of it.
    var reopened: WaitingReaders {
        var readers = WaitingReaders()
        readers.later = asked + later
        return readers
    }
}
