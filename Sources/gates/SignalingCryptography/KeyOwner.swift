import COpenSSL

/// Owns an `EVP_PKEY`.
///
/// Sendable, since nothing changes a key after it was read: OpenSSL counts its users atomically, and protects what it
/// caches in it with locks (openssl-threads(7)).
final class KeyOwner: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads a public key in the form RSAPublicKey.
    convenience init(pkcs1: [UInt8]) throws(RSAKeyError) {
        let key = pkcs1.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return withOpenSSL { d2i_PublicKey(EVP_PKEY_RSA, nil, &position, bytes.count) }
        }
        guard let key else { throw .unreadable }
        self.init(owning: key)
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The RSAPublicKey in a SubjectPublicKeyInfo; `nil` for bytes in another form. A key that is marked for PSS has one,
    /// too, and is used for PKCS #1.
    static func publicNumbers(inSPKI der: [UInt8]) throws(RSAKeyError) -> [UInt8]? {
        try withOpenSSL { () throws(RSAKeyError) in
            let spki = der.withUnsafeBufferPointer { bytes in
                var position = bytes.baseAddress
                return d2i_X509_PUBKEY(nil, &position, bytes.count)
            }
            guard let spki else { return nil }
            defer { X509_PUBKEY_free(spki) }
            var (algorithm, description) = (nil as OpaquePointer?, nil as UnsafeMutablePointer<X509_ALGOR>?)
            var (numbers, count) = (nil as UnsafePointer<UInt8>?, 0 as Int32)
            guard X509_PUBKEY_get0_param(&algorithm, &numbers, &count, &description, spki) == 1 else {
                throw .unreadable
            }
            switch OBJ_obj2nid(algorithm) {
            case NID_rsaEncryption:
                // RFC 3279 section 2.3.1 requires an explicit NULL.
                var parameters: Int32 = 0
                X509_ALGOR_get0(nil, &parameters, nil, description)
                guard parameters == V_ASN1_NULL else { throw .unreadable }
            case NID_rsassaPss: break
            default: throw .notRSA
            }
            return Array(UnsafeBufferPointer(start: numbers, count: Int(count)))
        }
    }

    /// The modulus and the exponent, in the form RSAPublicKey.
    func publicNumbers() throws(RSAKeyError) -> [UInt8] {
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA else { throw .notRSA }
        var output: UnsafeMutablePointer<UInt8>?
        let count = withOpenSSL { i2d_PublicKey(pointer, &output) }
        guard count > 0, let output else { throw .unreadable }
        defer { CRYPTO_free(output, #fileID, #line) }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }

    /// OpenSSL reads any numbers. An even modulus or exponent is none of RSA's, and large ones make it slow to verify.
    func checkPublicNumbers() throws(RSAKeyError) {
        let bitCount = Int(EVP_PKEY_get_bits(pointer))
        guard (2048...8192).contains(bitCount) else { throw .wrongSize(bitCount: bitCount) }
        guard oddBitCount(of: OSSL_PKEY_PARAM_RSA_N) != nil,
            let exponent = oddBitCount(of: OSSL_PKEY_PARAM_RSA_E), (2...33).contains(exponent)
        else { throw .inconsistent }
    }

    /// Returns `nil` for an even number.
    private func oddBitCount(of name: String) -> Int32? {
        withOpenSSL {
            var number: OpaquePointer?
            guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return nil }
            defer { BN_free(number) }
            return BN_is_odd(number) == 1 ? BN_num_bits(number) : nil
        }
    }

    /// Whether the private numbers belong to the public ones. Takes 0.1 s for 2048 bits, because of the primes.
    func checkPrivateNumbers() throws(RSAKeyError) {
        let isConsistent = withOpenSSL {
            let check = EVP_PKEY_CTX_new(pointer, nil)
            defer { EVP_PKEY_CTX_free(check) }
            return EVP_PKEY_check(check) == 1
        }
        guard isConsistent else { throw .inconsistent }
    }
}
