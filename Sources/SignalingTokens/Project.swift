import Crypto
import SignalingProtocol

/// Who owns sessions: an API key with the secrets that sign for it, or an application's id with its public key.
///
/// What signs for a project says by which algorithms it is verified, so no token can choose (RFC 8725 section 3.1).
/// Secrets appear in no description, dump or log.
public struct Project: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let apiKey: APIKey
    let key: Key

    /// What signs for a project.
    enum Key: Sendable {
        /// HMAC: T1 tokens and HS256. At least one; the first signs, each verifies.
        case secrets([SymmetricKey])
        /// RS256, whose private half only the application has.
        case application(RSAPublicKey)
    }

    /// The most secrets that are good at a time: the new one, and the old one until nobody signs with it any more.
    public static let secretLimit = 2

    /// Nil when the API key is not 1 to 64 characters out of `A-Z a-z 0-9 - . _`, so that every id of a session fits its
    /// limit and can be read back, or when the secret is empty: anybody could sign with that.
    public init?(apiKey: APIKey, secret: String) { self.init(apiKey: apiKey, secrets: [secret]) }

    /// A project whose secret is being exchanged: what is made is signed with the first, what is shown may be signed with
    /// any. Nil as with one secret, and unless there are one to ``secretLimit``.
    public init?(apiKey: APIKey, secrets: [String]) {
        guard Self.isKey(apiKey), (1...Self.secretLimit).contains(secrets.count), secrets.allSatisfy({ !$0.isEmpty })
        else { return nil }
        self.apiKey = apiKey
        key = .secrets(secrets.map { SymmetricKey(data: Array($0.utf8)) })
    }

    /// An application (Vonage), whose id stands where a project has its API key. Nil when the id is not a UUID.
    public init?(applicationID: String, publicKey: RSAPublicKey) {
        guard Self.isUUID(applicationID) else { return nil }
        apiKey = APIKey(applicationID)
        key = .application(publicKey)
    }

    /// Whether its ``apiKey`` is an application's id.
    public var isApplication: Bool {
        switch key {
        case .secrets: false
        case .application: true
        }
    }

    /// 1 to 64 characters out of `A-Z a-z 0-9 - . _`.
    public static func isKey(_ apiKey: APIKey) -> Bool {
        let name = apiKey.rawValue.utf8
        return (1...64).contains(name.count) && name.allSatisfy(mayStandInKey)
    }

    /// 32 hex digits in groups of 8, 4, 4, 4 and 12 (RFC 9562).
    public static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Hexadecimal.digit($0) != nil } }
    }

    /// The secret to sign with. Throws `wrongAlgorithm` for an application.
    var signingSecret: SymmetricKey {
        get throws(TokenError) {
            guard case .secrets(let secrets) = key, let first = secrets.first else { throw .wrongAlgorithm }
            return first
        }
    }

    /// All secrets that are good. Throws `wrongAlgorithm` for an application.
    var secrets: [SymmetricKey] {
        get throws(TokenError) {
            guard case .secrets(let secrets) = key else { throw .wrongAlgorithm }
            return secrets
        }
    }

    public var description: String { "project \(apiKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["apiKey": apiKey]) }

    private static func mayStandInKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
