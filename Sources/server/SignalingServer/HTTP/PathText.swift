import SignalingProtocol

/// The text of a path, or of one of its segments.
enum PathText {
    /// Without percent escapes.
    ///
    /// - Returns: nil for a malformed escape, for text that is not UTF-8, and for a segment that is no name: an empty one,
    ///   `.` and `..`.
    static func decoded(_ text: String) -> String? {
        decodedID(text).flatMap { [".", ".."].contains($0) ? nil : $0 }
    }

    /// Without percent escapes, also `.` and `..`: in the place of an ID, they are no folders.
    ///
    /// - Returns: nil for a malformed escape, for text that is not UTF-8, and for an empty one.
    static func decodedID(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hexadecimal.digit), let low = rest.next().flatMap(Hexadecimal.digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }
}
