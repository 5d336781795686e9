import COpenSSL
import SignalingCryptography
import TestSupport
import Testing

@Suite("OpenSSL's queue of errors")
struct ErrorQueueTests {
    /// The queue of the calling thread, which becomes empty.
    static func drain() -> [UInt] {
        Array(sequence(state: ()) { _ in ERR_get_error() }.prefix { $0 != 0 })
    }

    static func failEverywhere() throws {
        let key = try RSASigningKey(pem: RSATests.made.pem)
        #expect(!key.verificationKey.verifies([1, 2, 3], of: []))
        #expect(!key.verificationKey.verifies([UInt8](repeating: 1, count: 256), of: []))
        #expect(throws: RSAKeyError.self) { try RSASigningKey(pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n") }
        #expect(throws: RSAKeyError.self) { try RSAVerificationKey(der: [0x30, 0x03, 1, 2, 3]) }
        _ = Secret([1]).code(.sha256, of: HashFunction.sha1.digest(of: []))
    }

    @Test("a call that fails leaves no error: libwebsockets would take it for one of a TLS connection")
    func nothingIsLeft() throws {
        _ = Self.drain()
        try Self.failEverywhere()
        try TLSClientTests.failEverywhere()
        #expect(Self.drain() == [])
    }

    @Test("a call leaves the errors of others, which the transport has not read yet")
    func nothingIsTaken() throws {
        _ = Self.drain()
        BIO_free(BIO_new_file("/no/such/file", "r"))
        let before = Self.drain()
        #expect(!before.isEmpty)
        BIO_free(BIO_new_file("/no/such/file", "r"))
        try Self.failEverywhere()
        #expect(Self.drain() == before)
    }
}
