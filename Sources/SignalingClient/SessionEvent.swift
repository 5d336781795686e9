import SignalingProtocol

/// What happens in a session, as the application sees it, in the session's one order (G1).
public enum SessionEvent: Hashable, Sendable {
    /// A signal arrived; one's own broadcasts arrive, too (SIG-4).
    case signal(Signal)
    /// Another client joined. Those that were there before are in ``Session/connections`` when `connect` returns.
    case connectionCreated(Connection)
    /// Another client left. No event from it follows.
    case connectionDestroyed(Connection, DisconnectReason)
    /// One's own connection has ended; ``Session/connect(token:)`` starts a new one.
    case disconnected(DisconnectReason)
    /// This stream fell so far behind that its buffer was full, and it ends here: later events were not kept for it
    /// (G4). Ask for ``Session/events`` again to go on from then.
    case overflowed
}

/// A signal as it arrives.
public struct Signal: Hashable, Sendable {
    public var type: String?
    public var data: String?
    /// Who sent it, as the server stamped it (G8); `nil` for a signal that came by REST.
    public var from: Connection?
    /// Its place in the session's order; `nil` for an online-only signal.
    public var seq: Seq?
    /// Meant for this connection alone.
    public var isDirected: Bool

    public init(type: String?, data: String?, from: Connection?, seq: Seq?, isDirected: Bool) {
        self.type = type
        self.data = data
        self.from = from
        self.seq = seq
        self.isDirected = isDirected
    }
}
