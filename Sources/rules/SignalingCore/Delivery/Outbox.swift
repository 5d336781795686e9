import DequeModule
import SignalingProtocol

/// The unsent output of one connection: a cursor into its session's log, and its private lines.
///
/// Delivery moves the cursor to the end of the log. A slow client only has a cursor that falls behind; no part of the
/// log is copied for it.
public struct Outbox: Sendable {
    /// A line for this connection alone: an answer or a ping. It is sent after the event with the seq `after`.
    struct PrivateLine: Sendable {
        let after: Seq
        let bytes: [UInt8]
        /// The size of the client's own signal that this line acknowledges. The signal counts as unsent until this line
        /// is sent.
        let signalByteCount: Int

        var byteCount: Int { bytes.count + signalByteCount }
    }

    /// The result of dequeuing a batch.
    public enum Progress: Hashable, Sendable {
        /// Nothing is left.
        case complete
        /// The byte limit was reached, and more is left.
        case partial
        /// The log no longer has the next event. The client must learn that it missed something (G4).
        case overrun
    }

    public let owner: ConnectionID
    public let suppressesPresence: Bool
    /// Decide which events of moderation the connection gets (MOD-5, MOD-6).
    private let user: UserID?
    private let isModerator: Bool
    /// Whether the connection gets events of streams (STR-2).
    private let getsStreams: Bool
    /// The end of the replay for a new connection. Up to this seq it gets no presence, and signals carry their senders,
    /// which may have left (RES-5).
    let recoversThrough: Seq
    /// Every event up to this seq has been handed to the socket.
    public private(set) var cursor: Seq
    /// `connected` and the list of connections, which come before everything else.
    private(set) var entrance: (unsent: Entrance, welcomeByteCount: Int)?
    private(set) var privateLines: Deque<PrivateLine> = []
    /// Absences, as far as the client knows them; `nil` for a client that is told of none (PRES-4).
    private(set) var absences: ToldAbsences?
    /// The largest number of private lines since the deque was made.
    private var mostPrivateLines = 0
    /// An empty deque of more lines gives its memory back.
    private static let keptLineCount = 8
    /// Unsent bytes for the client's own requests: its private lines, and its own signals that some of them acknowledge
    /// (``BackPressure``, WIRE-13).
    public private(set) var waitingByteCount = 0

    public init(
        owner: ConnectionID, user: UserID? = nil, role: Role = .publisher, suppressesPresence: Bool, cursor: Seq,
        recoversThrough: Seq = .zero, getsStreams: Bool = false
    ) {
        self.owner = owner
        self.user = user
        isModerator = role.mayModerate
        self.getsStreams = getsStreams
        self.recoversThrough = recoversThrough
        self.suppressesPresence = suppressesPresence
        self.cursor = cursor
    }

    public var hasPrivateLines: Bool { entrance != nil || !privateLines.isEmpty }
    /// Whether the last dequeued bytes end in the middle of a text message, whose rest has to be dequeued next.
    public var isWithinMessage: Bool { entrance?.unsent.isWithinMessage ?? false }

    /// The forms in which the same events are sent to different connections.
    public enum Form: CaseIterable, Sendable {
        case plain
        /// Without presence, and with the sender of each signal (CON-4, SIG-9).
        case withoutPresence
        /// With absences (PRES-4).
        case withAbsences
    }

    public var form: Form { suppressesPresence ? .withoutPresence : absences == nil ? .plain : .withAbsences }

    /// Whether this connection gets the same bytes as every other one of its form with this cursor, and with the absences
    /// of this version. Only private lines may come behind them.
    func canShareBatch(from start: Seq, through end: Seq, absences version: UInt64) -> Bool {
        cursor == start && recoversThrough <= start && entrance == nil
            && privateLines.first.map { $0.after >= end } ?? true && absences.map { $0.version == version } ?? true
    }

    /// Whether nothing is left to send, if the log ends here.
    public func isServed(through seq: Seq, absences version: UInt64) -> Bool {
        cursor == seq && !hasPrivateLines && absences.map { $0.version == version } ?? true
    }

    /// An outbox at the same position for nobody in particular.
    func shared(cursor: Seq) -> Outbox {
        var outbox = Outbox(owner: ConnectionID(""), suppressesPresence: suppressesPresence, cursor: cursor)
        outbox.absences = absences
        return outbox
    }

    /// Adds `connected` and the list of the other connections.
    mutating func enter(with welcome: EncodedWelcome, _ others: ConnectionListing, _ absences: ToldAbsences?) {
        entrance = (Entrance(welcome, others), welcome.bytes.count)
        // The list is shared by all clients, and does not count.
        waitingByteCount += welcome.bytes.count
        self.absences = absences
    }

    /// Adds a line for this connection alone.
    ///
    /// - Parameters:
    ///   - seq: the line is sent after the event with this seq.
    ///   - signalByteCount: the size of the client's own signal that the line acknowledges, or 0.
    public mutating func append(_ line: EncodedLine, after seq: Seq, signalByteCount: Int = 0) {
        let line = PrivateLine(after: seq, bytes: line.bytes, signalByteCount: signalByteCount)
        privateLines.append(line)
        mostPrivateLines = max(mostPrivateLines, privateLines.count)
        waitingByteCount += line.byteCount
    }

