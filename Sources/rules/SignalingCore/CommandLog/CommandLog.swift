import SignalingProtocol

/// The port to the component that orders and keeps the commands of sessions.
///
/// A session is a deterministic state machine, so the ordered list of its commands is the session. A command changes
/// nothing until the log has confirmed it (LOG-1). Every log gives the following guarantees:
///
/// - *Order.* The commands of one caller to one session are confirmed in the order of ``append(_:now:)``.
/// - *Kept.* A confirmed command is in the log of the next process too, as long as no later snapshot replaces it.
/// - *Once.* A repeated append of a command that the log has adds nothing (LOG-3).
/// - *Time.* The times of a session's entries never run backwards, and do not depend on the clocks of later readers
///   (LOG-4).
/// - *One thread.* The caller calls every method on one thread. The log calls its observer on that thread, never from
///   within a call.
public protocol CommandLog: AnyObject {
    var observer: (any CommandLogObserver)? { get set }

    /// The log's own time at a moment of this process.
    func time(at now: MonotonicInstant) -> MonotonicInstant

    /// Appends commands in one step. A caller that appends the commands of one turn together pays for one commit.
    func append(_ commands: [CommandAppend], now: MonotonicInstant)

    /// Keeps a snapshot of a session. From then on the log need not keep the session's commands up to its position.
    ///
    /// Does nothing if the log has a newer snapshot. After a snapshot that ``CommandSnapshot/replacesErased``, nothing live
    /// has the content of the covered commands any more: no file within a minute, no key of Redis within two (HIS-9).
    func keep(_ snapshot: CommandSnapshot)

    /// Removes a session that has ended: its snapshot, and its commands up to this position.
    func remove(_ session: SessionID, through position: LogPosition)

    /// The bytes of the commands that were appended and are not confirmed yet. Above
    /// ``CommandLogLimits/inFlightByteCount`` the caller must not read from clients (LOG-22).
    var inFlightByteCount: Int { get }
}

/// The command log of one process, which opens a sleeping session when it is needed (HIS-3).
///
/// A ``SharedCommandLog`` opens every session in the same way, whether it sleeps or not.
public protocol LocalCommandLog: CommandLog {
    /// The number of sleeping sessions. Without any, nothing needs to be woken.
    var sleeperCount: Int { get }

    /// Keeps the last state of a session that sleeps (HIS-3), in one step with the removal of its commands up to the
    /// snapshot's position. The next process does not continue the session: it sleeps until somebody opens it.
    func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason)

    /// Wakes a session: from now on it is a session like any other, whose commands follow its last one. A new run of the
    /// process continues the counters.
    ///
    /// - Parameter answer: gets the session with its snapshot and without entries, or `nil` if it does not sleep. Called
    ///   on the caller's thread, later or from within the call.
    func wake(_ session: SessionID, answer: @escaping (KeptCommands.Session?) -> Void)

    /// Reads some of the sleeping sessions whose IDs are in a range, the greatest first. Takes time in proportion to what it
    /// reads, and delays no command. It may lack a session that has just fallen asleep.
    ///
    /// - Parameter answer: called on the caller's thread, later or from within the call.
    func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void)

    /// Forgets the sleeping sessions that have no reason left: their history is empty, and their restrictions have ended.
    /// Call it about once a minute.
    ///
    /// - Parameters:
    ///   - sessions: have an empty history from now on.
    ///   - time: of the log.
    func forgetSleepers(_ sessions: [SessionID], at time: MonotonicInstant)
}

/// Why a session sleeps instead of ending (HIS-3, MOD-9).
public struct SleepReason: Hashable, Sendable {
    /// Whether it may have a history.
    public var hasHistory: Bool
    /// When its restrictions have ended, in the log's time; `nil` if none holds.
    public var restrictionsEnd: RestrictionEnd?

    public init(hasHistory: Bool, restrictionsEnd: RestrictionEnd? = nil) {
        self.hasHistory = hasHistory
        self.restrictionsEnd = restrictionsEnd
    }

    public func isOver(at now: MonotonicInstant) -> Bool {
        !hasHistory && restrictionsEnd.map { $0.isOver(at: now) } ?? true
    }
}

/// The receiver of a log's entries.
public protocol CommandLogObserver: AnyObject {
    /// The log has ordered and kept these commands.
    func log(confirmed entries: [CommandEntry])
    /// These sessions keep the log from dropping old commands. The log asks for their snapshots.
    func log(needsSnapshotsOf sessions: [SessionID])
    /// The log has kept a snapshot, which has this size.
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int)
}

