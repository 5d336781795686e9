import SignalingProtocol

/// When a connection ends because its token has expired (TOK-9): one value, which a newer token replaces.
public struct TokenExpiry: Hashable, Sendable {
    /// What the server does when the token of a connection expires.
    public enum Policy: String, CaseIterable, Sendable {
        /// The connection continues, as OpenTok documents it. The token mattered when the client connected.
        case keep
        /// The connection ends with ``CloseReason/tokenExpired``, and cannot be resumed with that token.
        case end

        /// Whether a client that resumes a connection may present an expired token (RES-7).
        public var admitsExpiredToken: Bool {
            switch self {
            case .keep: true
            case .end: false
            }
        }
    }

    /// When the connection ends; `nil` if it outlives its token.
    public let deadline: MonotonicInstant?

    /// A connection without an end.
    public static let none = TokenExpiry(deadline: nil)

    init(deadline: MonotonicInstant?) { self.deadline = deadline }

    /// Counts the rest of the token's life once, from now on. A later step of the wall clock does not move the end.
    ///
    /// - Parameters:
    ///   - validUntil: the first moment at which the server would refuse the token, the tolerance between clocks
    ///     included.
    ///   - wallTime: the date of `now`.
    public init(_ policy: Policy, validUntil: WallTime, wallTime: WallTime, now: MonotonicInstant) {
        switch policy {
        case .keep: self = .none
        case .end:
            let (rest, overflow) = validUntil.milliseconds.subtractingReportingOverflow(wallTime.milliseconds)
            self.init(deadline: overflow ? nil : now.advanced(by: .milliseconds(max(0, rest))))
        }
    }

    /// Whichever ends later.
    func later(_ other: TokenExpiry) -> TokenExpiry {
        guard let deadline, let otherDeadline = other.deadline else { return .none }
        return TokenExpiry(deadline: max(deadline, otherDeadline))
    }

    func isOver(at now: MonotonicInstant) -> Bool { deadline.map { now >= $0 } ?? false }
}
