import SignalingProtocol
import TestSupport
import Testing

@Suite("Hex digits and random text")
struct HexadecimalTests {
    @Test("every byte is written as two lower-case digits, and read from digits of either case")
    func bytes() {
        let all = Array(UInt8.min...UInt8.max)
        let digits = Hexadecimal.text(all)
        #expect(digits.hasPrefix("000102") && digits.hasSuffix("fdfeff"))
        #expect(Hexadecimal.decoded(digits.utf8) == all)
        #expect(Hexadecimal.decoded(digits.uppercased().utf8) == all)
    }

    @Test("text other than pairs of hex digits is refused", arguments: ["0", "abc", "0g", "g0", " 00", "0x", "é"])
    func refused(_ text: String) {
        #expect(Hexadecimal.decoded(text.utf8) == nil)
    }

    @Test("a number is written with its leading zeros")
    func numbers() {
        #expect(Hexadecimal.text(0 as UInt64) == "0000000000000000")
        #expect(Hexadecimal.text(0xAB_CDEF as UInt64) == "0000000000abcdef")
        #expect(Hexadecimal.text(UInt64.max) == "ffffffffffffffff")
    }

    @Test("random text has the requested length, and depends on the generator alone")
    func randomText() {
        var (first, second) = (SeededGenerator(seed: 1), SeededGenerator(seed: 1))
        #expect(RandomText.bits64(using: &first).utf8.count == 16)
        #expect(RandomText.bits128(using: &first).utf8.count == 32)
        let uuid = RandomText.uuid(using: &first)
        #expect(uuid.utf8.count == 36)
        _ = (RandomText.bits64(using: &second), RandomText.bits128(using: &second))
        #expect(RandomText.uuid(using: &second) == uuid)
    }
}
