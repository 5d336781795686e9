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
            apiKey: APIKey(String(fields[1])), createdAt: Int64(fields[3]).map(WallTime.init(milliseconds:)))
    }

    /// The label in an ID; nil without one, and for an ID that is malformed.
    public static func label(of id: SessionID) -> SessionLabel? {
        // Other makers of IDs write what they like into the last fields.
        guard let fields = try? fields(of: id), fields.count == 8, fields[7].hasPrefix(labelMark) else { return nil }
        return SessionLabel(String(fields[7].dropFirst(labelMark.count)))
    }

    private static let labelMark = "label="

    /// At least five. The last one has the rest, also if `~` is in it.
    private static func fields(of id: SessionID) throws(TokenError) -> [Substring] {
        let bytes = id.rawValue.utf8
        guard bytes.count <= Limits.sessionIDByteCount else { throw .tooLong }
        guard bytes.starts(with: "1_".utf8) || bytes.starts(with: "2_".utf8),
            // Base64 may hold white space, as in tokens. A session's name may not: it must be the same text everywhere.
            !bytes.contains(where: { $0 <= UInt8(ascii: " ") }),
            let decoded = Base64.decoded(bytes.dropFirst(2)), let content = String(validating: decoded, as: UTF8.self)
        else { throw .malformed }
        let fields = content.utf8.split(separator: UInt8(ascii: "~"), maxSplits: 7, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard fields.count >= 5, fields[0] == "1", !fields[1].isEmpty else { throw .malformed }
        return fields
    }
}
