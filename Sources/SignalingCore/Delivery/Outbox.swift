import DequeModule
import SignalingProtocol

/// What one connection still has to be sent: a cursor into its session's log, and the lines that are for it alone.
///
/// Delivery is to bring the cursor to the end of the log. A slow client is a cursor that falls behind; nothing of the
/// log is kept twice for it.
public struct Outbox: Sendable {
    /// A line for this connection alone (an answer, a ping), and its place: after the event with that seq.
    struct PrivateLine: Sendable {
        let after: Seq
        let bytes: [UInt8]
        /// The signal that it answers, which waits as long as it does, and stands in the log on this connection's account.
        let signalByteCount: Int

        var byteCount: Int { bytes.count + signalByteCount }
    }

    /// What taking the next batch came to.
    public enum Progress: Hashable, Sendable {
        /// Nothing is left to send.
        case complete
        /// The byte limit was reached; more is there.
        case partial
        /// The log no longer has what comes next: this client has to be told that it missed something (G4).
        case overrun
    }

    public let owner: ConnectionID
    public let suppressesPresence: Bool
    /// For a recovered connection, where what it missed ends: up to here it gets no presence, and signals bring their
    /// senders along, since those may have left (RES-5).
    private let recoversThrough: Seq
    /// Everything up to here has been handed to the socket.
    public private(set) var cursor: Seq
    private var privateLines: Deque<PrivateLine> = []
    /// Bytes that wait on this connection's own account: its private lines, and the signals that some of them answer
    /// (``BackPressure``).
    public private(set) var waitingByteCount = 0

    public init(owner: ConnectionID, suppressesPresence: Bool, cursor: Seq, recoversThrough: Seq = .zero) {
        self.owner = owner
        self.recoversThrough = recoversThrough
        self.suppressesPresence = suppressesPresence
        self.cursor = cursor
    }

    public var hasPrivateLines: Bool { !privateLines.isEmpty }

    /// Whether the same bytes serve this connection as serve everybody who was up to date at `position`.
    func isTypical(at position: Seq) -> Bool {
        cursor == position && recoversThrough <= position && privateLines.isEmpty
    }

    /// Adds a line for this connection alone, to be sent after the event with that seq.
    ///
    /// - Parameter signalByteCount: of the signal that the line answers, 0 if it answers none.
    public mutating func append(_ line: EncodedLine, after seq: Seq, signalByteCount: Int = 0) {
        let line = PrivateLine(after: seq, bytes: line.bytes, signalByteCount: signalByteCount)
        privateLines.append(line)
        waitingByteCount += line.byteCount
    }

    /// Appends to `bytes` what comes next, a line each, lines separated by a newline, until about `byteLimit` is reached.
    ///
    /// Whatever the limit is, something is taken if there is something.
    ///
    /// `onlineOnly` are the online-only signals of this moment, in order; pass none for a connection that is behind.
    public mutating func dequeue(
        from log: borrowing SessionLog, onlineOnly: [OnlineOnlySignal], byteLimit: Int, into bytes: inout [UInt8]
    ) -> Progress {
        guard let entries = log.entries(after: cursor) else { return .overrun }
        let start = bytes.count
        var onlineOnly = onlineOnly[...]
        for entry in entries {
            takeLines(before: entry.seq, &onlineOnly, into: &bytes)
            if bytes.count > start, bytes.count - start >= byteLimit { return .partial }
            if receives(entry) {
                entry.line.append(
                    to: &bytes, withSender: suppressesPresence || entry.seq <= recoversThrough, separatedFrom: start)
            }
            cursor = entry.seq
        }
        takeLines(before: nil, &onlineOnly, into: &bytes)
        return .complete

        func takeLines(
            before seq: Seq?, _ onlineOnly: inout ArraySlice<OnlineOnlySignal>, into bytes: inout [UInt8]
        ) {
            while let line = privateLines.first, seq.map({ line.after < $0 }) ?? true {
                privateLines.removeFirst()
                waitingByteCount -= line.byteCount
                EncodedLine.append(line.bytes, to: &bytes, separatedFrom: start)
            }
            while let signal = onlineOnly.first, seq.map({ signal.after < $0 }) ?? true {
                onlineOnly.removeFirst()
                // One that stands before our place is too late for us: we joined after it, or it was sent already.
                if signal.after >= cursor, signal.audience.includes(owner) {
                    signal.line.append(to: &bytes, withSender: suppressesPresence, separatedFrom: start)
                }
            }
        }
    }

    /// Appends the private lines alone, for a connection whose session is gone.
    public mutating func dequeuePrivateLines(into bytes: inout [UInt8]) {
        let start = bytes.count
        while let line = privateLines.popFirst() {
            EncodedLine.append(line.bytes, to: &bytes, separatedFrom: start)
        }
        waitingByteCount = 0
    }

    private func receives(_ entry: LogEntry) -> Bool {
        switch entry.kind {
        case .signal: entry.audience.includes(owner)
        case .presence(let subject): !suppressesPresence && subject != owner && entry.seq > recoversThrough
        }
    }

    /// The bytes up to `position` were sent by other means: see ``SharedBatch``.
    mutating func advance(to position: Seq) { cursor = position }
}

extension Audience {
    func includes(_ connection: ConnectionID) -> Bool {
        switch self {
        case .everyone: true
        case .only(let target): target == connection
        }
    }
}
