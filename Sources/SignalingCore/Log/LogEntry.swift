import SignalingProtocol

/// The receivers of an event.
public enum Audience: Hashable, Sendable {
    case everyone
    case only(ConnectionID)
}

/// One event of a session, encoded once as the bytes that all its receivers get.
public struct LogEntry: Sendable {
    /// The kind of event, which determines its receivers.
    public enum Kind: Hashable, Sendable {
        case signal
        /// `connectionCreated` or `connectionDestroyed` of this connection. It does not get its own events (PRES-1),
        /// and clients that suppress connection events get none.
        case presence(of: ConnectionID)
    }

    public let seq: Seq
    public let audience: Audience
    public let kind: Kind
    /// When the event was appended, for the log's bound in time.
    public let appendedAt: MonotonicInstant
    public let line: EncodedLine

    public init(seq: Seq, audience: Audience, kind: Kind, appendedAt: MonotonicInstant, line: EncodedLine) {
        self.seq = seq
        self.audience = audience
        self.kind = kind
        self.appendedAt = appendedAt
        self.line = line
    }

    /// Whether some members get the event in another way than others, or not at all.
    var isExclusive: Bool {
        if case .signal = kind, case .everyone = audience { false } else { true }
    }
}
