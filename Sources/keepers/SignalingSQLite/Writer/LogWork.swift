import DequeModule
import SignalingCore
import SignalingProtocol
import Synchronization

/// One step of the writer, in the order in which the loop asked for it.
enum LogWork: Sendable {
    /// Precedes the first command of a session.
    case begin(SessionKey, SessionID)
    /// Adds a command.
    case append(SessionKey, CommandEntry)
    /// Confirms a command that the log has.
    case repeated(SessionKey, CommandEntry)
    case keep(SessionKey, PendingSnapshot)
    /// The session has ended at this position, and commands behind it begin a session of the same name.
    case cover(SessionKey, SessionID, through: LogPosition)
    /// The session has ended, and has no further commands.
    case end(SessionKey)
    /// Goes on with a pass over the commands.
    case scrub(ScrubPass)
    /// The session sleeps, and has no further commands.
    case sleep(SessionKey, PendingSnapshot, SleepReason)
    /// Makes a sleeping session one with this key.
    case wake(SessionKey, SessionID)
    /// Forgets the sleeping sessions that have no reason left. These have no history any more.
    case forget([SessionID], at: MonotonicInstant)
}

/// A snapshot on its way to the database. The writer's thread encodes it once, also when the transaction is repeated.
final class PendingSnapshot: Sendable {
    let session: SessionID
    let position: LogPosition
    let replacesErased: Bool
    private let encode: @Sendable () -> [UInt8]
    private let encoded = Mutex<[UInt8]?>(nil)

    init(_ snapshot: CommandSnapshot) {
        session = snapshot.session
        position = snapshot.position
        replacesErased = snapshot.replacesErased
        encode = snapshot.encode
    }

    var bytes: [UInt8] {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let bytes = encode()
            encoded = bytes
            return bytes
        }
    }
}

/// The work of one transaction.
struct WorkBatch: Sendable {
    private(set) var work: [LogWork] = []
    private var commandCount = 0
    private var byteCount = 0
    private var hasCommands = false

    var isEmpty: Bool { work.isEmpty }

    init() {}

    /// Work that ``DirectCommits`` permits is one transaction.
    init(direct work: [LogWork]) { self.work = work }

    /// Moves the next work from the queue, up to the limits of a transaction. A single step may be larger.
    ///
    /// Steps that refer to earlier commands begin a new transaction, so that those commands are committed then.
    mutating func take(from queue: inout Deque<LogWork>) {
        while let next = queue.first {
            switch next {
            case .begin:
                hasCommands = true
            case .append(_, let entry), .repeated(_, let entry):
                guard isEmpty || fits(entry.bytes.count) else { return }
                hasCommands = true
                commandCount += 1
                byteCount += entry.bytes.count
            case .keep(let key, let snapshot):
                // A transaction of its own: it is encoded outside of the queue's lock, so its size is not known here.
                guard isEmpty else { return }
                work.append(.keep(key, snapshot))
                queue.removeFirst()
                return
            case .cover, .end, .sleep:
                guard !hasCommands else { return }
            case .scrub:
                // A transaction of its own, so that the commands of others wait for one part only.
                guard isEmpty else { return }
                work.append(next)
                queue.removeFirst()
                return
            case .wake, .forget: break
            }
            work.append(next)
            queue.removeFirst()
        }
    }

    private func fits(_ added: Int) -> Bool {
        commandCount < CommandStore.commandLimit && byteCount + added <= CommandStore.byteLimit
    }
}
