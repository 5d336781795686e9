import SignalingProtocol

/// The lines that wait for the socket. The lines of one turn of the loop are sent as one text message (WIRE-3).
struct OutboundLines {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ message: ClientMessage) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes.append(contentsOf: message.encoded())
    }

    mutating func removeAll() { bytes = [] }

    /// Passes the next text message to `write`: as many whole lines as fit the server's limit for one message.
    mutating func writeNext(_ write: (ArraySlice<UInt8>) -> Void) {
        let byteCount = nextByteCount
        write(bytes.prefix(byteCount))
        // Also removes the newline between two messages.
        bytes.removeFirst(min(bytes.count, byteCount + 1))
    }

    private var nextByteCount: Int {
        guard bytes.count > Limits.messageByteCount else { return bytes.count }
        // A single line is never longer than the limit.
        let window = bytes.prefix(Limits.messageByteCount + 1)
        return window.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    }
}
