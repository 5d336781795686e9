import DequeModule
import SignalingCore
import SignalingProtocol

/// The commands of this node to one session that are not confirmed yet, in the order of their counters.
struct OwnCommands {
    struct Command {
        let counter: UInt64
        let bytes: [UInt8]
        let appendedAt: MonotonicInstant
        let freesMemory: Bool
    }

    /// At most this much is sent in one call, so that Redis is not kept busy by it.
    static let callByteCount = 1 << 20
    static let callCommandCount = 256

    private(set) var commands: Deque<Command> = []
    /// How many of them have been sent.
    private(set) var sentCount = 0
    private(set) var freeingCount = 0

    /// Whether one of them frees memory. Those before it must come into the log with it, since the order stays (LOG-36).
    var freesMemory: Bool { freeingCount > 0 }
    var isEmpty: Bool { commands.isEmpty }
    var count: Int { commands.count }
    /// The counter of the first of them.
    var firstCounter: UInt64? { commands.first?.counter }
    var hasUnsent: Bool { sentCount < commands.count }
    var byteCount: Int { commands.reduce(0) { $0 + $1.bytes.count } }

    mutating func append(counter: UInt64, bytes: [UInt8], freesMemory: Bool = false, now: MonotonicInstant) {
        commands.append(Command(counter: counter, bytes: bytes, appendedAt: now, freesMemory: freesMemory))
        if freesMemory { freeingCount += 1 }
    }

    /// The next commands to send, which count as sent then.
    mutating func takeForSending() -> ArraySlice<Command>? {
        guard hasUnsent else { return nil }
        var byteCount = 0
        var end = sentCount
        while end < commands.count, end - sentCount < Self.callCommandCount, byteCount < Self.callByteCount {
            byteCount += commands[end].bytes.count
            end += 1
        }
        defer { sentCount = end }
        return ArraySlice(commands[sentCount..<end])
    }

    /// Replies to commands that were sent will not come, or were refusals.
    mutating func sendAgain() { sentCount = 0 }

    /// The log has put this command in its order. Removes and returns it.
    mutating func confirm(counter: UInt64) -> Command? {
        guard let first = commands.first, first.counter == counter else { return nil }
        commands.removeFirst()
        if first.freesMemory { freeingCount -= 1 }
        sentCount = max(0, sentCount - 1)
        return first
    }
}
