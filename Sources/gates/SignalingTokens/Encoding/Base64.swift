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
        // Every connect decodes a session ID and a token, so both are read from memory and not through an iterator.
        text.withContiguousStorageIfAvailable(bytes(of:)) ?? Array(text).withUnsafeBufferPointer(bytes(of:))
    }

    private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { output, count in
            if let decodedCount = decode(text, into: output) { (count, isValid) = (decodedCount, true) }
        }
        return isValid ? bytes : nil
    }

    /// - Returns: the number of decoded bytes; nil if the text is malformed.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        var count = 0
        func append(_ bits: UInt32) {
            bytes[count] = UInt8(truncatingIfNeeded: bits)
            count += 1
        }
        var bits: UInt32 = 0
        var sextetCount = 0
        var paddingCount = 0
        let wholeCount = decodeWhole(text, into: bytes)
        count = wholeCount / 4 * 3
        for character in text[wholeCount...] {
            let sextet = meanings[Int(character)]
            guard sextet < 64 else {
                switch sextet {
                case padding: paddingCount += 1
                case whiteSpace: break
                default: return nil
                }
                continue
            }
            guard paddingCount == 0 else { return nil }
            bits = bits << 6 | UInt32(sextet)
            sextetCount += 1
            if sextetCount.isMultiple(of: 4) {
                append(bits >> 16)
                append(bits >> 8)
                append(bits)
            }
        }
        switch sextetCount % 4 {
        case 0: break
        case 2: append(bits >> 4)
        case 3:
            append(bits >> 10)
            append(bits >> 2)
        default: return nil
        }
        return paddingCount <= 2 ? count : nil
    }

    /// Decodes the groups of four characters before the first one that has another character in it.
    ///
    /// - Returns: the number of their characters.
    private static func decodeWhole(
        _ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        meanings.withUnsafeBufferPointer { meanings in
            var (read, written) = (0, 0)
            while read + 4 <= text.count {
                let sextets = (
                    meanings[Int(text[read])], meanings[Int(text[read + 1])], meanings[Int(text[read + 2])],
                    meanings[Int(text[read + 3])]
                )
                guard sextets.0 | sextets.1 | sextets.2 | sextets.3 < 64 else { break }
                bytes[written] = sextets.0 << 2 | sextets.1 >> 4
                bytes[written + 1] = sextets.1 << 4 | sextets.2 >> 2
                bytes[written + 2] = sextets.2 << 6 | sextets.3
                (read, written) = (read + 4, written + 3)
            }
            return read
        }
    }

    private static let padding: UInt8 = 64
    private static let whiteSpace: UInt8 = 65

    /// For each byte of ASCII its six bits, or one of the two above, or 255.
    private static let meanings: [UInt8] = {
        var meanings = [UInt8](repeating: 255, count: 256)
        for alphabet in [standardAlphabet, urlSafeAlphabet] {
            for (sextet, character) in alphabet.enumerated() { meanings[Int(character)] = UInt8(sextet) }
        }
        meanings[Int(UInt8(ascii: "="))] = padding
        for blank in " \t\r\n".utf8 { meanings[Int(blank)] = whiteSpace }
        return meanings
    }()

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
