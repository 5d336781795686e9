import SignalingProtocol

/// A kept session in numbers, for operators. Contains no text, type, connection data, name or secret of a client.
public struct SessionSummary: Sendable, Equatable {
    /// A kind of event in the log of a session.
    public enum EventKind: String, Sendable {
        /// A signal to all connections.
        case signal
        /// A signal to one connection.
        case directedSignal
        /// A connection was created or destroyed.
        case presence
        /// It tells how a signal was changed.
        case change
        case reactions
        /// It tells what was erased.
        case erasure
        /// An erased signal.
        case erased
        /// An action of a moderator, or what follows from one.
        case moderation
    }

    /// A session after its last kept command.
    public struct Live: Sendable, Equatable {
        public let epoch: Epoch
        /// The connections that had a socket. The end of a process is not a command, so after a crash they still count
        /// here until the next process continues the session.
        public let attachedCount: Int
        public let detachedCount: Int
        /// The events that clients can still fetch.
        public let eventCount: Int
        public let eventByteCount: Int
        /// Zero before the first event.
        public let lastSeq: Seq
        /// The kinds of the newest events, in their order; at most ``SessionSummary/lastEventLimit``.
        public let lastEvents: [EventKind]
    }

    public enum Content: Sendable, Equatable {
        case live(Live)
        /// The commands end the session, and it is not removed yet.
        case ended
        /// The snapshot or a command cannot be decoded or replayed. A server cannot continue the session.
        case unreadable(CodingFault)
    }

    /// The maximum number of ``Live/lastEvents``.
    public static let lastEventLimit = 8

    public let id: SessionID
    public let content: Content
    /// The commands since the snapshot.
    public let commandCount: Int
    public let commandByteCount: Int
    /// `nil` before the first snapshot.
    public let snapshotByteCount: Int?
    /// The number of the last command.
    public let lastNumber: UInt64

    /// Decodes the snapshot and replays the commands. Takes time in proportion to the session.
    public init(_ kept: KeptCommands.Session) {
        id = kept.id
        commandCount = kept.entries.count
        commandByteCount = kept.entries.reduce(0) { $0 + $1.bytes.count }
        snapshotByteCount = kept.snapshot?.bytes.count
        lastNumber = kept.entries.last?.position.number ?? kept.snapshot?.position.number ?? 0
        do throws(CodingFault) {
            content = try SessionReplay(kept).state.map { .live(Live($0)) } ?? .ended
        } catch {
            content = .unreadable(error)
        }
    }
}

extension SessionSummary.Live {
    fileprivate init(_ state: SessionState) {
        epoch = state.epoch
        detachedCount = state.roster.members.count { $0.isDetached }
        attachedCount = state.connectionCount - detachedCount
        eventCount = state.log.entries.count
        eventByteCount = state.log.byteCount
        lastSeq = state.log.lastSeq
        lastEvents = state.log.entries.suffix(SessionSummary.lastEventLimit).map { SessionSummary.EventKind($0) }
    }
}

extension SessionSummary.EventKind {
    fileprivate init(_ entry: LogEntry) {
        switch (entry.kind, entry.audience) {
        case (.signal, .everyone): self = .signal
        case (.signal, .only): self = .directedSignal
        case (.presence, _): self = .presence
        case (.change, _): self = .change
        case (.reactions, _): self = .reactions
        case (.erasure, _): self = .erasure
        case (.erased, _): self = .erased
        case (.moderation, _): self = .moderation
        }
    }
}
