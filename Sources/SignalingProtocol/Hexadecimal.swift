/// Base 16: written in lower case, read in either case.
package enum Hexadecimal {
    /// Two digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
    }

    /// Sixteen digits, leading zeros kept.
    package static func text(_ value: UInt64) -> String {
        text(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) })
    }

    /// The value of a digit; nil for other characters.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The bytes that pairs of digits stand for; nil for anything else.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let first = rest.next(), let second = rest.next() {
            guard let high = digit(first), let low = digit(second) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
