import SignalingCore
import SignalingProtocol
import SignalingTransport

/// All that the hub keeps of one socket. Confined to the loop.
final class Peer {
    let socket: ServerSocket
    var state: ConnectionState
    /// Its place in a session, once it is in one.
    var member: Member?
    /// Answers for a socket that is in no session; the lines of one text message.
    var loneLines: [UInt8] = []
    /// The socket took what it was given but no more: nothing is written until it has drained.
    var isBacklogged = false
    /// Whether it stands in the hub's list of sockets with something to send.
    var isDirty = false
    /// Lines that were received and wait for their turn.
    var held = InputQueue()
    /// Lines that may still be handled in the turn with that number.
    var lineAllowance = (turn: UInt64(0), count: 0)

    /// Bytes that wait to be sent on its own account.
    var waitingByteCount: Int { member?.outbox.waitingByteCount ?? loneLines.count }
    /// When the wheel will come back to it, if it will.
    var alarm: MonotonicInstant?

    init(socket: ServerSocket, now: MonotonicInstant, heartbeat: Duration) {
        self.socket = socket
        state = ConnectionState(openedAt: now, heartbeat: heartbeat)
    }
}
