import SignalingProtocol

/// An event of a session, in the session's one order (G1).
public enum SessionEvent: Hashable, Sendable {
    /// A signal arrived. The client's own broadcasts arrive, too (SIG-4).
    case signal(Signal)
    /// The page of the session's history that ``Session/Options/history`` asked for (HIS-5). It follows `connect`, and
    /// each reconnect except *resumed*, if the session has a history that this client may read.
    case history(HistoryPage)
    /// A message of the session's history was changed by its author (CHG-2), with its author's connection. Without a
    /// change it is one that this version does not know: ask for the message.
    case changed(ChangeEvent)
    /// The reactions to messages are these now (CHG-12): everybody gets it, at most once a second.
    case reactions(ReactionsEvent)
    /// The client's own user has these reactions to a message, on whichever connection they were chosen (CHG-12).
    case reacted(Seq, OwnReactions)
    /// A user has read on (READ-3). With own markers it is the client's own user.
    case read(ReadMarker)
    /// Messages were erased from the session's history: no page has their content any more (HIS-9). The seq is the
    /// erasure's own: earlier messages are concerned.
    case erased(Erasure, seq: Seq? = nil)
    /// Another client joined. Clients that were there before are in ``Session/connections`` when `connect` returns.
    case connectionCreated(Connection)
    /// Another client left. No signal from it follows, except in the replay after *recovered* or *lost*.
    case connectionDestroyed(Connection, DisconnectReason)
    /// A user is in the session, by the first connection of that user. It follows the ``connectionCreated(_:)`` of that
    /// connection (USR-3). Users who were there before are in ``Session/users`` when `connect` returns.
    case userJoined(SessionUser)
    /// The last connection of a user has left. It follows its ``connectionDestroyed(_:_:)`` and has that connection.
    /// After *recovered* and *lost*, only users of one of the two lists of connections have joined or left.
    case userLeft(SessionUser)
    /// Another client has had no socket for 10 s. It may come back, or leave with ``connectionDestroyed(_:_:)``. Only
    /// with ``Session/Options/connectionAwayEvents`` (PRES-4).
    case connectionAway(Connection)
    /// A client that was away is back.
    case connectionBack(Connection)
    /// A moderator or REST has acted (MOD-6). Only moderators get it. The seq names the restriction in an undo.
    case moderated(ModerationEvent, seq: Seq)
    /// This holds for the client from now on (MOD-5). ``Session/restriction(at:)`` answers what holds at a moment: a
    /// restriction ends without a further event.
    case restricted(Restriction)
    /// A restriction was lifted before its end.
    case unrestricted(Restriction.Kind)
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
    /// The client's own connection has ended. ``Session/connect(token:)`` starts a new one, unless a ban has ended it:
    /// then a connect is refused as long as the ban holds (MOD-3).
    case disconnected(DisconnectReason, ban: Restriction? = nil)
    /// The stream's buffer is full, and the stream ends here without the later events (G4). Use ``Session/events``
    /// again for a new stream.
    case overflowed
}
