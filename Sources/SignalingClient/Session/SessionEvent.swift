import SignalingProtocol

/// What happens in a session, as the application sees it, in the session's one order (G1).
public enum SessionEvent: Hashable, Sendable {
    /// A signal arrived; one's own broadcasts arrive, too (SIG-4).
    case signal(Signal)
    /// Another client joined. Those that were there before are in ``Session/connections`` when `connect` returns.
    case connectionCreated(Connection)
    /// Another client left. No event from it follows.
    case connectionDestroyed(Connection, DisconnectReason)
    /// The socket is lost, and the client tries to come back by itself. Signals that are sent meanwhile wait.
    case reconnecting
    /// Back. *resumed*: the same connection, and everything that it missed follows. *recovered*: a new connection, whose
    /// ``Session/connection`` is another; the broadcasts that the old one missed follow. *lost*: a new connection, and
    /// something may be missing (G4). Before the last two come the changes in who is connected.
    case reconnected(Welcome.Outcome)
    /// One's own connection has ended; ``Session/connect(token:)`` starts a new one.
    case disconnected(DisconnectReason)
    /// This stream fell so far behind that its buffer was full, and it ends here: later events were not kept for it
    /// (G4). Ask for ``Session/events`` again to go on from then.
    case overflowed
}
