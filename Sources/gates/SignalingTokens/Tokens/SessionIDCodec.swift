import SignalingProtocol

/// Makes and reads session IDs in OpenTok's format. Reading an ID checks it; no database is needed (TOK-1).
///
/// An ID is `1_` or `2_` and the base64 of fields joined with `~`: version `1`, API key, location, creation time in ms,
/// random text, a mode letter, an empty field, and a field that is empty or has a label. OpenTok's SDKs read the API key
/// from field 1 and refuse IDs without it.
public enum SessionIDCodec {
    /// The fields of an ID that this package reads.
    public struct Content: Hashable, Sendable {
        public let apiKey: APIKey
        /// `nil` in OpenTok's oldest IDs, which hold a date in words.
        public let createdAt: WallTime?
    }

    /// Makes a new ID for the project, with 128 random bits. An ID alone gives no access: each client needs a token for
    /// it.
    public static func make(
        for project: Project, now: WallTime, label: SessionLabel? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> SessionID {
        let random = RandomText.bits128(using: &generator)
        let mark = label.map { labelMark + $0.text } ?? ""
        let content = "1~\(project.apiKey)~~\(now.milliseconds)~\(random)~P~~\(mark)"
        return SessionID("1_" + Base64.urlSafe(Array(content.utf8)))
    }

    /// Reads an ID, in either alphabet of base64, with or without padding.
    ///
    /// - Throws: `tooLong` over `Limits.sessionIDByteCount`, `malformed` for any other fault.
    public static func read(_ id: SessionID) throws(TokenError) -> Content {
        let fields = try fields(of: id)
        return Content(
            apiKey: APIKey(fields.text(1)), createdAt: Int64(fields.text(3)).map(WallTime.init(milliseconds:)))
    }

    /// The API key in an ID. For every connect, and so without the other fields.
    public static func apiKey(of id: SessionID) throws(TokenError) -> APIKey { APIKey(try fields(of: id).text(1)) }

    /// Ranges that have all IDs of a project, and hardly any others: those of each form, the greatest first.
    public static func ranges(of apiKey: APIKey) -> [Range<SessionID>] {
        let start = Array("1~\(apiKey)".utf8)
        // Three bytes have four characters. What follows changes no earlier one, and from a character on that the two
        // alphabets write differently, IDs differ.
        let text = Base64.urlSafe(Array(start.prefix(start.count / 3 * 3))).prefix { $0 != "-" && $0 != "_" }
        return ["2_", "1_"].map { form in SessionID(form + text)..<SessionID(form + text + "\u{7F}") }
    }

    /// The label in an ID; nil without one, and for an ID that is malformed.
    public static func label(of id: SessionID) -> SessionLabel? {
        // Other makers of IDs write what they like into the last fields.
        guard let fields = try? fields(of: id), fields.count == 8 else { return nil }
        let last = fields.text(7)
        return last.hasPrefix(labelMark) ? SessionLabel(String(last.dropFirst(labelMark.count))) : nil
    }

    private static let labelMark = "label="

    /// The decoded bytes of an ID, and where its fields are in them: eight at most, of which the last has the rest, also
    /// if `~` is in it.
    private struct Fields {
        private static let mostCount = 8

        private let bytes: [UInt8]
        private var bounds: [Range<Int>] = []

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            bounds.reserveCapacity(Self.mostCount)
            var start = 0
            for index in bytes.indices where bytes[index] == UInt8(ascii: "~") && bounds.count < Self.mostCount - 1 {
                bounds.append(start..<index)
                start = index + 1
            }
            bounds.append(start..<bytes.count)
        }

        var count: Int { bounds.count }
        func isEmpty(_ index: Int) -> Bool { bounds[index].isEmpty }
        func text(_ index: Int) -> String { String(decoding: bytes[bounds[index]], as: UTF8.self) }

        /// Whether the field is this character alone.
        func isOnly(_ character: UInt8, _ index: Int) -> Bool {
            bounds[index].count == 1 && bytes[bounds[index].lowerBound] == character
        }
    }

    /// At least five.
    private static func fields(of id: SessionID) throws(TokenError) -> Fields {
        var text = id.rawValue
        guard text.utf8.count <= Limits.sessionIDByteCount else { throw .tooLong }
        let decoded = text.withUTF8 { utf8 -> [UInt8]? in
            guard utf8.count > 2, utf8[0] == UInt8(ascii: "1") || utf8[0] == UInt8(ascii: "2"),
                utf8[1] == UInt8(ascii: "_"),
                // Base64 may hold white space, as in tokens. A session's name may not: it must be the same text everywhere.
                !utf8.contains(where: { $0 <= UInt8(ascii: " ") })
            else { return nil }
            return Base64.decoded(UnsafeBufferPointer(rebasing: utf8[2...]))
        }
        guard let decoded, isUTF8(decoded) else { throw .malformed }
        let fields = Fields(decoded)
        guard fields.count >= 5, fields.isOnly(UInt8(ascii: "1"), 0), !fields.isEmpty(1) else { throw .malformed }
        return fields
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        // Nearly all IDs are ASCII.
        !bytes.contains { $0 >= 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}
