import COpenSSL

/// The hash functions of tokens, secrets and webhooks (FIPS 180-4). Each call may come from any thread.
package enum HashFunction: Sendable {
    /// Only for HMAC of T1 tokens, whose format requires it. Its collisions do not help against HMAC (RFC 6151 argues
    /// the same for MD5).
    case sha1
    case sha256

    package func digest(of bytes: [UInt8]) -> [UInt8] {
        output { output, count in EVP_Digest(bytes, bytes.count, output, &count, algorithm, nil) == 1 }
    }

    /// OpenSSL's name of it.
    var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        }
    }

    /// `EVP_sha256()` only stands for a name, which OpenSSL looks up at each use.
    private var algorithm: OpaquePointer {
        switch self {
        case .sha1: Self.fetchedSHA1.pointer
        case .sha256: Self.fetchedSHA256.pointer
        }
    }

    private static let fetchedSHA1 = Fetched(.sha1)
    private static let fetchedSHA256 = Fetched(.sha256)

    /// An `EVP_MD` that OpenSSL has looked up. It is never changed or freed.
    private struct Fetched: @unchecked Sendable {
        let pointer: OpaquePointer

        init(_ hash: HashFunction) {
            guard let pointer = withOpenSSL({ EVP_MD_fetch(nil, hash.name, nil) }) else { hash.isMissing() }
            self.pointer = pointer
        }
    }

    /// What a call of OpenSSL writes.
    func output(_ write: (UnsafeMutablePointer<UInt8>, inout UInt32) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
            var length: UInt32 = 0
            let start = output.baseAddress.unsafelyUnwrapped
            guard withOpenSSL({ write(start, &length) }) else { isMissing() }
            count = Int(length)
        }
    }

    /// Without memory, or with a system-wide configuration that has no hash function, no caller could go on.
    func isMissing() -> Never {
        preconditionFailure("OpenSSL cannot compute \(self). Check the system-wide OpenSSL configuration.")
    }
}
