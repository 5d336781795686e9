/// An event of a ``SignalChannel``. The channel's owner passes events on one at a time, in the session's order (G1).
public enum SignalChannelEvent: Hashable, Sendable {
    /// The channel has this connection now. With a new ID, the seq of later events need not continue that of earlier
    /// ones.
    case connected(ConnectionID)
    /// The socket is lost. The connection may be resumed.
    case reconnecting
    /// The same connection continues. The events that it missed follow.
    case reconnected
    /// The connection has ended.
    case disconnected
    /// At least one event that was meant for this client will never arrive (G4).
    case lost
    /// A signal arrived, this connection's own broadcasts included.
    case signal(Signal)
    /// The page of the session's history that the connect asked for (HIS-5).
    case history(HistoryPage)
    /// A message of the session's history was changed, with the author's connection if it is known (CHG-2). Without a
    /// change it is one that this version does not know.
    case changed(ChangeEvent)
    /// The reactions to messages have changed (CHG-12).
    case reactions(ReactionsEvent)
    /// The channel's own user has these reactions to a message since the event with this seq (CHG-12).
    case reacted(Seq, OwnReactions)
    /// A user has read on (READ-3).
    case read(ReadMarker)
    /// Messages were erased from the session's history (HIS-9). The erasure's own seq, if it is known: earlier messages
    /// are concerned.
    case erased(Erasure, seq: Seq? = nil)
    /// What ``SignalChannel/restriction(at:)`` answers has changed, other than by the clock (MOD-5).
    case restrictionsChanged
    /// Another client joined.
    case connectionCreated(Connection)
    /// Another client left. No event from it follows, except a replayed signal after a reconnect as a new connection.
    case connectionDestroyed(Connection)
}
