import SignalingProtocol

/// One line of chat.
public struct ChatMessage: Equatable, Sendable {
    /// Made by the sender and sent along, so that an echo or a second delivery is known again. Nil in bare text.
    public var localID: LocalID?

    /// Who wrote it. For a received message the connection id that the server stamped, whatever its data says; only a
    /// message that came by REST, which has no connection, goes by its data.
    public var senderID: String?

    /// The name to show. Whatever the sender says it is.
    public var senderAlias: String?

    public var text: String

    /// By the sender's clock: good for showing, not for ordering. Nil only until a timeline has taken the message.
    public var sentAt: WallTime?

    /// When it came to this program, or was written in it, by this program's clock. Nil only until a timeline has taken
    /// the message.
    public var receivedAt: WallTime?

    /// Its place in the session's order; nil while it has none, or where the channel tells none.
    public var seq: Seq?

    public var direction: Direction

    public var state: State

    /// The number of the last typing signal that its sender had written by then (TYP-5). Nil: not said.
    public var typingN: Int64?

    public init(
        text: String, senderID: String? = nil, senderAlias: String? = nil, sentAt: WallTime? = nil,
        receivedAt: WallTime? = nil, localID: LocalID? = nil, seq: Seq? = nil, direction: Direction = .received,
        state: State = .sent, typingN: Int64? = nil
    ) {
        self.localID = localID
        self.senderID = senderID
        self.senderAlias = senderAlias
        self.text = text
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.seq = seq
        self.direction = direction
        self.state = state
        self.typingN = typingN
    }

    public enum Direction: String, CaseIterable, Sendable {
        case sent, received
    }

    public enum State: Equatable, Sendable {
        /// Waiting for its turn, or handed to the channel and not acknowledged. Followed by one of the others.
        case sending
        /// In the session's log; always so for what was received.
        case sent
        /// A retry makes it `sending` again, a late echo makes it `sent`, discarding takes it away.
        case failed(Failure)
    }

    /// Why a message is not known to have arrived.
    public enum Failure: Hashable, Sendable {
        /// The channel said so. After a lost connection it may have arrived all the same.
        case error(SignalingError)
        /// The program ended before it was known.
        case interrupted
    }

    /// One's own and not in the session's log, as far as is known.
    var isPending: Bool { direction == .sent && state != .sent }

    var hasFailed: Bool { if case .failed = state { true } else { false } }
}
