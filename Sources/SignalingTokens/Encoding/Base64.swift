/// Base64 (RFC 4648): writes the URL-safe or the standard alphabet, and reads both.
///
/// Reading accepts either alphabet, with or without padding, and white space anywhere. OpenTok's readers do the same,
/// and configuration files may wrap or pad a token again.
enum Base64 {
    /// The URL-safe alphabet, without padding.
    static func urlSafe(_ bytes: [UInt8]) -> String { encoded(bytes, alphabet: urlSafeAlphabet, padded: false) }

    /// The standard alphabet, with padding.
    static func standard(_ bytes: [UInt8]) -> String { encoded(bytes, alphabet: standardAlphabet, padded: true) }

    /// Returns `nil` for any other character, for text behind the padding, and for an impossible length.
    static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var sextetCount = 0
        var paddingCount = 0
        for character in text {
            let sextet: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): sextet = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): sextet = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): sextet = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): sextet = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): sextet = 63
            case UInt8(ascii: "="):
                paddingCount += 1
                continue
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
            default: return nil
            }
            guard paddingCount == 0 else { return nil }
            bits = bits << 6 | UInt32(sextet)
            sextetCount += 1
            if sextetCount.isMultiple(of: 4) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch sextetCount % 4 {
        case 0: break
        case 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return nil
        }
        return paddingCount <= 2 ? bytes : nil
    }

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlSafeAlphabet = Array((letters + "-_").utf8)
    private static let standardAlphabet = Array((letters + "+/").utf8)

    private static func encoded(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let triple = bytes[start..<min(start + 3, bytes.count)]
            let bits = triple.reduce(0 as Int) { $0 << 8 | Int($1) } << (8 * (3 - triple.count))
            for sextet in 0...triple.count { text.append(alphabet[bits >> (18 - 6 * sextet) & 0x3F]) }
            if padded { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - triple.count)) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
