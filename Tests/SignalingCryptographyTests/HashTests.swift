import SignalingCryptography
import SignalingProtocol
import Testing

@Suite("Hashes and codes: the published answers")
struct HashTests {
    static func bytes(_ hexadecimal: String) throws -> [UInt8] {
        try #require(Hexadecimal.decoded(hexadecimal.filter { $0 != " " }.utf8))
    }

    @Test(
        "FIPS 180-4: the digests of the standard's examples",
        arguments: [
            (
                "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            ),
            (
                "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func digests(_ text: String, _ sha1: String, _ sha256: String) throws {
        #expect(HashFunction.sha1.digest(of: Array(text.utf8)) == (try Self.bytes(sha1)))
        #expect(HashFunction.sha256.digest(of: Array(text.utf8)) == (try Self.bytes(sha256)))
    }

    /// RFC 4231 sections 4.2 to 4.8, without 4.6, which cuts the code; and a code of nothing by nothing.
    static let sha256Cases: [(key: [UInt8], message: [UInt8], code: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    /// RFC 2202 section 3, cases 1, 2, 3 and 6.
    static let sha1Cases: [(key: [UInt8], message: [UInt8], code: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
        ),
        (
            [UInt8](repeating: 0xAA, count: 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ]

    @Test("RFC 4231, RFC 2202: the codes of the examples are made, and verify")
    func codes() throws {
        for (hash, cases) in [(HashFunction.sha256, Self.sha256Cases), (.sha1, Self.sha1Cases)] {
            for (key, message, code) in cases {
                let code = try Self.bytes(code)
                #expect(Secret(key).code(hash, of: message) == code)
                #expect(Secret(key).verifies(code, hash, of: message))
            }
        }
    }

    @Test(
        "a code with a change of any bit, a missing byte or one byte more is refused",
        arguments: [HashFunction.sha1, .sha256])
    func wrongCodes(_ hash: HashFunction) {
        let secret = Secret(Array("test-secret".utf8))
        let message = Array("message".utf8)
        let code = secret.code(hash, of: message)
        for bit in 0..<code.count * 8 {
            var wrong = code
            wrong[bit / 8] ^= 1 << (bit % 8)
            #expect(!secret.verifies(wrong, hash, of: message))
        }
        for wrong in [[], Array(code.dropLast()), Array(code.dropFirst()), code + [0]] {
            #expect(!secret.verifies(wrong, hash, of: message))
        }
        #expect(!secret.verifies(code, hash, of: message + [0]))
        #expect(!Secret(Array("test-secrets".utf8)).verifies(code, hash, of: message))
    }

    @Test("secrets are equal if their bytes are, and show them in no description and no dump")
    func secrets() {
        #expect(Secret([1, 2, 3]) == Secret([1, 2, 3]))
        for other in [[], [1, 2], [1, 2, 4], [1, 2, 3, 0]] as [[UInt8]] { #expect(Secret([1, 2, 3]) != Secret(other)) }
        var dumped = "\(Secret([201, 202])) \(String(reflecting: Secret([201, 202])))"
        dump(Secret([201, 202]), to: &dumped)
        #expect(!dumped.contains("201"), "\(dumped)")
    }
}
