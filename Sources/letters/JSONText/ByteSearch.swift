/// One in each byte of a word, and the high bit of each.
private let ones: UInt64 = 0x0101_0101_0101_0101
private let highBits: UInt64 = 0x8080_8080_8080_8080

/// Finds a byte, eight bytes at a time.
package enum ByteSearch {
    /// The index of the first such byte; `nil` without one.
    package static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        let pattern = ones &* UInt64(byte)
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ pattern
            guard (word &- ones) & ~word & highBits == 0 else { break }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] == byte { return index }
            index += 1
        }
        return nil
    }
}

/// Finds the end of the plain characters of a string: those that stand for themselves in JSON. Reads eight bytes at a
/// time, since most of what clients send is plain text.
enum PlainBytes {
    /// The index of the first byte from `start` on that is a control character, `"` or `\`; the count without one.
    ///
    /// - Parameter asciiOnly: whether to stop at a byte outside of ASCII, too.
    @inline(__always)
    static func end(in bytes: UnsafeRawBufferPointer, from start: Int, asciiOnly: Bool) -> Int {
        var index = start
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // The high bit of a byte in each term: below U+0020, a quote, a backslash ("Bit Twiddling Hacks").
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            var special = (word &- ones &* 0x20) & ~word
            special |= (quotes &- ones) & ~quotes
            special |= (backslashes &- ones) & ~backslashes
            if asciiOnly { special |= word }
            guard special & highBits == 0 else { break }
            index += 8
        }
        while index < bytes.count, isPlain(bytes[index], asciiOnly: asciiOnly) { index += 1 }
        return index
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8, asciiOnly: Bool) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && !(asciiOnly && byte >= 0x80)
    }
}