    /// Appends the next lines to `bytes`, separated by newlines, until about `byteLimit` is reached.
    ///
    /// A long list of connections is an exception: it comes in smaller parts, and one within `connected` is a single line
    /// in several parts (``isWithinMessage``).
    ///
    /// - Parameters:
    ///   - onlineOnly: the pending online-only signals, in order. Pass none for a connection that is behind.
    ///   - byteLimit: at least one line is appended, whatever the limit is.
    public mutating func dequeue(
        from log: borrowing SessionLog, onlineOnly: [OnlineOnlySignal], byteLimit: Int, into bytes: inout [UInt8]
    ) -> Progress {
        guard let entries = log.entries(after: cursor) else { return .overrun }
        let start = bytes.count
        if let welcomeByteCount = entrance?.welcomeByteCount {
            guard entrance?.unsent.dequeue(byteLimit: byteLimit, into: &bytes, separatedFrom: start) ?? true else {
                return .partial
            }
            entrance = nil
            waitingByteCount -= welcomeByteCount
        }
        var onlineOnly = onlineOnly[...]
        for entry in entries {
            appendLines(before: entry.seq, &onlineOnly, into: &bytes)
            if bytes.count > start, bytes.count - start >= byteLimit { return .partial }
            if case .presence(let subject) = entry.kind { absences?.note(presenceOf: subject, at: entry.seq) }
            if receives(entry) {
                entry.line.append(
                    to: &bytes, withSender: suppressesPresence || entry.seq <= recoversThrough, separatedFrom: start)
            }
            cursor = entry.seq
        }
        appendLines(before: nil, &onlineOnly, into: &bytes)
        absences?.update(from: log, for: owner, into: &bytes, separatedFrom: start)
        return .complete

        func appendLines(
            before seq: Seq?, _ onlineOnly: inout ArraySlice<OnlineOnlySignal>, into bytes: inout [UInt8]
        ) {
            dequeuePrivateLines(before: seq, into: &bytes, separatedFrom: start)
            while let signal = onlineOnly.first, seq.map({ signal.after < $0 }) ?? true {
                onlineOnly.removeFirst()
                // A signal from before the cursor is too late: the client joined after it, or got it already.
                if signal.after >= cursor, signal.audience.includes(owner) {
                    signal.line.append(to: &bytes, withSender: suppressesPresence, separatedFrom: start)
                }
            }
        }
    }

    /// Appends only the private lines, for a connection whose session has ended.
    public mutating func dequeuePrivateLines(into bytes: inout [UInt8]) {
        let start = bytes.count
        entrance?.unsent.dequeueWithoutList(into: &bytes, separatedFrom: start)
        entrance = nil
        dequeuePrivateLines(before: nil, into: &bytes, separatedFrom: start)
        waitingByteCount = 0
    }

    /// Removes the private lines, which belong into the text message of a ``SharedBatch``, behind it.
    public mutating func dequeueLinesBehindBatch(_ body: ([UInt8]) -> Void) {
        while let line = takePrivateLine(before: nil) { body(line.bytes) }
    }

    /// - Parameter seq: of the event before which the lines belong; `nil` for all lines.
    private mutating func dequeuePrivateLines(
        before seq: Seq?, into bytes: inout [UInt8], separatedFrom start: Int
    ) {
        while let line = takePrivateLine(before: seq) {
            EncodedLine.append(line.bytes, to: &bytes, separatedFrom: start)
        }
    }

    private mutating func takePrivateLine(before seq: Seq?) -> PrivateLine? {
        guard let line = privateLines.first, seq.map({ line.after < $0 }) ?? true else { return nil }
        privateLines.removeFirst()
        waitingByteCount -= line.byteCount
        // A deque keeps the memory of its largest size.
        if privateLines.isEmpty, mostPrivateLines > Self.keptLineCount { (privateLines, mostPrivateLines) = ([], 0) }
        return line
    }

    private func receives(_ entry: LogEntry) -> Bool {
        switch entry.kind {
        case .signal: entry.audience.includes(owner)
        case .presence(let subject): !suppressesPresence && subject != owner && entry.seq > recoversThrough
        case .change, .reactions(_, of: nil), .erasure: true
        // A new connection learns from pages what its user has said.
        case .reactions(_, of: let user?): user == self.user && entry.seq > recoversThrough
        // A new connection learns from `connected` what holds.
        case .moderation(let concerned): entry.seq > recoversThrough && isAmong(concerned)
        case .erased: false
        }
    }

    /// Whether an event of moderation is meant for the connection.
    func isAmong(_ concerned: LogEntry.Concerned) -> Bool {
        switch concerned {
        case .moderators: isModerator
        case .user(let user): user == self.user
        case .everyone: true
        case .streamReceivers: getsStreams
        }
    }

    /// Takes the same time for each number of users.
    func isAmong(anyOf concerned: Set<LogEntry.Concerned>) -> Bool {
        isModerator && concerned.contains(.moderators) || getsStreams && concerned.contains(.streamReceivers)
            || user.map { concerned.contains(.user($0)) } ?? false
    }

    /// Moves to the position of another outbox of the same form, after a ``SharedBatch`` was sent.
    mutating func advance(to cursor: Seq, _ absences: ToldAbsences?) {
        self.cursor = cursor
        if absences != nil { self.absences = absences }
    }
}

extension Audience {
    func includes(_ connection: ConnectionID) -> Bool {
        switch self {
        case .everyone: true
        case .only(let target): target == connection
        }
    }
}
