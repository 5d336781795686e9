import SignalingCore
import SignalingProtocol

/// What the hub keeps of one socket. Confined to the loop.
final class Peer<Socket: HubSocket> {
    let socket: Socket
    var state: ConnectionState
    /// Present while the socket is in a session.
    var subscription: Subscription<Socket>?
    /// Answers for a socket that is in no session: the lines of one text message.
    var unjoinedLines: [UInt8] = []
    /// The socket has unsent bytes. Nothing is written until it has drained.
    var isBacklogged = false
    /// Whether the hub's list of peers with something to send has this one.
    var isDirty = false
    /// Lines that were received and not handled yet.
    var input = InputQueue()
    /// Lines that may still be handled in the turn with this number.
    var lineAllowance = (turn: UInt64(0), count: 0)
    /// When the timing wheel comes back to this peer, if it does.
    var alarm: MonotonicInstant?

    init(socket: Socket, state: ConnectionState) {
        self.socket = socket
        self.state = state
    }

    /// Unsent bytes that this client has caused itself (WIRE-13).
    var waitingByteCount: Int { subscription?.outbox.waitingByteCount ?? unjoinedLines.count }
}
