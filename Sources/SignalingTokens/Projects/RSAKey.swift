import Crypto
import CryptoExtras
import FoundationEssentials
import JWTKit

/// The key that verifies an application's signatures.
public struct RSAPublicKey: Sendable, Equatable {
    let key: _RSA.Signing.PublicKey

    /// Reads a public key in PEM: `BEGIN PUBLIC KEY` (SPKI) or `BEGIN RSA PUBLIC KEY` (PKCS#1).
    ///
    /// Returns `nil` for any other text, private keys and certificates included, and for a key under 2048 bits (RFC
    /// 7518 section 3.3; TOK-7).
    public init?(pem: String) {
        guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem), key.keySizeInBits >= RSAKeySize.least
        else { return nil }
        self.key = key
    }

    public static func == (left: RSAPublicKey, right: RSAPublicKey) -> Bool {
        left.key.derRepresentation == right.key.derRepresentation
    }

    init(_ key: _RSA.Signing.PublicKey) { self.key = key }
}

/// The key that signs for an application. It appears in no description, dump or log.
public struct RSAPrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let key: _RSA.Signing.PrivateKey

    /// Reads an unencrypted private key in PEM: `BEGIN PRIVATE KEY` (PKCS#8) or `BEGIN RSA PRIVATE KEY` (PKCS#1).
    ///
    /// Returns `nil` for any other text, and for a key under 2048 bits (RFC 7518 section 3.3; TOK-7).
    public init?(pem: String) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem), key.keySizeInBits >= RSAKeySize.least
        else { return nil }
        self.key = key
    }

    public var publicKey: RSAPublicKey { RSAPublicKey(key.publicKey) }

    public var description: String { "RSA private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

private enum RSAKeySize {
    /// The minimum size of a key, in bits.
    static let least = 2048
}

/// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3), to verify.
struct RS256: JWTAlgorithm {
    static let name = "RS256"
    let key: RSAPublicKey

    var name: String { Self.name }

    /// Always throws: a public key cannot sign. Use ``RS256Signer``.
    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] { throw TokenError.wrongAlgorithm }

    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool {
        key.key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: plaintext, padding: .insecurePKCS1v1_5)
    }
}

/// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3), to sign.
struct RS256Signer: JWTAlgorithm {
    let key: RSAPrivateKey

    var name: String { RS256.name }

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
        Array(try key.key.signature(for: plaintext, padding: .insecurePKCS1v1_5).rawRepresentation)
    }

    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool {
        try RS256(key: key.publicKey).verify(signature, signs: plaintext)
    }
}
