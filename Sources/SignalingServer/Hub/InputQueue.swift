import SignalingProtocol

/// Lines of one client that were received and wait: for the next turn, so that others have theirs, or until its backlog has
/// drained. While there are any its socket is not read from, so they are bounded by one message and one read.
struct InputQueue {
    /// Lines of one client that are handled in a turn of the loop: more than a client says at once that means to be read,
    /// and few enough that nobody feels them. A message of the largest size may have thousands.
    static let countPerTurn = 32

    private var bytes: [UInt8] = []
    private var start = 0
    /// Whether its client stands in the hub's list.
    var isListed = false

    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ message: UnsafeRawBufferPointer) {
        if !isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes.append(contentsOf: message)
    }

    /// Hands the lines over, and keeps what `body` leaves of them.
    mutating func take(_ body: (inout MessageLines) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var lines = MessageLines(UnsafeRawBufferPointer(rebasing: bytes[start...]))
            body(&lines)
            start = bytes.count - lines.rest.count
        }
        if isEmpty { self = InputQueue() }
    }
}
