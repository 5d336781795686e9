/// Reads the text messages in one direction of a WebSocket, from the bytes that pass (RFC 6455, section 5).
///
/// It is independent of the product's transport, so that a fault there cannot hide itself. It reads no extensions: the
/// product's client offers none.
struct TappedMessages {
    struct Close: Equatable {
        /// nil for a close frame without a code.
        var code: Int?
    }

    private enum Phase { case head, frames, broken }

    private var phase = Phase.head
    private var bytes: [UInt8] = []
    private var message: [UInt8] = []
    /// The close frame, once it has passed.
    private(set) var close: Close?
    private static let headEnd = Array("\r\n\r\n".utf8)

    /// Whether the HTTP response has passed.
    var hasReadHead: Bool { if case .head = phase { false } else { true } }

    /// - Returns: the text messages that these bytes complete.
    mutating func append(_ more: some Sequence<UInt8>) -> [[UInt8]] {
        bytes.append(contentsOf: more)
        if case .head = phase {
            guard let end = bytes.firstRange(of: Self.headEnd) else { return [] }
            bytes.removeFirst(end.upperBound)
            phase = .frames
        }
        guard case .frames = phase else { return [] }
        var messages: [[UInt8]] = []
        var offset = 0
        while let frame = frame(at: offset) {
            offset = frame.end
            switch frame.opcode {
            case 0, 1:
                message += frame.payload
                if frame.isFinal {
                    messages.append(message)
                    message = []
                }
            case 8:  // Nothing of interest follows a close frame.
                phase = .broken
                close = Close(code: frame.payload.count < 2 ? nil : Int(frame.payload[0]) << 8 | Int(frame.payload[1]))
            default: break
            }
        }
        bytes.removeFirst(offset)
        return messages
    }

    private struct Frame {
        var isFinal: Bool
        var opcode: UInt8
        var payload: [UInt8]
        var end: Int
    }

    /// The frame that begins at `start`; nil if it is not complete.
    private func frame(at start: Int) -> Frame? {
        var offset = start
        func integer(_ byteCount: Int) -> Int? {
            guard bytes.count >= offset + byteCount else { return nil }
            defer { offset += byteCount }
            return bytes[offset..<(offset + byteCount)].reduce(0) { $0 << 8 | Int($1) }
        }
        guard let head = integer(2) else { return nil }
        var length = head & 0x7F
        if length == 126 || length == 127 {
            guard let extended = integer(length == 126 ? 2 : 8) else { return nil }
            length = extended
        }
        let isMasked = head & 0x80 != 0
        let keyStart = offset
        if isMasked { offset += 4 }
        guard bytes.count >= offset + length else { return nil }
        var payload = Array(bytes[offset..<(offset + length)])
        if isMasked {
            for index in payload.indices { payload[index] ^= bytes[keyStart + index % 4] }
        }
        return Frame(
            isFinal: head & 0x8000 != 0, opcode: UInt8(head >> 8 & 0xF), payload: payload, end: offset + length)
    }
}
