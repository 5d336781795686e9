/// Why a session id, a token or a request's credentials are refused, or cannot be made.
///
/// The description is one sentence that is safe to show to the one who is refused: it holds nothing of the token.
public struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: String {
        case missing = "there are none"
        case malformed = "it is malformed"
        case tooLong = "it is too long"
        case wrongAlgorithm = "its algorithm is not accepted"
        case wrongSignature = "its signature is wrong"
        case expired = "it has expired"
        case notYetValid = "it is not valid yet"
        case otherProject = "it belongs to another project"
        case otherSession = "it belongs to another session"
        case wrongPurpose = "it is meant for something else"
        case unknownRole = "its role is unknown"
        case connectionDataTooLong = "its connection data is too long"
        case lifetimeOutOfRange = "its lifetime is out of range"
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    /// The reason as the end of a sentence: "the token is refused: …".
    public var description: String { code.rawValue }

    /// A request without credentials.
    public static let missing = TokenError(.missing)
    /// It cannot be read, or lacks a field that it must have, or has one of the wrong kind.
    public static let malformed = TokenError(.malformed)
    /// Over `Limits.tokenByteCount` or `Limits.sessionIDByteCount`.
    public static let tooLong = TokenError(.tooLong)
    /// Another algorithm than the project's (HS256 and T1 with a secret, RS256 for an application), `none` among them, or a
    /// JWT that demands what we do not know (`crit`).
    public static let wrongAlgorithm = TokenError(.wrongAlgorithm)
    /// Not signed with a secret of the project, or not with the application's key.
    public static let wrongSignature = TokenError(.wrongSignature)
    /// Past its expiry by more than the clocks may differ.
    public static let expired = TokenError(.expired)
    /// Issued in the future by more than the clocks may differ.
    public static let notYetValid = TokenError(.notYetValid)
    /// It names an API key that is not the expected one.
    public static let otherProject = TokenError(.otherProject)
    /// It opens another session.
    public static let otherSession = TokenError(.otherSession)
    /// A client's token shown as a backend's credentials, or the other way round, or another scope.
    public static let wrongPurpose = TokenError(.wrongPurpose)
    /// Not one of the four roles.
    public static let unknownRole = TokenError(.unknownRole)
    /// Over `Limits.connectionDataLength` when read, over `Limits.connectionDataIssued` when made.
    public static let connectionDataTooLong = TokenError(.connectionDataTooLong)
    /// Only when made: not above zero, or over ``TokenLifetime/longest``.
    public static let lifetimeOutOfRange = TokenError(.lifetimeOutOfRange)
}
