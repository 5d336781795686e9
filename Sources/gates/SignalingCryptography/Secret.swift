import COpenSSL

/// A secret that two parties share, such as a project's: it makes and verifies codes by HMAC (RFC 2104).
///
/// Its bytes appear in no description or dump.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let bytes: [UInt8]
    private let sha1: HMACKey
    private let sha256: HMACKey

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        sha1 = HMACKey(bytes, .sha1)
        sha256 = HMACKey(bytes, .sha256)
    }

    package func code(_ hash: HashFunction, of message: [UInt8]) -> [UInt8] {
        switch hash {
        case .sha1: sha1.code(of: message)
        case .sha256: sha256.code(of: message)
        }
    }

    /// Whether the code is this secret's for the message, in a time that does not depend on the first wrong byte.
    package func verifies(_ code: [UInt8], _ hash: HashFunction, of message: [UInt8]) -> Bool {
        Self.areEqual(code, self.code(hash, of: message))
    }

    package static func == (left: Secret, right: Secret) -> Bool { left.equals(right.bytes) }

    /// Whether the bytes are the secret. Compares digests in constant time, so that timing reveals neither the index of a
    /// difference nor the secret's length.
    package func equals(_ bytes: [UInt8]) -> Bool {
        Self.areEqual(HashFunction.sha256.digest(of: self.bytes), HashFunction.sha256.digest(of: bytes))
    }

    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    package var description: String { "secret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
