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
        /// Everybody learns how this signal has changed (CHG-2). An erasure of the signal covers it, too.
        case change(of: Seq)
        /// How many users react to this signal, for everybody; or what this user thinks of it, for the user's connections
        /// (CHG-12). An erasure of the signal covers it, too.
        case reactions(to: Seq, of: UserID?)
        /// Everybody learns which signals were erased (HIS-9). No later erasure covers it.
        case erasure
        /// An action of a moderator, or what follows from one, for those whom it concerns (MOD-5, MOD-6). Clients that
        /// suppress connection events get it, too. So is an event of streams, for those who asked for them (STR-2).
        case moderation(for: Concerned)
        /// A signal, a change, or reactions whose content was erased (HIS-9), or the place of what only the feed tells
        /// (FEED-6). Nobody gets it.
        case erased
    }

    /// Whom an event of moderation is meant for.
    public enum Concerned: Hashable, Sendable {
        case moderators
        /// All connections of this user.
        case user(UserID)
        case everyone
        /// The connections that asked for streams (STR-2).
        case streamReceivers
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

    /// The event without its content.
    var erased: LogEntry {
        LogEntry(seq: seq, audience: .everyone, kind: .erased, appendedAt: appendedAt, line: EncodedLine.nothing)
    }

    /// Whether some members get the event in another way than others, or not at all.
    var isExclusive: Bool {
        switch (kind, audience) {
        case (.signal, .everyone), (.change, _), (.reactions(_, of: nil), _), (.erasure, _), (.erased, _),
            (.moderation(for: .everyone), _):
            false
        case (.signal, .only), (.presence, _), (.reactions, _), (.moderation(for: .moderators), _),
            (.moderation(for: .user), _),
            (.moderation(for: .streamReceivers), _):
            true
        }
    }
}
