import JSONText
import SignalingProtocol

/// One message of a chat.
public struct ChatMessage: Equatable, Sendable {
    /// The sender's name for the message, sent with it. It identifies an echo or a second delivery. Nil in bare text.
    public var localID: LocalID?

    /// The sender: for a received message the connection ID that the server stamped, whatever its data states. A
    /// message that came by REST has no connection, so its data counts.
    public var senderID: String?

    /// The sender's user, as the server stamped it; nil for a guest, and for a message that came by REST. Messages of one
    /// user's connections have one author (CHAT-4).
    public var senderUser: UserID?

    /// The name that the sender states, or the data of its connection. For the name to show see ``NameBook``.
    public var senderAlias: String?

    /// The data of the sender's connection, by the server's word; nil: unknown, as of a message by REST.
    public var senderData: String?

    /// It came by REST: no connection has sent it, but the project's backend.
    public var isFromServer = false

    public var text: String

    /// When it was sent, by the sender's clock. For display, not for ordering. Nil only until the message is in a
    /// timeline.
    public var sentAt: WallTime?

    /// When it arrived in this program or was written in it, by this program's clock; for a message of the history, when
    /// the server accepted it. Nil only until the message is in a timeline.
    public var receivedAt: WallTime?

    /// Its number in the session's order; nil while it has none, or if the channel reports none.
    public var seq: Seq?

    public var direction: Direction

    public var state: State

    /// The number of the last typing signal that its sender had written by then (TYP-5). Nil: unknown.
    public var typingN: Int64?

    /// The seq of the earlier message that it answers (CHAT-12).
    public var replyTo: Seq?

    /// Its author or a moderator has deleted it (HIS-9, CHG-6). Its text says so, and its content is gone.
    public private(set) var isErased = false

    /// When it was edited last, by the server's clock, or by this program's if the edit arrived as an event (CHAT-13).
    public var editedAt: WallTime?

    /// The seq of the last edit: of two forms of a message the greater one counts (CHG-8).
    public internal(set) var version: Seq?

    /// The reactions to it, in the order in which they have come (CHAT-15). An edit keeps them.
    public var reactions: [ChatReaction] { known.shown }

    /// What is known of the reactions.
    var known = KnownReactions()

    /// Which connection has sent it, and how: an edit keeps that.
    var stamp = Stamp()

    /// What the sender's program has added (CHAT-11). It is not shown, and an edit keeps it.
    var data: JSONValue?

    public init(
        text: String, senderID: String? = nil, senderUser: UserID? = nil, senderAlias: String? = nil,
        sentAt: WallTime? = nil, receivedAt: WallTime? = nil, localID: LocalID? = nil, seq: Seq? = nil,
        direction: Direction = .received, state: State = .sent, typingN: Int64? = nil, replyTo: Seq? = nil
    ) {
        self.localID = localID
        self.senderID = senderID
        self.senderUser = senderUser
        self.senderAlias = senderAlias
        self.text = text
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.seq = seq
        self.direction = direction
        self.state = state
        self.typingN = typingN
        self.replyTo = replyTo
    }

    /// How a message has come into the session.
    struct Stamp: Equatable, Sendable {
        /// Nil: unknown, as of a message by REST.
        var connection: ConnectionID?
        var form = ChatWireForm.json
    }

    public enum Direction: String, CaseIterable, Sendable {
        case sent, received
    }

    public enum State: Equatable, Sendable {
        /// Queued, or given to the channel and not acknowledged. Another state follows.
        case sending
        /// In the session's log. Received messages are always in this state.
        case sent
        /// A retry makes it `sending` again, a late echo makes it `sent`, and discarding removes it.
        case failed(Failure)
    }

    /// Why a message failed.
    public enum Failure: Hashable, Sendable {
        /// The channel's error. After a lost connection the message may have arrived all the same.
        case error(SignalingError)
        /// The program ended before the outcome was known.
        case interrupted
        /// The outbox could not be stored, so the message was not sent: after a crash it could be sent twice.
        case notSaved
        /// The program cancelled it before it left: no other client has it. It holds back no other message.
        case cancelled
    }

    /// Who wrote it: a user, or a connection without one. Nil: unknown (CHAT-4).
    public var author: ChatAuthor? { senderUser.map { .user($0) } ?? senderID.map { .connection($0) } }

    /// Whether it is the user's own and, as far as is known, not in the session's log.
    var isPending: Bool { direction == .sent && state != .sent }

    /// The server has stamped it with this connection; nil: it came by REST.
    mutating func note(stamp connection: Connection?, _ form: ChatWireForm) {
        senderData = connection?.data
        isFromServer = connection == nil
        stamp = Stamp(connection: connection?.connectionId, form: form)
    }

    /// Takes what an edit replaces (CHAT-13). The author, the dates and the place in the order stay.
    mutating func take(_ edition: ChatMessage) {
        text = edition.text
        senderAlias = edition.senderAlias
        replyTo = edition.replyTo
        data = edition.data
        version = edition.version
        editedAt = edition.editedAt
    }

    /// Keeps its sender, its dates and its names in the order, and nothing that the sender wrote.
    mutating func erase() {
        isErased = true
        text = Self.erasedText
        senderAlias = nil
        typingN = nil
        replyTo = nil
        data = nil
        version = nil
        editedAt = nil
        known = KnownReactions()
    }

    /// The text of an erased message.
    public static let erasedText = "This message was deleted."

    var hasFailed: Bool { if case .failed = state { true } else { false } }
}

/// The author of a message (CHAT-4). A guest whose connection has the text of a user ID is another author.
public enum ChatAuthor: Hashable, Sendable {
    case user(UserID)
    case connection(String)
}
