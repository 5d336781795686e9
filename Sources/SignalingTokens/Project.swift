import Crypto
import SignalingProtocol

/// Who owns sessions: an API key, and the secret that signs for it.
///
/// The secret appears in no description, dump or log.
public struct Project: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let apiKey: APIKey
    let secret: SymmetricKey

    /// Nil when the API key is not 1 to 64 characters out of `A-Z a-z 0-9 - . _`, so that every id of a session fits its
    /// limit and can be read back, or when the secret is empty: anybody could sign with that.
    public init?(apiKey: APIKey, secret: String) {
        let name = apiKey.rawValue.utf8
        guard (1...64).contains(name.count), name.allSatisfy(Self.mayStandInKey), !secret.isEmpty else { return nil }
        self.apiKey = apiKey
        self.secret = SymmetricKey(data: Array(secret.utf8))
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
