/// The text of a string that the scanner has found well formed. Needed only for names that are suspected to stand twice;
/// values are read by json-c.
enum JSONUnescaping {
    static func text(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> String {
        var units: [UInt16] = []
        var plain = range.lowerBound
        var place = range.lowerBound
        func flush() { units.append(contentsOf: String(decoding: bytes[plain..<place], as: UTF8.self).utf16) }
        while place < range.upperBound {
            guard bytes[place] == UInt8(ascii: "\\"), place + 1 < range.upperBound else {
                place += 1
                continue
            }
            flush()
            let letter = bytes[place + 1]
            place += 2
            if letter == UInt8(ascii: "u") {
                let end = min(place + 4, range.upperBound)
                units.append(bytes[place..<end].reduce(0) { $0 << 4 | UInt16(hexDigit($1) ?? 0) })
                place = end
            } else {
                units.append(UInt16(control(letter)))
            }
            plain = place
        }
        flush()
        return String(decoding: units, as: UTF16.self)
    }

    static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// What the letter behind a backslash stands for; `"`, `\` and `/` stand for themselves.
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
