import SignalingProtocol

/// Why a session ID, a token or a request's credentials are refused, or cannot be made.
///
/// The description is the end of a sentence ("the token is refused: …"). It is safe to show to the client that was
/// refused: it contains nothing of the token.
public struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: String {
        case missing = "the request has none; send X-OPENTOK-AUTH or Authorization"
        case malformed = "it is malformed"
        case tooLong = "it is too long"
        case undated = "it states neither its expiry (exp, expire_time) nor its time of issue (iat, create_time)"
        case wrongAlgorithm = "the project does not accept its algorithm"
        case wrongSignature = "it was signed with another secret or key"
        case expired = "it has expired"
        case notYetValid = "it is not valid yet; the clock of its issuer may be ahead"
        case otherProject = "it belongs to another project"
        case otherSession = "it belongs to another session"
        case wrongPurpose = "it is for another purpose; clients need session tokens, and REST requests need credentials"
        case unknownRole = "its role is unknown; use subscriber, publisher, moderator or publisheronly"
        case connectionDataTooLong = "its connection data is too long; use at most 1000 UTF-16 units"
        case userNotValid = "its user is not valid; use 1 to 128 UTF-16 units without control characters"
        case revoked = "it was revoked; get a newer one"
        case lifetimeOutOfRange = "its lifetime is not between 1 second and 30 days"
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    public var description: String { code.rawValue }

    /// The request has no credentials.
    public static let missing = TokenError(.missing)
    /// It cannot be read, lacks a required field, or has a field of the wrong type.
    public static let malformed = TokenError(.malformed)
    /// It exceeds `Limits.tokenByteCount` or `Limits.sessionIDByteCount`.
    public static let tooLong = TokenError(.tooLong)
    /// It states neither an expiry nor a time of issue to count one from (TOK-2, TOK-3, TOK-7).
    public static let undated = TokenError(.undated)
    /// Its algorithm is not the project's (T1 and HS256 with a secret, RS256 for an application; TOK-8). Also for
    /// `none`, and for a JWT with the header `crit`, whose extensions this package does not know.
    public static let wrongAlgorithm = TokenError(.wrongAlgorithm)
    /// It was not signed with a secret of the project, or not with the application's key.
    public static let wrongSignature = TokenError(.wrongSignature)
    /// Its expiry is past by ``TokenLifetime/clockSkew`` or more.
    public static let expired = TokenError(.expired)
    /// It was issued in the future, by more than ``TokenLifetime/clockSkew``.
    public static let notYetValid = TokenError(.notYetValid)
    /// It names another API key than expected.
    public static let otherProject = TokenError(.otherProject)
    /// It names another session than expected (TOK-5).
    public static let otherSession = TokenError(.otherSession)
    /// A client's token in place of a backend's credentials, or the reverse, or another scope.
    public static let wrongPurpose = TokenError(.wrongPurpose)
    /// It names none of the four roles (TOK-4).
    public static let unknownRole = TokenError(.unknownRole)
    /// Over `Limits.connectionDataLength` when read, over `Limits.connectionDataIssued` when made.
    public static let connectionDataTooLong = TokenError(.connectionDataTooLong)
    /// Its user is not a user ID (USR-1).
    public static let userNotValid = TokenError(.userNotValid)
    /// The project has revoked it (TOK-10).
    public static let revoked = TokenError(.revoked)
    /// Only when made: under one second, or over ``TokenLifetime/longest``.
    public static let lifetimeOutOfRange = TokenError(.lifetimeOutOfRange)
}
