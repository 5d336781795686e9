import COpenSSL

/// Why a key is not usable, or has not signed.
package enum RSAKeyError: Error, Equatable {
    /// No key can be read, or it has a passphrase.
    case unreadable
    /// A key of another algorithm.
    case notRSA
    /// The modulus has fewer than 2048 bits (RFC 7518 section 3.3), or so many that a verification would take long.
    case wrongSize(bitCount: Int)
    /// The numbers cannot be an RSA key, or the private numbers do not belong to the public ones.
    case inconsistent
    case cannotSign
}

/// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2), to verify. Each call may come from any thread.
package struct RSAVerificationKey: Sendable, Equatable {
    private let key: KeyOwner

    /// - Parameter der: a public key in the form SubjectPublicKeyInfo (RFC 5280) or RSAPublicKey (RFC 8017).
    package init(der: [UInt8]) throws(RSAKeyError) {
        try self.init(pkcs1: try KeyOwner.publicNumbers(inSPKI: der) ?? der)
    }

    fileprivate init(pkcs1: [UInt8]) throws(RSAKeyError) {
        key = try KeyOwner(pkcs1: pkcs1)
        // OpenSSL also reads BER and negative numbers, but writes DER.
        guard pkcs1.starts(with: try key.publicNumbers()) else { throw .unreadable }
        try key.checkPublicNumbers()
    }

    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        withOpenSSL {
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    package static func == (left: RSAVerificationKey, right: RSAVerificationKey) -> Bool {
        withOpenSSL { EVP_PKEY_eq(left.key.pointer, right.key.pointer) == 1 }
    }
}

/// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2), to sign. Each call may come from any thread.
package struct RSASigningKey: Sendable {
    private let key: KeyOwner
    package let verificationKey: RSAVerificationKey

    /// - Parameter pem: a key in the form PrivateKeyInfo (RFC 5208) or RSAPrivateKey (RFC 8017), without a passphrase.
    ///   Text in front of it is ignored.
    package init(pem: String) throws(RSAKeyError) {
        let text = Array(pem.utf8)
        let pointer = withOpenSSL {
            guard let input = BIO_new_mem_buf(text, Int32(text.count)) else { return nil as OpaquePointer? }
            defer { BIO_free(input) }
            // Without this callback OpenSSL asks for the passphrase at the terminal, and waits.
            return PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let pointer else { throw .unreadable }
        key = KeyOwner(owning: pointer)
        verificationKey = try RSAVerificationKey(pkcs1: try key.publicNumbers())
        try key.checkPrivateNumbers()
    }

    package func signature(of message: [UInt8]) throws(RSAKeyError) -> [UInt8] {
        try withOpenSSL { () throws(RSAKeyError) in
            guard let context = EVP_MD_CTX_new() else { throw .cannotSign }
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.pointer)))
            var count = signature.count
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1,
                EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == signature.count
            else { throw .cannotSign }
            return signature
        }
    }
}
