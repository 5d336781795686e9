/// What happens on a ``SignalChannel``, as the channel's owner hands it on: one at a time, in the session's one order (G1).
public enum SignalChannelEvent: Hashable, Sendable {
    /// The channel has this connection now. An id that it did not have before is a new connection: the seq of what
    /// follows need not continue that of what was before.
    case connected(ConnectionID)
    /// The socket is lost, and the connection may come back.
    case reconnecting
    /// The same connection goes on, and what it missed follows.
    case reconnected
    /// The connection has ended.
    case disconnected
    /// Something that was meant for this client will never come (G4).
    case lost
    /// A signal arrived, one's own broadcasts included.
    case signal(Signal)
    /// Another client joined.
    case connectionCreated(Connection)
    /// Another client left. No event from it follows.
    case connectionDestroyed(Connection)
}
