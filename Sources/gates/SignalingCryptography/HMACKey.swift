import COpenSSL

/// A key for HMAC (RFC 2104) with one hash function, which OpenSSL has read.
///
/// To look up the algorithms and to hash the key takes OpenSSL more time than to hash a token, so a secret does it once.
///
/// Sendable, since nothing changes the context after it was made: each code is computed in a copy.
final class HMACKey: @unchecked Sendable {
    private let hash: HashFunction
    private let context: OpaquePointer

    init(_ bytes: [UInt8], _ hash: HashFunction) {
        self.hash = hash
        let context = withOpenSSL { () -> OpaquePointer? in
            guard let algorithm = EVP_MAC_fetch(nil, OSSL_MAC_NAME_HMAC, nil) else { return nil }
            defer { EVP_MAC_free(algorithm) }
            guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
            if Self.begin(context, bytes, hash) { return context }
            EVP_MAC_CTX_free(context)
            return nil
        }
        guard let context else { hash.isMissing() }
        self.context = context
    }

    private static func begin(_ context: OpaquePointer, _ bytes: [UInt8], _ hash: HashFunction) -> Bool {
        var name = Array(hash.name.utf8CString)
        return name.withUnsafeMutableBufferPointer { name in
            // A parameter points to its name and to its value.
            OSSL_MAC_PARAM_DIGEST.withCString { digest in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(digest, name.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                // OpenSSL takes a missing key for "the same key as before", and an empty array has no address.
                return EVP_MAC_init(context, bytes + [0], bytes.count, parameters) == 1
            }
        }
    }

    deinit { EVP_MAC_CTX_free(context) }

    func code(of message: [UInt8]) -> [UInt8] {
        hash.output { output, count in
            guard let copy = EVP_MAC_CTX_dup(context) else { return false }
            defer { EVP_MAC_CTX_free(copy) }
            var length = 0
            guard EVP_MAC_update(copy, message, message.count) == 1,
                EVP_MAC_final(copy, output, &length, Int(EVP_MAX_MD_SIZE)) == 1
            else { return false }
            count = UInt32(length)
            return true
        }
    }
}
