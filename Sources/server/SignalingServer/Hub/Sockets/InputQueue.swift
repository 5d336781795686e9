import SignalingProtocol

/// The lines that the server has received from one client and not handled yet. They wait for the next turn, so that
/// other clients get theirs, or until the client's backlog has drained.
///
/// The hub does not read from a socket while its queue has lines, so the queue is bounded by one message and one read.
struct InputQueue {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Whether this queue's peer is in the hub's list of peers with input.
    var isListed = false

    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ message: UnsafeRawBufferPointer) {
        if !isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes.append(contentsOf: message)
    }

    /// Passes the lines to `body` and keeps those that `body` does not consume.
    mutating func consume(_ body: (inout MessageLines) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var lines = MessageLines(UnsafeRawBufferPointer(rebasing: bytes[start...]))
            body(&lines)
            start = bytes.count - lines.rest.count
        }
        if isEmpty { self = InputQueue() }
    }
}
