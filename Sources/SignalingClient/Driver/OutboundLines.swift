import SignalingProtocol

/// The lines that wait for the socket. Lines of one turn of the loop leave as one text message (WIRE-3).
struct OutboundLines {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ message: ClientMessage) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes.append(contentsOf: message.encoded())
    }

    mutating func removeAll() { bytes = [] }

    /// Hands over the next text message: as many whole lines as fit the server's limit for one message.
    mutating func writeNext(_ write: (ArraySlice<UInt8>) -> Void) {
        let byteCount = nextByteCount
        write(bytes.prefix(byteCount))
        // The newline between two messages goes, too.
        bytes.removeFirst(min(bytes.count, byteCount + 1))
    }

    private var nextByteCount: Int {
        guard bytes.count > Limits.messageByteCount else { return bytes.count }
        // A single line is never longer than the limit.
        let window = bytes.prefix(Limits.messageByteCount + 1)
        return window.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    }
}
