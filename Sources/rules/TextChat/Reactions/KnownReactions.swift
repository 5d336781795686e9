import SignalingProtocol

/// A reaction to a message, as it is shown (CHAT-15).
public struct ChatReaction: Hashable, Sendable {
    public let key: String
    /// How many users have chosen it.
    public let count: Int
    /// The user is one of them.
    public let isMine: Bool

    public init(key: String, count: Int, isMine: Bool) {
        self.key = key
        self.count = count
        self.isMine = isMine
    }
}

/// What a chat knows of the reactions to a message. The counts of the server and the user's own set are kept apart: the
/// server tells a count up to a second after the user has it right.
struct KnownReactions: Equatable, Sendable {
    private var counts: [ReactionCount] = []
    /// Of the event that told the counts.
    private var seq = Seq(0)
    var own: [String] = []

    init() {}

    init(_ told: HistoryMessage.Reactions?, own: [String]) {
        if let told { tell(told.counts, seq) }
        self.own = own
    }

    /// Of two counts the later one holds.
    mutating func tell(_ counts: [ReactionCount], _ seq: Seq) {
        if seq > self.seq { (self.counts, self.seq) = (counts, seq) }
    }

    /// Takes a page's word.
    ///
    /// - Parameter known: up to this seq the page knows all reactions: one without any then has none.
    mutating func take(_ page: KnownReactions, of known: Seq) {
        own = page.own
        if page.seq > seq || seq <= known { (counts, seq) = (page.counts, page.seq) }
    }

    var shown: [ChatReaction] {
        let told = counts.map { each in
            ChatReaction(key: each.key, count: each.count, isMine: own.contains { $0.isSameKey(as: each.key) })
        }
        let untold = own.filter { key in !counts.contains { $0.key.isSameKey(as: key) } }
        return told + untold.map { ChatReaction(key: $0, count: 1, isMine: true) }
    }
}

extension String {
    /// The server compares bytes (CHG-11).
    func isSameKey(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
