import SignalingProtocol

/// By what a token can be revoked (TOK-10). The server keeps it for each socket, as long as the token counts.
public struct TokenOrigin: Hashable, Sendable {
    /// The time of issue, in whole seconds since 1970; 0 for a token that does not state it.
    public let issuedSeconds: Int64
    public let user: UserID?
    /// The claim `jti` of a JWT; `nil` without one that is a string of at most ``Revocation/tokenIDLength`` units.
    public let tokenID: String?

    /// - Parameter tokenID: any text.
    public init(issuedAt: WallTime?, user: UserID?, tokenID: String?) {
        issuedSeconds = issuedAt?.wholeSeconds ?? 0
        self.user = user
        self.tokenID = tokenID.flatMap { Revocation.isTokenID($0) ? $0 : nil }
    }
}
