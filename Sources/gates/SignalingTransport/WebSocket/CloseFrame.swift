import SignalingProtocol

/// The payload of a close frame (RFC 6455, section 5.5.1): a code in two bytes, then a reason as text.
enum CloseFrame {
    /// A control frame holds 125 bytes (RFC 6455, section 5.5); two of them are the code.
    static let reasonByteLimit = 123

    /// The peer's frames break RFC 6455 (section 7.4.1).
    static let protocolErrorCode: UInt16 = 1002

    static func code(in payload: UnsafeRawBufferPointer) -> UInt16 {
        payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : StandardCloseCode.noStatus
    }

    /// The code to answer the frame with if it breaks RFC 6455; nil if the library's echo is right.
    ///
    /// The library itself replaces the codes below 3000 that it does not know by 1002.
    static func refusal(of payload: UnsafeRawBufferPointer) -> UInt16? {
        if payload.isEmpty { return nil }
        if payload.count == 1 || code(in: payload) >= 5000 { return protocolErrorCode }
        return isValidUTF8(UnsafeRawBufferPointer(rebasing: payload.dropFirst(2)))
            ? nil : CloseReason.invalidPayload.rawValue
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
