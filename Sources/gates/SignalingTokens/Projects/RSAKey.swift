import SignalingCryptography

/// The key that verifies an application's signatures.
public struct RSAPublicKey: Sendable, Equatable {
    let key: RSAVerificationKey

    /// Reads a public key in PEM: `BEGIN PUBLIC KEY` (SPKI) or `BEGIN RSA PUBLIC KEY` (PKCS#1).
    ///
    /// Returns `nil` for any other text, private keys and certificates included, and for a key under 2048 bits (RFC
    /// 7518 section 3.3; TOK-7).
    public init?(pem: String) {
        guard let der = PEM.content(of: pem), let key = try? RSAVerificationKey(der: der) else { return nil }
        self.key = key
    }

    init(_ key: RSAVerificationKey) { self.key = key }
}

/// The key that signs for an application. It appears in no description, dump or log.
public struct RSAPrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let key: RSASigningKey

    /// Reads an unencrypted private key in PEM: `BEGIN PRIVATE KEY` (PKCS#8) or `BEGIN RSA PRIVATE KEY` (PKCS#1).
    ///
    /// Returns `nil` for any other text, and for a key under 2048 bits (RFC 7518 section 3.3; TOK-7).
    public init?(pem: String) {
        guard let key = try? RSASigningKey(pem: pem) else { return nil }
        self.key = key
    }

    public var publicKey: RSAPublicKey { RSAPublicKey(key.verificationKey) }

    public var description: String { "RSA private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
