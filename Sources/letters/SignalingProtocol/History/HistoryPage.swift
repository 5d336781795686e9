import JSONText

/// A signal that a session's history keeps, or what is left of it.
public struct HistoryMessage: Hashable, Sendable {
    /// What the message says.
    public enum Content: Hashable, Sendable {
        /// - Parameter isJSON: whether `data` is the JSON text of a value other than a string (SIG-13).
        case signal(type: String?, data: String?, isJSON: Bool)
        /// A moderator or REST has erased it (HIS-9).
        case erased
    }

    /// Names the message for as long as its history lasts (HIS-3).
    public var seq: Seq
    /// The sender, stamped by the server (G8); `nil` for a signal by REST.
    public var from: Connection?
    /// When the server accepted the signal.
    public var time: WallTime
    public var content: Content

    public init(seq: Seq, from: Connection?, time: WallTime, content: Content) {
        self.seq = seq
        self.from = from
        self.time = time
        self.content = content
    }
}

/// A part of a session's history, oldest message first (HIS-6).
public struct HistoryPage: Hashable, Sendable {
    /// The oldest and the newest message of the whole history; `nil` if it is empty.
    public var range: ClosedRange<Seq>?
    /// Whether other messages follow in the direction of the request: earlier ones, or later ones after
    /// ``HistoryRequest/Position/after(_:)``.
    public var more: Bool
    public var messages: [HistoryMessage]

    public init(range: ClosedRange<Seq>?, more: Bool, messages: [HistoryMessage]) {
        self.range = range
        self.more = more
        self.messages = messages
    }
}

/// The answer to a request for history.
public enum HistoryAnswer: Hashable, Sendable {
    case page(HistoryPage)
    /// The page that a connect asked for cannot be read (HIS-5). The connection continues.
    case unreadable(SignalingError)
}

/// Which messages were erased from a session's history (HIS-9).
public enum Erasure: Hashable, Sendable {
    case message(Seq)
    /// All messages up to this one.
    case through(Seq)
    /// All messages of a user that come before the erasure.
    case user(UserID)

    /// Whether the erasure concerns an earlier message.
    ///
    /// - Parameter user: of the message's sender.
    public func covers(_ seq: Seq, of user: @autoclosure () -> UserID?) -> Bool {
        switch self {
        case .message(let erased): seq == erased
        case .through(let last): seq <= last
        case .user(let erased): user() == erased
        }
    }
}