public enum CommandLogLimits {
    /// The bytes that may wait for a confirmation (LOG-22).
    public static let inFlightByteCount = 16 << 20
}

/// One life of one process. Drawn at random when it starts.
public struct RunID: Hashable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The name of a command (LOG-3).
public struct CommandID: Hashable, Sendable {
    /// The process that appended the command.
    public let run: RunID
    /// Counts the commands of that run to the session, from 1 and without a gap.
    public let counter: UInt64

    public init(run: RunID, counter: UInt64) {
        self.run = run
        self.counter = counter
    }
}

/// A place in the order of a session's commands (LOG-2). Two commands with the same number mean that an order was lost.
public struct LogPosition: Hashable, Sendable {
    /// Counts the session's commands, from 1 and without a gap.
    public let number: UInt64
    public let id: CommandID

    public init(number: UInt64, id: CommandID) {
        self.number = number
        self.id = id
    }
}

/// A command on its way into the log.
public struct CommandAppend: Sendable {
    public let session: SessionID
    public let id: CommandID
    /// The encoded command.
    public let bytes: [UInt8]
    /// Whether a log without memory for others must take it (LOG-36).
    public let freesMemory: Bool

    public init(session: SessionID, id: CommandID, bytes: [UInt8], freesMemory: Bool = false) {
        self.session = session
        self.id = id
        self.bytes = bytes
        self.freesMemory = freesMemory
    }

    init(_ command: LoggedCommand, session: SessionID, id: CommandID) {
        self.init(session: session, id: id, bytes: command.encoded(), freesMemory: command.freesMemory)
    }
}

/// A command in the log.
public struct CommandEntry: Sendable {
    public let session: SessionID
    public let position: LogPosition
    /// The log's time at which the command takes effect.
    public let time: MonotonicInstant
    public let bytes: [UInt8]

    public init(session: SessionID, position: LogPosition, time: MonotonicInstant, bytes: [UInt8]) {
        self.session = session
        self.position = position
        self.time = time
        self.bytes = bytes
    }
}

/// The state of a session after the command at a position.
public struct CommandSnapshot: Sendable {
    public let session: SessionID
    public let position: LogPosition
    /// Whether the commands that the snapshot covers have content that was erased since.
    public let replacesErased: Bool
    /// Encodes the state. The log may call it on another thread.
    public let encode: @Sendable () -> [UInt8]

    public init(
        session: SessionID, position: LogPosition, replacesErased: Bool = false,
        encode: @escaping @Sendable () -> [UInt8]
    ) {
        self.session = session
        self.position = position
        self.replacesErased = replacesErased
        self.encode = encode
    }
}

/// What a log has kept, for the process that continues it.
public struct KeptCommands: Sendable {
    public struct Session: Sendable {
        public let id: SessionID
        /// The newest snapshot; `nil` before the first.
        public let snapshot: Snapshot?
        /// All commands after the snapshot, in their order.
        public let entries: [CommandEntry]
        /// The last counter of the run that opens the session (LOG-3); zero if the run has no command in the log. Only
        /// a ``SharedCommandLog`` has another value.
        public let ownCounter: UInt64

        public init(id: SessionID, snapshot: Snapshot?, entries: [CommandEntry], ownCounter: UInt64 = 0) {
            self.id = id
            self.snapshot = snapshot
            self.entries = entries
            self.ownCounter = ownCounter
        }
    }

    public struct Snapshot: Sendable {
        public let position: LogPosition
        public let bytes: [UInt8]

        public init(position: LogPosition, bytes: [UInt8]) {
            self.position = position
            self.bytes = bytes
        }
    }

    public var sessions: [Session]
    /// What can still be read of sessions that are not continued (LOG-21, LOG-23), up to the first damage. Their
    /// messages belong into the history (HIS-3). Nothing else may be taken from them.
    public var discarded: [Session]
    /// The log's time at which the run before was lost (LOG-13): no later than the opening, and no earlier than the run
    /// may have been alive. A connection that had a socket can be resumed for the whole window from then.
    public var lostAt: MonotonicInstant

    public init(sessions: [Session] = [], discarded: [Session] = [], lostAt: MonotonicInstant) {
        self.sessions = sessions
        self.discarded = discarded
        self.lostAt = lostAt
    }
}
