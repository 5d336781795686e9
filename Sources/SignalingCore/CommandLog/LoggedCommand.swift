import SignalingProtocol

/// A command as it stands in the log of a session.
public enum LoggedCommand: Sendable {
    /// The first entry: the session's epoch and limits (LOG-6, LOG-12). Does nothing in a session that exists.
    case begin(Epoch, SessionState.Bounds)
    case session(SessionCommand)
    /// Carries out what is due at the entry's time.
    case advance
    case changeLimits(SessionState.Bounds)
    /// The process that had the sockets was lost at this time of the log (LOG-13).
    case nodeLost(at: MonotonicInstant)
    /// Webhook events up to this command number have been delivered, or dropped (LOG-11).
    case told(through: UInt64)
    /// The session is over (LOG-10). Does nothing in a session that is still needed.
    case end
}
