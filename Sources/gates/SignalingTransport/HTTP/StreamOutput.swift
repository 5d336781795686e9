/// How a client knows the end of a streamed response's body.
///
/// A client of HTTP/1.1 gets chunks, although the connection closes behind them: Python's requests passes on each chunk
/// when it arrives, but collects the bytes of a body without them up to its buffer's size, and chunks tell a client and a
/// proxy whether the body is complete. A client of HTTP/1.0, such as nginx by default, does not know chunks.
enum StreamFraming {
    /// The response has no body.
    case none
    /// The body ends with the connection.
    case toEnd
    case chunked
}

/// The bytes of a streamed response that wait for the client.
struct StreamOutput {
    /// Sent bytes are dropped when there are so many of them, and more than others: each byte is moved once at most.
    private static let compactionByteCount = 65_536

    private let framing: StreamFraming
    private var bytes: [UInt8]
    private var sentByteCount = 0

    init(head: [UInt8], framing: StreamFraming) {
        bytes = head
        self.framing = framing
    }

    var waitingByteCount: Int { bytes.count - sentByteCount }

    mutating func append(_ piece: [UInt8]) {
        // An empty chunk would be the last one.
        if piece.isEmpty { return }
        switch framing {
        case .none: break
        case .toEnd: bytes += piece
        case .chunked:
            bytes += String(piece.count, radix: 16).utf8
            bytes += "\r\n".utf8
            bytes += piece
            bytes += "\r\n".utf8
        }
    }

    /// Nothing may be appended after it.
    mutating func finish() { if framing == .chunked { bytes += "0\r\n\r\n".utf8 } }

    /// Passes the next bytes to `write`, which returns how many it accepted, or -1.
    ///
    /// - Parameter limit: the largest piece, in bytes.
    mutating func writeNext(limit: Int, _ write: (UnsafeRawBufferPointer) -> Int) -> Int {
        let end = min(sentByteCount + limit, bytes.count)
        let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[sentByteCount..<end])) }
        sentByteCount += max(0, count)
        if sentByteCount == bytes.count {
            bytes = []
            sentByteCount = 0
        } else if sentByteCount >= Self.compactionByteCount, sentByteCount > waitingByteCount {
            bytes.removeFirst(sentByteCount)
            sentByteCount = 0
        }
        return count
    }
}
