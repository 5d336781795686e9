import SignalingProtocol

/// How many connections may be in sessions at a time.
package struct JoinLimits: Sendable {
    package var perProject: Int
    package var perToken: Int

    package init(perProject: Int = .max, perToken: Int = .max) {
        self.perProject = perProject
        self.perToken = perToken
    }
}

/// Half of the SHA-256 of a token's signed content, so that the server keeps no token.
package struct TokenDigest: Hashable, Sendable {
    package let high: UInt64
    private let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// Counts the connections in sessions by project and by token, and decides whether another may join (CON-3).
///
/// One project's or one token's clients must not take every place of the server.
package struct JoinControl {
    /// For whom a connection counts.
    package struct Key: Hashable, Sendable {
        package let project: APIKey
        package let token: TokenDigest

        package init(project: APIKey, token: TokenDigest) {
            self.project = project
            self.token = token
        }
    }

    /// What has as many connections as it may have.
    package enum Refusal: Equatable, Sendable {
        case project, token
    }

    private let limits: JoinLimits
    private var projects: [APIKey: Int] = [:]
    private var tokens: [TokenDigest: Int] = [:]

    package init(limits: JoinLimits) { self.limits = limits }

    /// Why a client with a verified token may not join; `nil` if it may.
    ///
    /// - Parameter replacesSocket: whether the client asks to resume a connection that has a socket in its session. It
    ///   replaces that socket, so the number of connections does not change.
    package func refusal(of key: Key, replacesSocket: Bool = false) -> Refusal? {
        if replacesSocket { return nil }
        if projects[key.project, default: 0] >= limits.perProject { return .project }
        if tokens[key.token, default: 0] >= limits.perToken { return .token }
        return nil
    }

    /// A connection is in its session.
    ///
    /// - Returns: why it must go: it asked to resume, to pass the first check, but its secret was wrong.
    package mutating func join(_ key: Key, isResumed: Bool) -> Refusal? {
        defer {
            projects[key.project, default: 0] += 1
            tokens[key.token, default: 0] += 1
        }
        return refusal(of: key, replacesSocket: isResumed)
    }

    /// The connection's socket has left.
    package mutating func leave(_ key: Key) {
        Self.decrement(key.project, in: &projects)
        Self.decrement(key.token, in: &tokens)
    }

    private static func decrement<ID: Hashable>(_ id: ID, in counts: inout [ID: Int]) {
        guard let count = counts[id] else { return }
        counts[id] = count > 1 ? count - 1 : nil
    }
}
