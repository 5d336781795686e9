import SignalingProtocol

/// An event of a session, in the session's one order (G1).
public enum SessionEvent: Hashable, Sendable {
    /// A signal arrived. The client's own broadcasts arrive, too (SIG-4).
    case signal(Signal)
    /// The page of the session's history that ``Session/Options/history`` asked for (HIS-5). It follows `connect`, and
    /// each reconnect except *resumed*, if the session has a history that this client may read.
    case history(HistoryPage)
    /// Messages were erased from the session's history: no page has their content any more (HIS-9).
    case erased(Erasure)
    /// Another client joined. Clients that were there before are in ``Session/connections`` when `connect` returns.
    case connectionCreated(Connection)
    /// Another client left. No signal from it follows, except in the replay after *recovered* or *lost*.
    case connectionDestroyed(Connection, DisconnectReason)
    /// Another client has had no socket for 10 s. It may come back, or leave with ``connectionDestroyed(_:_:)``. Only
    /// with ``Session/Options/connectionAwayEvents`` (PRES-4).
    case connectionAway(Connection)
    /// A client that was away is back.
    case connectionBack(Connection)
    /// The socket is lost, and the client reconnects by itself. Signals that are sent meanwhile wait. Online-only ones,
    /// and those with `retryAfterReconnect` false, fail with 500.
    case reconnecting
    /// The client is connected again. *resumed*: the same connection; the missed events follow. *recovered*: a new
    /// ``Session/connection``; the missed broadcasts follow. *lost*: a new connection, and events may be missing (G4).
    /// Presence events for the changes come before *recovered* and *lost*.
    ///
    /// `missing` comes only with *lost*, if the server knows which events its log no longer has (RES-16): the client
    /// has everything before them, and the broadcasts after them follow.
    case reconnected(Welcome.Outcome, missing: MissingEvents? = nil)
    /// The client's own connection has ended. ``Session/connect(token:)`` starts a new one.
    case disconnected(DisconnectReason)
    /// The stream's buffer is full, and the stream ends here without the later events (G4). Use ``Session/events``
    /// again for a new stream.
    case overflowed
}
