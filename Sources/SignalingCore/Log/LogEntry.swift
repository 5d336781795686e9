import SignalingProtocol

/// Whom an event is meant for.
public enum Audience: Hashable, Sendable {
    case everyone
    case only(ConnectionID)
}

/// One event of a session, encoded once as the bytes that go to its receivers, however many they are.
public struct LogEntry: Sendable {
    /// What a receiver may have asked not to get.
    public enum Kind: Hashable, Sendable {
        case signal
        /// `connectionCreated`, `connectionDestroyed` of that connection, which does not get its own (PRES-1).
        case presence(of: ConnectionID)
    }

    public let seq: Seq
    public let audience: Audience
    public let kind: Kind
    public let appendedAt: MonotonicInstant
    public let line: EncodedLine

    public init(seq: Seq, audience: Audience, kind: Kind, appendedAt: MonotonicInstant, line: EncodedLine) {
        self.seq = seq
        self.audience = audience
        self.kind = kind
        self.appendedAt = appendedAt
        self.line = line
    }
}
