import SignalingProtocol

/// How a chat gets and keeps its connection, as rules without a session: when it tries again by itself, when it stops,
/// and what its user reads meanwhile.
///
/// The session itself reconnects after the loss of a socket. This plan begins where the session gives up.
struct ConnectPlan: Equatable {
    enum Step: Equatable {
        case tryAgain(after: Duration)
        /// Only the user can change something.
        case stop
    }

    private static let longest = Duration.seconds(30)

    var status = ChatStatus.connecting
    private var failureCount = 0

    mutating func begin() { status = failureCount == 0 ? .connecting : status }

    mutating func connected() {
        status = .connected
        failureCount = 0
    }

    mutating func reconnecting() { status = .reconnecting }

    /// The connect has failed, or the program could not get a token.
    ///
    /// - Parameter error: nil for an error of the program.
    mutating func failed(_ error: SignalingError?) -> Step {
        switch error?.code {
        case .authenticationError?:
            // The protocol has one code for all refused tokens.
            return stop(error?.message.contains("expired") == true ? .expired : .refused)
        case .invalidParameter?: return stop(.refused)
        case .invalidSession?: return stop(.wrongChat)
        case .userBanned?: return stop(.banned)
        case .connectionLimitExceeded?: return again(.full)
        // Later versions of the server may have other codes.
        default: return again(.unreachable)
        }
    }

    /// The connection has ended.
    ///
    /// - Parameter isBanned: a ban has ended it, so that a connect would be refused.
    mutating func ended(_ reason: DisconnectReason, isBanned: Bool = false) -> Step {
        if isBanned { return stop(.banned) }
        switch reason {
        case .forceDisconnected: return stop(.removed)
        case .clientDisconnected: return stop(.left)
        case .networkDisconnected: return again(.unreachable)
        }
    }

    private mutating func stop(_ status: ChatStatus) -> Step {
        self.status = status
        return .stop
    }

    private mutating func again(_ status: ChatStatus) -> Step {
        self.status = status
        failureCount += 1
        return .tryAgain(after: min(Self.longest, .seconds(1 << min(failureCount - 1, 10))))
    }
}

/// The state of a chat's connection, for its user.
public enum ChatStatus: String, CaseIterable, Sendable {
    case connecting, connected
    /// The socket is lost; the session is not.
    case reconnecting
    /// The chat tries again by itself.
    case unreachable, full
    /// The chat has stopped.
    case refused, expired, wrongChat, removed, banned, left

    /// Whether the user can do something about it with ``ChatModel/tryAgain()``. A ban may have been lifted, and a new
    /// token may be valid.
    public var offersRetry: Bool {
        switch self {
        case .unreachable, .full, .refused, .expired, .wrongChat, .banned: true
        case .connecting, .connected, .reconnecting, .removed, .left: false
        }
    }

    /// The text for it; nil: there is nothing to say.
    public var word: ChatWord? {
        switch self {
        case .connected, .left: nil
        case .connecting: .connecting
        case .reconnecting: .reconnecting
        case .unreachable: .unreachable
        case .full: .full
        case .refused: .refused
        case .expired: .expired
        case .wrongChat: .wrongChat
        case .removed: .removed
        case .banned: .banned
        }
    }
}

extension ChatWords {
    /// The sentence about the connection; nil: there is nothing to say.
    ///
    /// - Parameter server: the server's name for the user, such as its host.
    public func sentence(of status: ChatStatus, server: String) -> String? {
        guard let word = status.word else { return nil }
        let sentence = self(word, ["server": .name(server)])
        switch status {
        case .unreachable, .full: return self(.comesBack, ["sentence": .text(sentence)])
        case .connecting, .connected, .reconnecting, .refused, .expired, .wrongChat, .removed, .banned, .left:
            return sentence
        }
    }
}
