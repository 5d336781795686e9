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
    /// The last edit of the content (CHG-8); `nil` if there is none, and for an erased message.
    public var edit: Edit?
    /// The reactions to it (CHG-13); `nil` if there were none, and for an erased message.
    public var reactions: Reactions?

    /// How many users have reacted to a message.
    public struct Reactions: Hashable, Sendable {
        public var counts: [ReactionCount]
        /// Of the event that told them: of two the greater one counts.
        public var seq: Seq

        public init(_ counts: [ReactionCount], seq: Seq) {
            self.counts = counts
            self.seq = seq
        }
    }

    /// An edit of a message.
    public struct Edit: Hashable, Sendable {
        /// The seq of the change: of two forms of a message the one with the greater seq counts.
        public var seq: Seq
        /// When the server accepted it.
        public var time: WallTime

        public init(seq: Seq, time: WallTime) {
            self.seq = seq
            self.time = time
        }
    }

    public init(
        seq: Seq, from: Connection?, time: WallTime, content: Content, edit: Edit? = nil, reactions: Reactions? = nil
    ) {
        self.seq = seq
        self.from = from
        self.time = time
        self.content = content
        self.edit = edit
        self.reactions = reactions
    }
}

/// A part of a session's history, oldest message first (HIS-6), or what has changed in it, the earliest last change first
/// (CHG-9).
public struct HistoryPage: Hashable, Sendable {
    /// The oldest and the newest message of the whole history; `nil` if it is empty.
    public var range: ClosedRange<Seq>?
    /// Whether other messages follow in the direction of the request: earlier ones, or later ones after
    /// ``HistoryRequest/Position/after(_:)``.
    public var more: Bool
    public var messages: [HistoryMessage]
    /// How far the answer to ``HistoryRequest/Position/changedAfter(_:)`` reaches; `nil` for every other page.
    public var changes: Changes?
    /// The reactions of the client's user to the page's messages (CHG-13).
    public var mine: [OwnReactions]

    /// What a list of changed messages says of itself (CHG-9).
    public struct Changes: Hashable, Sendable {
        /// The next request goes on from here.
        public var through: Seq
        /// Whether the server cannot list all changes: load anew what is shown.
        public var isAll: Bool

        public init(through: Seq, isAll: Bool = false) {
            self.through = through
            self.isAll = isAll
        }
    }

    public init(
        range: ClosedRange<Seq>?, more: Bool, messages: [HistoryMessage], changes: Changes? = nil,
        mine: [OwnReactions] = []
    ) {
        self.range = range
        self.more = more
        self.messages = messages
        self.changes = changes
        self.mine = mine
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
