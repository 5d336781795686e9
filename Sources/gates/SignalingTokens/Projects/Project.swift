import SignalingCryptography
import SignalingProtocol

/// The owner of sessions: an API key with its secrets, or an application's ID with its public key.
///
/// The kind of key decides which algorithms verify a token, so no token can choose one (RFC 8725 section 3.1; TOK-8).
/// Secrets appear in no description, dump or log.
public struct Project: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let apiKey: APIKey
    let key: Key
    /// Where tokens that name no user have their user (USR-1). Default: `nil`, nowhere.
    public var userSource: UserSource?
    /// What the settings revoke (TOK-10). Default: nothing.
    public var revoked = Revocations()

    /// The keys of a project.
    enum Key: Sendable, Equatable {
        /// For HMAC: T1 tokens and HS256. At least one; the first signs, and each verifies.
        case secrets([Secret])
        /// For RS256. Only the application has the private key.
        case application(RSAPublicKey)
    }

    /// The maximum number of secrets at a time: the new one, and the old one until no backend signs with it any more.
    public static let secretLimit = 2

    /// Returns `nil` for an API key that ``isKey(_:)`` rejects, and for an empty or blank secret, with which any client
    /// could sign.
    public init?(apiKey: APIKey, secret: String) { self.init(apiKey: apiKey, secrets: [secret]) }

    /// A project whose secret is being changed: the first secret signs, and each of them verifies (TOK-8).
    ///
    /// Returns `nil` for the same reasons as with one secret, and unless there are 1 to ``secretLimit`` secrets.
    public init?(apiKey: APIKey, secrets: [String]) {
        guard Self.isKey(apiKey), (1...Self.secretLimit).contains(secrets.count),
            secrets.allSatisfy({ $0.contains { !$0.isWhitespace } })
        else { return nil }
        self.apiKey = apiKey
        key = .secrets(secrets.map { Secret(Array($0.utf8)) })
    }

    /// A Vonage application. Its ID is used as the API key. Returns `nil` when the ID is not a UUID.
    public init?(applicationID: String, publicKey: RSAPublicKey) {
        guard Self.isUUID(applicationID) else { return nil }
        apiKey = APIKey(applicationID)
        key = .application(publicKey)
    }

    /// Whether ``apiKey`` is an application's ID.
    public var isApplication: Bool {
        switch key {
        case .secrets: false
        case .application: true
        }
    }

    /// Whether an API key is 1 to 64 characters out of `A-Z a-z 0-9 - . _`. Session IDs of such a key fit their limit
    /// and can be read back.
    public static func isKey(_ apiKey: APIKey) -> Bool {
        let name = apiKey.rawValue.utf8
        return (1...64).contains(name.count) && name.allSatisfy(isKeyCharacter)
    }

    /// Whether the text is 32 hex digits in groups of 8, 4, 4, 4 and 12 (RFC 9562).
    public static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Hexadecimal.digit($0) != nil } }
    }

    /// The secret that signs. Throws `wrongAlgorithm` for an application.
    var signingSecret: Secret {
        get throws(TokenError) {
            guard case .secrets(let secrets) = key, let first = secrets.first else { throw .wrongAlgorithm }
            return first
        }
    }

    /// The secrets that verify. Throws `wrongAlgorithm` for an application.
    var secrets: [Secret] {
        get throws(TokenError) {
            guard case .secrets(let secrets) = key else { throw .wrongAlgorithm }
            return secrets
        }
    }

    public var description: String { "project \(apiKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["apiKey": apiKey]) }

    private static func isKeyCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
