import DequeModule
import SignalingProtocol

/// A session of a ``LoggedEngine``: its state after the last entry of the log, and the commands on their way.
final class LoggedSession {
    /// A step in the order of submission.
    enum Step {
        /// In the log, or on the way there. The command is kept, so that the engine need not decode its own.
        case logged(LoggedCommand, CommandID, CommandTicket?)
        /// Changes nothing that lasts. It only waits for the steps before it.
        case unlogged(SessionCommand, CommandTicket)
    }

    let id: SessionID
    /// `nil` before the first entry and after the last.
    var state: SessionState?
    /// Of the last entry; `nil` before the first.
    private(set) var position: LogPosition?
    /// The number of this run's commands to the session.
    private(set) var counter: UInt64 = 0
    private(set) var steps: Deque<Step> = []
    /// What only a session of a shared log has.
    var node = NodeSession()
    /// Whether the session exists once all submitted steps are carried out. A session that has ended meanwhile is begun
    /// again.
    var isOpen: Bool
    /// Whether an `advance` is on its way.
    var isAdvancing = false
    var snapshots = SnapshotSchedule()

    init(id: SessionID) {
        self.id = id
        isOpen = false
    }

    /// Continues a kept session. The effects of its commands were caused when they were new.
    convenience init(_ kept: KeptCommands.Session) throws(CodingFault) {
        self.init(id: kept.id)
        try restore(kept)
    }

    func restore(_ kept: KeptCommands.Session) throws(CodingFault) {
        let replay = try SessionReplay(kept)
        (state, position, counter) = (replay.state, replay.position, kept.ownCounter)
        isOpen = state != nil
        for entry in kept.entries { snapshots.note(commandByteCount: entry.bytes.count) }
    }

    func nextID(of run: RunID) -> CommandID {
        counter += 1
        return CommandID(run: run, counter: counter)
    }

    func append(_ step: Step) { steps.append(step) }

    /// Whether a command is in the log, or on the way there, and not confirmed.
    var hasLoggedStep: Bool {
        steps.contains { step in
            if case .logged = step { true } else { false }
        }
    }

    /// Whether a `begin` is on its way.
    var isBeginning: Bool {
        steps.contains { step in
            if case .logged(.begin, _, _) = step { true } else { false }
        }
    }

    /// Whether a command on its way ends the use of a socket: its client has gone.
    func awaitsEnd(of socket: SocketID) -> Bool {
        steps.contains { step in
            switch step {
            case .logged(.session(.leave(let binding, _)), _, _), .logged(.session(.detach(let binding)), _, _):
                binding.socket == socket
            case .logged, .unlogged: false
            }
        }
    }

    /// Removes the first step if it is this run's command of the entry.
    func popStep(of id: CommandID) -> (LoggedCommand, CommandTicket?)? {
        guard case .logged(let command, id, let ticket)? = steps.first else { return nil }
        steps.removeFirst()
        return (command, ticket)
    }

    /// Removes the first step if it is not in the log.
    func popUnlogged() -> (SessionCommand, CommandTicket)? {
        guard case .unlogged(let command, let ticket)? = steps.first else { return nil }
        steps.removeFirst()
        return (command, ticket)
    }

    /// - Returns: whether the entry is the next one.
    func advance(to new: LogPosition) -> Bool {
        guard new.isNext(after: position) else { return false }
        position = new
        return true
    }
}

/// When to keep a snapshot of a session: when the commands since the last one are larger than it (LOG-9). So the log is
/// at most about twice as large as its snapshots, and each command causes a bounded amount of work.
struct SnapshotSchedule {
    /// A smaller snapshot is not worth a transaction.
    static let smallestByteCount = 65_536
    /// What a log adds to each command.
    private static let overheadByteCount = 64

    private var commandByteCount = 0
    private var snapshotByteCount = 0
    private var isUnderWay = false

    mutating func note(commandByteCount count: Int) { commandByteCount += count + Self.overheadByteCount }

    /// Whether a snapshot must be made now. The caller makes it.
    ///
    /// - Parameter isWanted: whether the log asks for a snapshot of any size.
    mutating func begin(isWanted: Bool = false) -> Bool {
        guard !isUnderWay, isWanted || commandByteCount > max(Self.smallestByteCount, snapshotByteCount) else {
            return false
        }
        isUnderWay = true
        commandByteCount = 0
        return true
    }

    mutating func noteKept(byteCount: Int) {
        snapshotByteCount = byteCount
        isUnderWay = false
    }
}
