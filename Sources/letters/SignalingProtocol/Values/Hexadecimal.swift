/// Hexadecimal digits for the whole package: identifiers, hashes, signatures and percent-encoding.
package enum Hexadecimal {
    /// Sixteen lower-case digits, leading zeros kept.
    package static func text(_ value: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { output in
            for index in 0..<16 { output[index] = character(of: value >> (60 - 4 * index)) }
            return 16
        }
    }

    /// Two lower-case digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(character(of: UInt64(byte >> 4)))
            text.append(character(of: UInt64(byte)))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The lower-case digit of the lowest four bits.
    package static func character(of value: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value) & 0x0F
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The value of one digit in ASCII, of either case; `nil` for any other byte.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The bytes that pairs of digits stand for, in either case; `nil` for any other text.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(bytes(of:)) ?? Array(text).withUnsafeBufferPointer(bytes(of:))
    }

    private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
