/// What a user thinks of a message, as its client says it: the user's whole set (CHG-11).
public struct ReactRequest: Hashable, Sendable {
    /// The seq of the message.
    public var ref: Seq
    /// Such as one emoji each. An empty list takes back what the user has said.
    public var keys: [String]

    public init(_ ref: Seq, keys: [String]) {
        self.ref = ref
        self.keys = keys
    }

    /// - Throws: `tooLong` for a key over ``Limits/reactionKeyLength``; `invalidParameter` for one that is empty or has
    ///   characters that cannot be seen, and for more than ``Limits/reactionKeysPerUser`` keys.
    public func validate() throws(SignalingError) {
        for key in keys {
            if key.utf16.count > Limits.reactionKeyLength {
                throw SignalingError(.tooLong, "a key has at most \(Limits.reactionKeyLength) UTF-16 units")
            }
            guard !key.isEmpty, key.unicodeScalars.allSatisfy(\.mayBeInReactionKey) else {
                throw SignalingError(.invalidParameter, "a key must be visible text, such as an emoji")
            }
        }
        if Set(keys.map { Array($0.utf8) }).count > Limits.reactionKeysPerUser {
            throw SignalingError(
                .invalidParameter, "a user has at most \(Limits.reactionKeysPerUser) reactions to a message")
        }
    }
}

extension Unicode.Scalar {
    /// Two keys that look alike must not differ. So of what cannot be seen only the parts of emoji are permitted.
    fileprivate var mayBeInReactionKey: Bool {
        switch properties.generalCategory {
        case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator: false
        case .format: value == 0x200D || (0xE0020...0xE007F).contains(value)
        default: true
        }
    }
}

/// The question who has reacted to a message (CHG-14).
public struct ReactorsRequest: Hashable, Sendable {
    public var ref: Seq
    /// `nil` for all keys.
    public var key: String?

    public init(_ ref: Seq, key: String? = nil) {
        self.ref = ref
        self.key = key
    }
}

/// How many users have chosen a key.
public struct ReactionCount: Hashable, Sendable {
    public var key: String
    public var count: Int

    public init(_ key: String, _ count: Int) {
        self.key = key
        self.count = count
    }
}

/// The reactions to a message since the event with this seq, as the server tells them to every client (CHG-12).
public struct ReactionsEvent: Hashable, Sendable {
    public var seq: Seq
    /// Of the message.
    public var ref: Seq
    /// In the order in which the keys came to the message. None: nobody reacts to it any more.
    public var counts: [ReactionCount]

    public init(seq: Seq, ref: Seq, counts: [ReactionCount]) {
        self.seq = seq
        self.ref = ref
        self.counts = counts
    }
}

/// The keys that the client's own user has chosen for a message.
public struct OwnReactions: Hashable, Sendable {
    public var ref: Seq
    public var keys: [String]

    public init(ref: Seq, keys: [String]) {
        self.ref = ref
        self.keys = keys
    }
}

/// Some of the users who have chosen a key (CHG-14).
public struct Reactors: Hashable, Sendable {
    public var key: String
    /// All of them.
    public var count: Int
    public var users: [UserID]

    public init(key: String, count: Int, users: [UserID]) {
        self.key = key
        self.count = count
        self.users = users
    }
}
