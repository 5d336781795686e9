import DequeModule
import SignalingProtocol

/// All that is kept of a session while no process hosts it, so that nobody loses anything by a restart.
///
/// Secrets are in it as hashes only. What is not kept is either given anew with the first socket that comes (bindings), or
/// follows from the rest, or is the reading server's own to say (bounds).
public struct SessionSnapshot: Sendable {
    /// A connection. Nobody has a socket any more.
    struct Member: Hashable, Sendable {
        /// Has its id, role and data, too.
        let ticket: ResumeTicket
        let creationTime: WallTime
        /// When its socket was lost.
        let lostAt: MonotonicInstant
        let answers: AnswerBook
        // A restart is no way around a limit (SIG-11, SIG-12).
        let signalAllowance: TokenBucket
        let onlineOnlyAllowance: TokenBucket
    }

    let id: SessionID
    let epoch: Epoch
    let lastSeq: Seq
    let lastCreationTime: WallTime
    /// In order of joining.
    var members: [Member]
    var departed: Deque<DepartedTickets.Departed>
    var forceDisconnected: Deque<DepartedTickets.Departed>
    /// The last of them has `lastSeq`; no gap is between them.
    var entries: Deque<LogEntry>

    public var connectionCount: Int { members.count }
}
