/// Decodes a string with escapes that the scanner has accepted.
enum JSONUnescaping {
    static func text(_ content: UnsafeRawBufferPointer) -> String {
        // No escape is shorter than what it stands for in UTF-8.
        String(unsafeUninitializedCapacity: content.count) { text in
            var count = 0
            var offset = 0
            while offset < content.count {
                guard content[offset] == UInt8(ascii: "\\") else {
                    text[count] = content[offset]
                    count += 1
                    offset += 1
                    continue
                }
                let letter = content[offset + 1]
                offset += 2
                guard letter == UInt8(ascii: "u") else {
                    text[count] = control(letter)
                    count += 1
                    continue
                }
                for byte in UTF8.encode(scalar(content, at: &offset)) ?? UTF8.encodedReplacementCharacter {
                    text[count] = byte
                    count += 1
                }
            }
            return count
        }
    }

    /// The character of one `\u` escape, or of the two of a surrogate pair.
    ///
    /// - Parameter offset: that of the first digit; afterwards that of the end.
    private static func scalar(_ content: UnsafeRawBufferPointer, at offset: inout Int) -> Unicode.Scalar {
        var value = codeUnit(content, at: offset)
        offset += 4
        if 0xD800...0xDBFF ~= value {
            value = 0x10000 + (value - 0xD800) << 10 + (codeUnit(content, at: offset + 2) - 0xDC00)
            offset += 6
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private static func codeUnit(_ content: UnsafeRawBufferPointer, at start: Int) -> UInt32 {
        content[start..<start + 4].reduce(0) { $0 << 4 | (hexDigit($1) ?? 0) }
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
