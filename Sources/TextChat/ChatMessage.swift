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

    /// By the sender's clock: good for showing, not for ordering. Nil only until a component has taken the message.
    public var sentAt: WallTime?

    public var direction: Direction

    public var state: State

    public init(
        text: String, senderID: String? = nil, senderAlias: String? = nil, sentAt: WallTime? = nil,
        localID: LocalID? = nil, direction: Direction = .received, state: State = .sent
    ) {
        self.localID = localID
        self.senderID = senderID
        self.senderAlias = senderAlias
        self.text = text
        self.sentAt = sentAt
        self.direction = direction
        self.state = state
    }

    public enum Direction: String, CaseIterable, Sendable {
        case sent, received
    }

    public enum State: Equatable, Sendable {
        /// Handed to the channel, not acknowledged. Followed by one of the others.
        case sending
        /// In the session's log; always so for what was received.
        case sent
        /// Refused, or lost with the connection. A retry makes it `sending` again; a late echo makes it `sent`.
        case failed(SignalingError)
    }
}

/// The sender's own name for one message, random, unique among the sender's messages.
public struct LocalID: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Longer ones are not taken from others, in bytes: they are kept in memory, and 64 random bits need 16.
    static let longest = 64

    /// 64 random bits in hex.
    public init(using generator: inout some RandomNumberGenerator) {
        let digits = String(generator.next() as UInt64, radix: 16)
        rawValue = String(repeating: "0", count: 16 - digits.count) + digits
    }
}
