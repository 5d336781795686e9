import CLibcrypto

/// The hash functions of tokens, secrets and webhooks (FIPS 180-4). Each call may come from any thread.
package enum HashFunction: Sendable {
    /// Only for HMAC of T1 tokens, whose format requires it. Its collisions do not help against HMAC (RFC 6151 argues
    /// the same for MD5).
    case sha1
    case sha256

    package func digest(of bytes: [UInt8]) -> [UInt8] {
        output { output, count in EVP_Digest(bytes, bytes.count, output, &count, algorithm, nil) == 1 }
    }

    var algorithm: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }

    /// What a call of OpenSSL writes. Without memory, or with a system-wide configuration that has no hash function, no
    /// caller could go on.
    func output(_ write: (UnsafeMutablePointer<UInt8>, inout UInt32) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
            var length: UInt32 = 0
            let start = output.baseAddress.unsafelyUnwrapped
            guard withOpenSSL({ write(start, &length) }) else {
                preconditionFailure("OpenSSL cannot compute \(self). Check the system-wide OpenSSL configuration.")
            }
            count = Int(length)
        }
    }
}
