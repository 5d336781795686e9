/// A message from the server to a client: one line of a text message (`docs/PROTOCOL.md`, sections 4 to 9).
public enum ServerMessage: Hashable, Sendable {
    /// The answer to a successful connect. Indirect, so that the common messages are small.
    indirect case connected(RequestID, Welcome)
    /// More connections of the session; the last number says how many follow in later pages (CON-11).
    case connections([Connection], rest: Int)
    /// The server has carried out the request. The seq of a signal is in the session's log (G2). No seq for an
    /// online-only signal and for other requests.
    case ack(RequestID, Seq?)
    /// The server refused the request, which changed nothing. No ID for a line without a readable one.
    case error(RequestID?, SignalingError)
    case signal(SignalEvent)
    /// A page of the session's history. It may come before the answers to earlier requests (WIRE-8).
    case history(RequestID, HistoryAnswer)
    /// A message of the session's history was changed (CHG-2).
    indirect case change(ChangeEvent)
    /// The reactions to messages have changed (CHG-12).
    case reactions(ReactionsEvent)
    /// The client's user has these reactions to a message from now on (CHG-12).
    case reacted(Seq, OwnReactions)
    /// Who has reacted to a message (CHG-14).
    case reactors(RequestID, Seq, [Reactors])
    /// A user has read on (READ-3).
    case read(ReadMarker)
    /// Messages were erased from the session's history (HIS-9).
    case erased(Seq, Erasure)
    /// Another client joined the session.
    case connectionCreated(Seq, Connection)
    /// Another client left the session.
    case connectionDestroyed(Seq, ConnectionID, DisconnectReason)
    /// Another connection has had no socket for a while (PRES-4).
    case connectionAway(ConnectionID)
    /// A connection that was away has a socket again (PRES-4).
    case connectionBack(ConnectionID)
    /// A moderator or REST has acted. For moderators (MOD-6).
    indirect case moderated(Seq, ModerationEvent)
    /// This restriction holds for the client from now on (MOD-5).
    indirect case restricted(Seq, Restriction)
    /// A restriction of this kind was lifted (MOD-5).
    case unrestricted(Seq, Restriction.Kind)
    /// The restrictions that hold, for a moderator who has asked (MOD-6).
    case restrictions(RequestID, [RestrictionRecord])
    /// The server closes this socket; a close frame follows (LEAVE-4). A ban is the reason why it ended, if there is one
    /// (MOD-3).
    indirect case disconnected(DisconnectReason, Reconnect, ban: Restriction? = nil)
    /// The server has sent all events up to this seq that are meant for this client (HB-2).
    case ping(Seq)
}

/// Whether a disconnected client should reconnect, and when.
public enum Reconnect: Hashable, Sendable {
    case never
    /// Reconnect as after any lost socket.
    case yes
    /// Reconnect after this time; whole milliseconds (RES-13).
    case after(Duration)
}
