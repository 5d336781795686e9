import SignalingProtocol

/// A command as it stands in the log of a session.
public enum LoggedCommand: Sendable {
    /// The first entry: the session's epoch and limits (LOG-6, LOG-12), and the seq above which its events begin: zero
    /// unless there is a history of an order that was lost (HIS-3). Does nothing in a session that exists.
    case begin(Epoch, SessionState.Bounds, after: Seq)
    case session(SessionCommand)
    /// Carries out what is due at the entry's time.
    case advance
    case changeLimits(SessionState.Bounds)
    /// A node that had sockets was lost at this time of the log (LOG-13, LOG-32); `nil` for every node.
    case nodeLost(RunID?, at: MonotonicInstant)
    /// Webhook events up to this command number have been delivered, or dropped (LOG-11).
    case told(through: UInt64)
    /// The archive has the kept signals and the erasures up to this seq.
    case archived(through: Seq)
    /// Users have read on: the markers that clients of one node have set within a second (LOG-17).
    case marked([ReadMarker])
    /// The session is over (LOG-10), or sleeps if it has a history (HIS-3). Does nothing in a session that is still
    /// needed.
    case end

    /// Whether the command, unless it is refused, takes content away that the commands before it may have (HIS-9).
    func mayErase(_ state: SessionState?) -> Bool {
        switch self {
        case .session(.erase(_, let erasure)): state?.mayHaveContent(of: erasure) ?? false
        case .session(.moderate(_, .ban(_, _, erasesMessages: true), _)): state?.keepsMessages ?? false
        case .session, .begin, .advance, .changeLimits, .nodeLost, .told, .archived, .marked, .end: false
        }
    }

    /// Whether the command shortens the session, or lets a moderator act against those who fill it: a log without memory
    /// for others must take it, or it stays full (LOG-36).
    var freesMemory: Bool {
        switch self {
        case .session(.leave), .session(.detach), .session(.forceDisconnect), .session(.moderate), .advance, .nodeLost,
            .told, .archived, .end:
            true
        case .session, .begin, .changeLimits, .marked: false
        }
    }
}
