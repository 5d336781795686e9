import DequeModule
import SignalingProtocol

/// The saved state of a session while no process hosts it (RES-15).
///
/// Holds the hashes of secrets, never the secrets. Socket bindings are not saved, since every client gets a new socket.
/// Values that follow from others are not saved either, nor are the bounds, which are settings of the next server.
public struct SessionSnapshot: Sendable {
    /// A connection, without a socket.
    struct SavedMember: Hashable, Sendable {
        /// Also holds the connection's ID, role and data.
        let ticket: ResumeTicket
        let creationTime: WallTime
        let suppressesPresence: Bool
        let isToldAbsences: Bool
        /// When its socket was lost.
        let lostAt: MonotonicInstant
        let answers: AnswerBook
        // Saved, so that a restart does not reset a rate limit (SIG-11, SIG-12).
        let signalAllowance: TokenBucket
        let onlineOnlyAllowance: TokenBucket
    }

    let id: SessionID
    let epoch: Epoch
    let lastSeq: Seq
    let lastCreationTime: WallTime
    /// In the order of joining.
    var members: [SavedMember]
    var expiredTickets: Deque<RetainedTickets.Entry>
    var forceDisconnectedTickets: Deque<RetainedTickets.Entry>
    /// Without a gap; the last entry has `lastSeq`.
    var entries: Deque<LogEntry>

    public var connectionCount: Int { members.count }
}
