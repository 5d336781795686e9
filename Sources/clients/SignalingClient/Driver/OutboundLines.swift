import DequeModule
import SignalingProtocol

/// The lines that wait for the socket. The lines of one turn of the loop are sent as one text message (WIRE-3).
struct OutboundLines {
    private var lines: Deque<(request: RequestID?, bytes: [UInt8])> = []
    /// The newest request whose line was written, on whatever socket. IDs increase.
    private var lastWritten = RequestID(0)

    var isEmpty: Bool { lines.isEmpty }

    /// - Parameter request: the request of the message, if it can be withdrawn.
    mutating func append(_ message: ClientMessage, request: RequestID?) { lines.append((request, message.encoded())) }

    /// Forgets the lines for a socket that is gone.
    mutating func removeAll() { lines = [] }

    /// Withdraws a request. Returns false if its line has been written, on this socket or an earlier one: it may arrive.
    mutating func withdraw(_ request: RequestID) -> Bool {
        guard request > lastWritten else { return false }
        lines.removeAll { $0.request == request }
        return true
    }

    /// Passes the next text message to `write`: as many whole lines as fit the server's limit for one message. A single
    /// line is never longer than the limit.
    mutating func writeNext(_ write: (ArraySlice<UInt8>) -> Void) {
        guard let first = lines.popFirst() else { return }
        var message = first.bytes
        note(first.request)
        while let next = lines.first, message.count + 1 + next.bytes.count <= Limits.messageByteCount {
            message.append(UInt8(ascii: "\n"))
            message += next.bytes
            note(next.request)
            lines.removeFirst()
        }
        write(message[...])
    }

    private mutating func note(_ request: RequestID?) {
        if let request { lastWritten = max(lastWritten, request) }
    }
}
