import SignalingProtocol

/// The payload of a close frame (RFC 6455, section 5.5.1): a code in two bytes, then a reason as text.
enum CloseFrame {
    /// A control frame holds 125 bytes (RFC 6455, section 5.5); two of them are the code.
    static let reasonByteLimit = 123

    static func code(in payload: UnsafeRawBufferPointer) -> UInt16 {
        payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : StandardCloseCode.noStatus
    }

    static func reason(in payload: UnsafeRawBufferPointer) -> String {
        String(decoding: payload.dropFirst(2), as: UTF8.self)
    }

    /// The reason's bytes, cut to ``reasonByteLimit`` between two characters.
    static func reasonBytes(_ reason: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in reason {
            guard bytes.count + character.utf8.count <= reasonByteLimit else { break }
            bytes.append(contentsOf: character.utf8)
        }
        return bytes
    }
}
