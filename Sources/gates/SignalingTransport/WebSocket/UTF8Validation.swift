/// Whether the bytes are UTF-8 by RFC 3629: no overlong forms, no encoded surrogates, nothing above U+10FFFF.
///
/// libwebsockets' own check is not used: it is set per context, and closes the socket with a text of its own.
func isValidUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool { wholeUTF8Count(bytes) == bytes.count }

/// How many of the bytes form whole characters; the rest, at most three bytes, begins another one. nil if no UTF-8
/// begins with the bytes.
func wholeUTF8Count(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    let count = bytes.count
    while index < count {
        // ASCII, eight bytes at a time: most of what clients send.
        while index + 8 <= count,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        { index += 8 }
        guard index < count else { return count }
        let lead = bytes[index]
        if lead < 0x80 {
            index += 1
            continue
        }
        // RFC 3629, section 4: the first byte decides the second byte's range.
        let continuations: Int
        let second: ClosedRange<UInt8>
        switch lead {
        case 0xC2...0xDF: (continuations, second) = (1, 0x80...0xBF)
        case 0xE0: (continuations, second) = (2, 0xA0...0xBF)
        case 0xED: (continuations, second) = (2, 0x80...0x9F)
        case 0xE1...0xEF: (continuations, second) = (2, 0x80...0xBF)
        case 0xF0: (continuations, second) = (3, 0x90...0xBF)
        case 0xF1...0xF3: (continuations, second) = (3, 0x80...0xBF)
        case 0xF4: (continuations, second) = (3, 0x80...0x8F)
        default: return nil
        }
        let available = min(continuations, count - index - 1)
        if available > 0 {
            guard second.contains(bytes[index + 1]) else { return nil }
            for offset in 1...available where bytes[index + offset] & 0xC0 != 0x80 { return nil }
        }
        if available < continuations { return index }
        index += continuations + 1
    }
    return count
}
