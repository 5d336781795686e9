import SignalingProtocol

/// The port to the component that keeps the order of sessions.
///
/// In one process that is ``MemoryEngine``, or ``LocalEngine`` over a log. Several nodes have a ``ClusterEngine`` each over
/// a shared log. Every engine gives the following guarantees, which the contract tests check:
///
/// - *Order.* Commands of one caller to one session take effect in the order of submission, and are answered in that
///   order. All nodes see the same order of events (G1).
/// - *Truth.* The answer `.signalled(seq)` means that the event has this seq and is in the log (G2). A refused command
///   changes nothing.
/// - *Log first.* When the observer gets `sessionChanged` or an answer, `withLog` already shows the events.
/// - *One thread.* The caller calls `submit` on one thread. The engine calls the observer on the same thread, from
///   within `submit` or later. Callers must be ready for both.
/// - *Presence.* The observer gets each ``PresenceEvent`` once, in the order of the log, among the effects.
/// - *Epoch.* A session keeps its epoch until its order is lost.
/// - *Time.* A connection expires in `advance`, or in a command after its deadline.
public protocol SessionEngine: AnyObject {
    var observer: (any SessionEngineObserver)? { get set }

    /// Submits a command to a session. The observer gets the outcome with the same ticket.
    ///
    /// A `join` creates the session if necessary. Other commands to a session without connections are refused.
    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant)

    /// Passes on the connections of a session, on all nodes, by creation time; none for an unknown session, and
    /// `nil` for one that the engine cannot read. An engine may call `answer` later.
    func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void)

    /// Passes on the streams of a session (STR-2), in the way of the connections.
    func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void)

    /// Whether so many commands wait for an answer that the caller must not submit more on behalf of clients until some
    /// are answered (LOG-22). The ends of sockets pass.
    var isSaturated: Bool { get }

    /// The session on this node. Returns `nil` once no client is in the session or may come back, from the next `advance`
    /// on.
    func hosted(_ session: SessionID) -> HostedSession?

    /// The latest moment for the next call of `advance`; `nil` when nothing is due.
    var nextDeadline: MonotonicInstant? { get }

    /// Carries out everything that is due, and deletes sessions that are no longer needed.
    ///
    /// Call it after the events in the logs have been handed to the sockets.
    func advance(to now: MonotonicInstant)

    /// The observers outside of a session have been told of an event, or will never be (LOG-11).
    func noteTold(_ event: KeptPresenceEvent, of session: SessionID)

    /// Replaces the numbers of connections, the rates and the kept types of all sessions, and of those that begin later.
    /// The bounds of logs and the windows stay as they are.
    func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant)

    /// Whether a session keeps a history, or would if it began.
    func keepsHistory(_ session: SessionID) -> Bool

    /// Reads a page of a session's history: of what the archive has, and of what it has not confirmed (HIS-4). A message
    /// that was acknowledged before the call is in its page, and content that was erased before the answer is not (HIS-9).
    /// An engine may call `answer` later, and answers to several reads in any order.
    ///
    /// - Parameter isAnswered: called before the archive is asked, when the engine knows everything that any node has
    ///   confirmed (LOG-35). It gets the mark of the history, which changes with each kept signal and each erasure; `nil`
    ///   if the engine does not host the session. If it returns true, the caller has the page already, and `answer` is not
    ///   called.
    func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void)

    /// Passes on what holds in a session, and what moderators and REST have done (MOD-7). An engine may call `answer` later.
    func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void)

    /// Trims the archive, and ends sleeping sessions whose history is empty and whose restrictions have ended (HIS-2, HIS-3,
    /// MOD-9). Call it about once a minute.
    func sweepHistory(now: WallTime)

    /// The node stops. Connections and sessions that do not outlive it end now, and the observer gets the presence
    /// events. If other nodes continue the sessions, they learn that this node's connections have lost their sockets.
    /// Call `advance` afterwards, and then nothing more.
    func endSessions()
}

/// The answer to ``SessionEngine/readModeration(of:now:answer:)``.
public enum ModerationReading: Hashable, Sendable {
    case report(ModerationReport)
    /// Nobody has joined the session, or it has ended.
    case absent
    /// The engine cannot read the session at present.
    case unavailable

    init(_ state: SessionState?, at time: MonotonicInstant) {
        self = state?.moderationReport(at: time).map { .report($0) } ?? .absent
    }
}

extension SessionEngine {
    public func readHistory(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        readHistory(request, of: session, unless: { _ in false }, answer: answer)
    }

    /// Reads this node's copy of a session's log; returns `nil` where ``hosted(_:)`` does.
    public func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        guard let log = hosted(session)?.log else { return nil }
        return body(log)
    }
}

/// The receiver of an engine's answers and effects.
public protocol SessionEngineObserver: AnyObject {
    /// The engine has carried out or refused a command.
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome)
    /// The log of a session has grown, or its absences have changed.
    func engine(sessionChanged session: SessionID)
    /// A session caused an effect.
    func engine(_ session: SessionID, caused effect: SessionEffect)
    /// The engine loses its copy of a session, which had clients on this node. Disconnect them, without a command to the
    /// session: they are to come back, and then they learn whether the session goes on. During this call `withLog` still
    /// shows the events that they have to get before, and then no longer.
    func engine(lost session: SessionID)
}

/// The name of a command, by which its sender recognizes the answer.
public struct CommandTicket: Hashable, Sendable {
    /// The sender, in the caller's own numbering.
    public let origin: UInt64
    /// The sender's request; `nil` when it waits for no answer.
    public let request: RequestID?

    public init(origin: UInt64, request: RequestID?) {
        self.origin = origin
        self.request = request
    }
}
