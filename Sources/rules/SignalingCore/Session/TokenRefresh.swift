import SignalingProtocol

/// A token that a connected client shows in the place of the one with which it connected (CON-12).
public struct TokenRefresh: Hashable, Sendable {
    public let apiKey: APIKey
    public let session: SessionID
    public let token: String

    public init(apiKey: APIKey, session: SessionID, token: String) {
        self.apiKey = apiKey
        self.session = session
        self.token = token
    }
}

/// What a verified token says about a connection.
public struct TokenClaims: Hashable, Sendable {
    public let role: Role
    public let data: String
    public let user: UserID?
    public let expiry: TokenExpiry
    /// Recognizes the token; `nil` if it is not known.
    public let token: TokenFingerprint?

    public init(
        role: Role, data: String, user: UserID? = nil, expiry: TokenExpiry, token: TokenFingerprint? = nil
    ) {
        self.role = role
        self.data = data
        self.user = user
        self.expiry = expiry
        self.token = token
    }
}

extension SessionState {
    /// Accepts a newer token, which must have the role, the connection data and the user of the connection. A ban of the
    /// connection concerns the token from then on (MOD-3).
    mutating func refreshToken(
        _ binding: SocketBinding, _ claims: TokenClaims, _ now: MonotonicInstant
    ) -> SessionOutcome {
        guard isAttached(binding), let ticket = roster[binding.connectionId]?.ticket else {
            return .refused(.notInSession)
        }
        guard claims.role == ticket.role, claims.data == ticket.data, claims.user == ticket.user else {
            return .refused(
                SignalingError(
                    .authenticationError,
                    "the token is refused: it has another role, connection data or user; the old token stays valid"))
        }
        if rules >= .newerTokens {
            if let ban = restrictions.ban(of: claims.user, claims.token.map { [$0] } ?? [], at: now) {
                return .refused(SignalingError(.userBanned, because: ban, now))
            }
            roster.note(claims.token, of: binding.connectionId)
        }
        return .refreshed(claims.expiry)
    }
}
