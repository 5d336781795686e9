/// Decodes a string that the scanner has accepted. Only the search for duplicate names uses it; json-c decodes values.
enum JSONUnescaping {
    static func text(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> String {
        var units: [UInt16] = []
        var plain = range.lowerBound
        var offset = range.lowerBound
        func flush() { units.append(contentsOf: String(decoding: bytes[plain..<offset], as: UTF8.self).utf16) }
        while offset < range.upperBound {
            guard bytes[offset] == UInt8(ascii: "\\"), offset + 1 < range.upperBound else {
                offset += 1
                continue
            }
            flush()
            let letter = bytes[offset + 1]
            offset += 2
            if letter == UInt8(ascii: "u") {
                let end = min(offset + 4, range.upperBound)
                units.append(bytes[offset..<end].reduce(0) { $0 << 4 | UInt16(hexDigit($1) ?? 0) })
                offset = end
            } else {
                units.append(UInt16(control(letter)))
            }
            plain = offset
        }
        flush()
        return String(decoding: units, as: UTF16.self)
    }

    /// The value of one hex digit, of either case.
    static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// The character of a one-letter escape; `"`, `\` and `/` stand for themselves.
    private static func control(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }
}
