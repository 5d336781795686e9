import SignalingProtocol

/// `application/x-www-form-urlencoded`, as OpenTok's T1 tokens use it.
package enum FormEncoding {
    /// The decoded fields by name. Returns `nil` for malformed text and for a repeated name: unescaped text inside a
    /// signed value could otherwise replace a field.
    package static func fields(_ text: some Collection<UInt8>) -> [String: String]? {
        text.withContiguousStorageIfAvailable(fields(of:)) ?? Array(text).withUnsafeBufferPointer(fields(of:))
    }

    private static func fields(of text: UnsafeBufferPointer<UInt8>) -> [String: String]? {
        // Enough for a token, so that the table does not grow.
        var fields = [String: String](minimumCapacity: 12)
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "&")) ?? text.count
            defer { start = end + 1 }
            if end == start { continue }
            let equals = text[start..<end].firstIndex(of: UInt8(ascii: "="))
            guard let name = decoded(text[start..<(equals ?? end)]),
                let value = equals.map({ decoded(text[($0 + 1)..<end]) }) ?? .some(""),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return fields
    }

    /// Decodes `+` to a space and `%XX` to a byte of UTF-8. Returns `nil` for anything else behind `%`.
    private static func decoded(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        let text = UnsafeBufferPointer(rebasing: text)
        guard text.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") || $0 >= 0x80 }) else {
            return String(decoding: text, as: UTF8.self)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Hexadecimal.digit),
                    let low = rest.next().flatMap(Hexadecimal.digit)
                else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Escapes every character but RFC 3986's unreserved ones. A space becomes `%20`, which every reader accepts.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(contentsOf: Hexadecimal.text([byte]).uppercased().utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
