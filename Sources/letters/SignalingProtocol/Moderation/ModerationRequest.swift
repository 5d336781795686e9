/// An action of a moderator or of REST (MOD-1).
public enum ModerationRequest: Hashable, Sendable {
    case mute(Subject, Terms = .untilLifted)
    case unmute(Lifted)
    /// - Parameter erasesMessages: whether the user's messages are erased from the history, too.
    case ban(Subject, Terms = .untilLifted, erasesMessages: Bool = false)
    case unban(Lifted)
    case freeze(Terms = .untilLifted)
    case unfreeze

    /// Whom a restriction is to concern.
    public enum Subject: Hashable, Sendable {
        case user(UserID)
        /// The user of this connection; for a guest all connections with the guest's token.
        case connection(ConnectionID)
    }

    /// Which restriction ends.
    public enum Lifted: Hashable, Sendable {
        case user(UserID)
        /// The restriction that the action with this seq began.
        case ref(Seq)
    }

    /// How long a restriction holds, and why.
    public struct Terms: Hashable, Sendable {
        /// 1 to ``Limits/restrictionSeconds``; `nil` until it is lifted.
        public var seconds: Int?
        /// A text for the user concerned, of at most ``Limits/reasonLength`` UTF-16 units.
        public var reason: String?

        public init(seconds: Int? = nil, reason: String? = nil) {
            self.seconds = seconds
            self.reason = reason
        }

        /// Why no server accepts the terms.
        var fault: String? {
            if let seconds, !(1...Limits.restrictionSeconds).contains(seconds) {
                return "\"seconds\" must be from 1 to \(Limits.restrictionSeconds)"
            }
            if let reason, reason.utf16.count > Limits.reasonLength {
                return "\"reason\" is longer than \(Limits.reasonLength) UTF-16 units"
            }
            return nil
        }

        /// Without an end of its own, and without a reason.
        public static var untilLifted: Terms { Terms() }
    }
}

extension ModerationRequest {
    /// Checks the request as the server does, so that a malformed one is not sent (WIRE-9).
    ///
    /// - Throws: `invalidParameter`; `notFound` for a connection that no server can have named.
    public func validate() throws(SignalingError) {
        switch self {
        case .mute(let subject, let terms), .ban(let subject, let terms, _):
            switch subject {
            case .user(let user): try user.validate()
            case .connection(let connection):
                if connection.rawValue.utf8.count > Limits.connectionIDByteCount {
                    throw SignalingError(.notFound, "no connection has an ID of that length")
                }
            }
            try terms.validate()
        case .unmute(.user(let user)), .unban(.user(let user)): try user.validate()
        case .unmute(.ref), .unban(.ref), .unfreeze: break
        case .freeze(let terms): try terms.validate()
        }
    }
}

extension ModerationRequest.Terms {
    fileprivate func validate() throws(SignalingError) {
        if let fault { throw SignalingError(.invalidParameter, fault) }
    }
}

/// An action as moderators are told of it (MOD-6).
public struct ModerationEvent: Hashable, Sendable {
    /// Without ``ModerationRequest/Terms/seconds``: ``until`` is in its place.
    public var action: ModerationRequest
    /// When the restriction ends by itself; `nil` if it holds until it is lifted, and if the action lifts one.
    public var until: WallTime?
    /// `nil` for REST.
    public var by: Moderator?

    public init(action: ModerationRequest, until: WallTime?, by: Moderator?) {
        self.action = action
        self.until = until
        self.by = by
    }
}
