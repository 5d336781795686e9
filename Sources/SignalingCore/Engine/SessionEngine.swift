import SignalingProtocol

/// The port between nodes: whatever keeps the order of sessions.
///
/// In one process it is ``MemoryEngine``; behind several nodes it may be a store that they share. What every engine
/// promises, and what its contract tests check:
///
/// - *Order.* Commands of one caller to one session take effect in the order in which they were submitted, and are
///   answered in that order. All nodes see the same order of events (G1).
/// - *Truth.* `.signalled(seq)` is answered only when the event has its seq and is in the log (G2). A refused command
///   has changed nothing.
/// - *Log first.* When the observer hears `sessionChanged` or an answer, `withLog` already shows the events.
/// - *One thread.* `submit` is called on one thread, and the observer is called on that same thread: at once, from within
///   `submit`, or later. Callers must be ready for both.
/// - *Presence.* The observer hears each ``PresenceEvent`` once, in the order of the log, among the effects.
/// - *Epoch.* A session's epoch stays the same as long as its order is not lost.
/// - *Time.* What only time brings about (a connection that does not come back in time) happens in `advance`, or in a
///   command that comes later than it was due.
public protocol SessionEngine: AnyObject {
    var observer: (any SessionEngineObserver)? { get set }

    /// Gives a command to a session. Its outcome comes to the observer with the same ticket.
    ///
    /// A `join` makes the session if there is none. Other commands for a session without connections are refused.
    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant)

    /// Who is connected, on all nodes, by creation time; empty for a session that nobody is in.
    func connections(of session: SessionID) -> [Connection]

    /// This node's copy of a session's log, as long as somebody is in it or may come back, and until the next `advance`.
    func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result?

    /// When `advance` has to be called at the latest.
    var nextDeadline: MonotonicInstant? { get }

    /// Carries out what is due, and lets go of sessions that nobody needs any more. To be called when what the logs hold has
    /// been handed to the sockets.
    func advance(to now: MonotonicInstant)

    /// This node stops: whoever is connected to it is not any more. The observer hears of that as presence; nothing is
    /// appended to a log, since nobody is left to read it.
    func endSessions()
}

/// What an engine reports.
public protocol SessionEngineObserver: AnyObject {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome)
    /// The log of a session has grown.
    func engine(sessionChanged session: SessionID)
    func engine(_ session: SessionID, caused effect: SessionEffect)
}

/// Names a command, so that its answer finds back to who gave it.
public struct CommandTicket: Hashable, Sendable {
    /// Who asked, in the caller's own numbering.
    public let origin: UInt64
    /// Which of its requests this was; `nil` when nobody waits for the answer.
    public let request: RequestID?

    public init(origin: UInt64, request: RequestID?) {
        self.origin = origin
        self.request = request
    }
}
