import SignalingCore
import SignalingProtocol
import SignalingTokens

/// One socket, with the hub's state for it. Confined to the loop.
final class Peer<Socket: HubSocket> {
    let socket: Socket
    @exclusivity(unchecked) var state: ConnectionState
    /// Present while the socket is in a session.
    @exclusivity(unchecked) var subscription: Subscription<Socket>?
    /// For whom the connection counts when it joins; set when its token is verified.
    var joinKey: JoinControl.Key?
    /// By what its token can be revoked; set with ``joinKey``. A newer token replaces it.
    var token: TokenOrigin?
    @exclusivity(unchecked) var refreshes = PendingRefreshes()
    /// Answers for a socket that is in no session: the lines of one text message.
    @exclusivity(unchecked) var unjoinedLines: [UInt8] = []
    /// Whether the socket has unsent bytes. The hub writes nothing more until it has drained.
    @exclusivity(unchecked) var isBacklogged = false
    /// Whether this peer is in the hub's list of peers with something to send.
    @exclusivity(unchecked) var isDirty = false
    /// Received lines that wait to be handled.
    @exclusivity(unchecked) var input = InputQueue()
    /// How many lines the hub may still handle in the turn with this number.
    @exclusivity(unchecked) var lineAllowance = (turn: UInt64(0), count: 0)
    /// When the timing wheel fires for this peer; nil if no alarm is set.
    @exclusivity(unchecked) var alarm: MonotonicInstant?

    init(socket: Socket, state: ConnectionState) {
        self.socket = socket
        self.state = state
    }

    /// The session has answered a request, perhaps one that showed a newer token. A delayed older one changes nothing.
    func noteRefresh(_ request: RequestID?, _ outcome: SessionOutcome) {
        guard let newer = refreshes.remove(request), case .refreshed = outcome, let token else { return }
        if newer.issuedSeconds >= token.issuedSeconds { self.token = newer }
    }

    /// Whether the peer has got everything that the last flush of its room had for its members.
    var isServed: Bool {
        guard let subscription, unjoinedLines.isEmpty else { return false }
        let room = subscription.room
        return subscription.outbox.isServed(through: room.flushedThrough, absences: room.flushedAbsences)
    }

    /// Unsent bytes that this client has caused itself (WIRE-13).
    var waitingByteCount: Int { subscription?.outbox.waitingByteCount ?? unjoinedLines.count }
}
