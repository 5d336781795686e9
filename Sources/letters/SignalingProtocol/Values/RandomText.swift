/// Random text for identifiers and secrets, made from the caller's randomness.
package enum RandomText {
    /// 64 random bits as 16 hex digits.
    package static func bits64(using generator: inout some RandomNumberGenerator) -> String {
        Hexadecimal.text(generator.next() as UInt64)
    }

    /// 128 random bits as 32 hex digits.
    package static func bits128(using generator: inout some RandomNumberGenerator) -> String {
        let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
        return Hexadecimal.text(high) + Hexadecimal.text(low)
    }

    /// A UUID of version 4 (RFC 9562 section 5.4) in lower case: 122 random bits.
    package static func uuid(using generator: inout some RandomNumberGenerator) -> String {
        let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
        let first = (high & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        let second = (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { text in
            var count = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[count] = UInt8(ascii: "-")
                    count += 1
                }
                text[count] = Hexadecimal.character(of: (digit < 16 ? first : second) >> (60 - 4 * (digit % 16)))
                count += 1
            }
            return count
        }
    }
}
