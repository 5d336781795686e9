import Foundation
import SignalingCryptography
import TestSupport
import Testing

@Suite("RSA signatures")
struct RSATests {
    static let made: OpenSSLKey = {
        do { return try .rsa(bitCount: 2048) } catch { preconditionFailure("\(error)") }
    }()
    static let message = Array("header.payload".utf8)

    static func der(_ pem: String) throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined())))
    }

    /// An RSAPublicKey (RFC 8017 appendix A.1.1) of two INTEGERs with these bytes, the highest one first.
    static func publicKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        value(0x30, value(0x02, modulus) + value(0x02, exponent))
    }

    /// A tag, the length in its shortest form, and the content.
    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }

    @Test("a signature of the program openssl verifies, and is the one that the same key makes here")
    func otherImplementation() throws {
        let signature = try Self.made.signature(of: Self.message, "-sha256")
        let key = try RSASigningKey(pem: Self.made.pem)
        #expect(try key.signature(of: Self.message) == signature)
        for form in [
            try Self.made.form("pkey", "-pubout"), try Self.made.form("rsa", "-RSAPublicKey_out"),
        ] {
            let publicKey = try RSAVerificationKey(der: try Self.der(form))
            #expect(publicKey.verifies(signature, of: Self.message))
            #expect(publicKey == key.verificationKey)
        }
        let other = try RSASigningKey(pem: try OpenSSLKey.rsa(bitCount: 2048).pem).verificationKey
        #expect(other != key.verificationKey)
        #expect(!other.verifies(signature, of: Self.message))
    }

    @Test("a signature with a change, of another length, by another hash or with another padding is refused")
    func wrongSignatures() throws {
        let key = try RSASigningKey(pem: Self.made.pem).verificationKey
        let signature = try Self.made.signature(of: Self.message, "-sha256")
        for index in signature.indices {
            var wrong = signature
            wrong[index] ^= 0x80
            #expect(!key.verifies(wrong, of: Self.message))
        }
        for wrong in [
            [], Array(signature.dropLast()), Array(signature.dropFirst()), [0] + signature, signature + [0],
            [UInt8](repeating: 0, count: 256), [UInt8](repeating: 0xFF, count: 256),
            try Self.made.signature(of: Self.message, "-sha1"), try Self.made.signature(of: Self.message, "-sha512"),
            try Self.made.signature(of: Self.message, "-sha256", "-sigopt", "rsa_padding_mode:pss"),
        ] {
            #expect(!key.verifies(wrong, of: Self.message))
        }
        #expect(!key.verifies(signature, of: Self.message + [0]))
        #expect(!key.verifies(signature, of: []))
    }

    @Test("a public key has an odd modulus of 2048 to 8192 bits, and an odd exponent of 2 to 33 bits")
    func numbers() {
        func modulus(_ bitCount: Int, last: UInt8 = 1) -> [UInt8] {
            [bitCount % 8 == 0 ? 0x80 : 1 << UInt8(bitCount % 8 - 1)]
                + [UInt8](repeating: 0, count: (bitCount + 7) / 8 - 2) + [last]
        }
        /// A first bit of 1 would make the number negative.
        func positive(_ bytes: [UInt8]) -> [UInt8] { (bytes.first ?? 0) < 0x80 ? bytes : [0] + bytes }
        func error(_ modulus: [UInt8], _ exponent: [UInt8]) -> RSAKeyError? {
            do throws(RSAKeyError) {
                _ = try RSAVerificationKey(
                    der: Self.publicKey(modulus: positive(modulus), exponent: positive(exponent)))
                return nil
            } catch { return error }
        }
        let usual: [UInt8] = [1, 0, 1]
        for bitCount in [2048, 2049, 8192] { #expect(error(modulus(bitCount), usual) == nil) }
        for bitCount in [512, 1024, 2047, 8193, 16_384] {
            #expect(error(modulus(bitCount), usual) == .wrongSize(bitCount: bitCount))
        }
        #expect(error(modulus(2048, last: 2), usual) == .inconsistent)
        for exponent in [[3], usual, [1, 0, 0, 0, 1]] as [[UInt8]] { #expect(error(modulus(2048), exponent) == nil) }
        for exponent in [[0], [1], [2], [1, 0, 0], [2, 0, 0, 0, 1]] as [[UInt8]] {
            #expect(error(modulus(2048), exponent) == .inconsistent)
        }
    }

    @Test("a key of another algorithm is refused")
    func otherAlgorithms() throws {
        for key in [
            try OpenSSLKey("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
            try OpenSSLKey("-algorithm", "ED25519"), try OpenSSLKey("-algorithm", "X25519"),
        ] {
            let publicKey = try Self.der(try key.form("pkey", "-pubout"))
            #expect(throws: RSAKeyError.notRSA) { try RSAVerificationKey(der: publicKey) }
            #expect(throws: RSAKeyError.notRSA) { try RSASigningKey(pem: key.pem) }
        }
    }

    @Test("a public key that is marked for PSS verifies PKCS #1, and such a private key is refused")
    func keysForPSS() throws {
        let key = try OpenSSLKey("-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048")
        let marked = try RSAVerificationKey(der: try Self.der(try key.form("pkey", "-pubout")))
        let plain = try RSAVerificationKey(der: try Self.der(try key.form("rsa", "-RSAPublicKey_out")))
        #expect(marked == plain)
        #expect(throws: RSAKeyError.notRSA) { try RSASigningKey(pem: key.pem) }
    }

    @Test("a public key that is not DER is refused: a negative number, a number with a needless zero, no NULL")
    func strictDER() throws {
        let modulus = [0x80] + [UInt8](repeating: 0, count: 254) + [1]
        let strict = Self.publicKey(modulus: [0] + modulus, exponent: [1, 0, 1])
        #expect(throws: Never.self) { try RSAVerificationKey(der: strict) }
        #expect(throws: Never.self) { try RSAVerificationKey(der: strict + [0]) }
        for numbers in [
            Self.publicKey(modulus: modulus, exponent: [1, 0, 1]),
            Self.publicKey(modulus: [0, 0] + modulus, exponent: [1, 0, 1]),
            Self.publicKey(modulus: [0] + modulus, exponent: [0x81, 0, 1]),
            Self.publicKey(modulus: [0] + modulus, exponent: [0, 1, 0, 1]),
        ] {
            #expect(throws: RSAKeyError.unreadable) { try RSAVerificationKey(der: numbers) }
        }
        let spki = try Self.der(try Self.made.form("pkey", "-pubout"))
        let null = try #require(spki.firstRange(of: [0x05, 0x00]))
        for parameters in [[0x04, 0x00], [0x05, 0x01]] as [[UInt8]] {
            let other = spki[..<null.lowerBound] + parameters + spki[null.upperBound...]
            #expect(throws: RSAKeyError.unreadable) { try RSAVerificationKey(der: Array(other)) }
        }
    }

    @Test("bytes and text without a key, and keys with a passphrase, are refused")
    func unreadable() throws {
        let publicKey = try Self.der(try Self.made.form("pkey", "-pubout"))
        let privateKey = try Self.der(Self.made.pem)
        for bytes in [
            [], [0], Array("key".utf8), privateKey, Array(publicKey.dropLast()), Array(publicKey.dropFirst()),
        ] {
            #expect(throws: RSAKeyError.unreadable) { try RSAVerificationKey(der: bytes) }
        }
        for pem in [
            "", "key", "\0", try Self.made.form("pkey", "-pubout"), String(Self.made.pem.prefix(300)),
            try Self.made.form("pkey", "-aes128", "-passout", "pass:secret"),
            try Self.made.form("pkey", "-aes128", "-passout", "pass:secret", "-traditional"),
            try Self.made.form("req", "-x509", "-new", "-key", "/dev/stdin", "-subj", "/CN=signalbox"),
        ] {
            #expect(throws: RSAKeyError.unreadable) { try RSASigningKey(pem: pem) }
        }
    }

    @Test("a private key is read in both forms, also behind text")
    func privateKeys() throws {
        let key = try RSASigningKey(pem: Self.made.pem)
        for pem in [try Self.made.form("pkey", "-traditional"), "Bag Attributes\n" + Self.made.pem] {
            #expect(try RSASigningKey(pem: pem).verificationKey == key.verificationKey)
        }
    }

    @Test("a private key with one wrong byte is refused")
    func damagedPrivateKeys() throws {
        let whole = try Self.der(try Self.made.form("pkey", "-traditional"))
        // Behind the version. From there on each byte belongs to a number, or says how long one is.
        for index in stride(from: 7, to: whole.count, by: 53) {
            var damaged = whole
            damaged[index] ^= 0x55
            let lines = Data(damaged).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let pem = "-----BEGIN RSA PRIVATE KEY-----\n\(lines)\n-----END RSA PRIVATE KEY-----\n"
            #expect(throws: RSAKeyError.self, "byte \(index)") { try RSASigningKey(pem: pem) }
        }
    }

    @Test("random bytes are no key, and end nothing")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 21)
        let publicKey = try Self.der(try Self.made.form("pkey", "-pubout"))
        for _ in 0..<2_000 {
            var bytes = publicKey
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            if let key = try? RSAVerificationKey(der: bytes) { _ = key.verifies(bytes, of: bytes) }
        }
    }

    @Test("one key signs and verifies on many threads at the same time")
    func threads() throws {
        let key = try RSASigningKey(pem: Self.made.pem)
        let signature = try key.signature(of: Self.message)
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            #expect((try? key.signature(of: Self.message)) == signature)
            #expect(key.verificationKey.verifies(signature, of: Self.message))
            #expect(!key.verificationKey.verifies(signature, of: Self.message + [UInt8(index)]))
        }
    }
}
