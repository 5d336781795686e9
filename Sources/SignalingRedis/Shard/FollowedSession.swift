import DequeModule
import SignalingCore
import SignalingProtocol

/// A session that this node follows. A session that is opened again is a new object, so late replies find the old one.
final class FollowedSession {
    enum Phase {
        /// The engine waits for `log(opened:)`. Next: `followed`, `ended`.
        case opening
        /// Next: `ended`.
        case followed
        /// Closed, dropped or opened again. The last state.
        case ended
    }

    /// What the engine waits for with `log(caughtUp:)`.
    enum CatchUp {
        case unsent
        case sent
        /// The number of the last entry that the log had.
        case until(UInt64)
    }

    let id: SessionID
    let key: String
    var phase = Phase.opening
    var feed = SessionFeed()
    var own = OwnCommands()

    // On the present link:

    /// Whether Redis has said that it has the same order as this node.
    var isVerified = false
    /// Whether the reply to the opening or the verification is awaited.
    var isAsked = false
    /// Whether a range of entries is awaited.
    var isFilling = false
    /// The calls of `append` without a reply.
    var appendCount = 0
    /// Set when a call was refused: all commands without a confirmation are sent again, once all replies are there.
    var sendsAgainAt: MonotonicInstant?
    var catchUps: Deque<CatchUp> = []

    /// A snapshot that Redis does not have yet.
    var snapshot: (position: LogPosition, bytes: [UInt8])?
    var isKeeping = false
    /// A generation that was removed while the session was opened.
    var removedGeneration: String?
    /// The last time that Redis has told something about the session.
    var heardAt: MonotonicInstant
    /// The last time that Redis has said that it has the same order as this node.
    var verifiedAt: MonotonicInstant

    init(id: SessionID, now: MonotonicInstant) {
        self.id = id
        key = "sb:{\(id.rawValue)}"
        heardAt = now
        verifiedAt = now
    }

    /// A generation was removed: what has arrived of it is worth nothing.
    func forget(generation: String) {
        removedGeneration = generation
        if feed.generation == generation { feed = SessionFeed() }
    }

    /// The link is lost: no reply will come.
    func interrupt() {
        isVerified = false
        isAsked = false
        isFilling = false
        appendCount = 0
        sendsAgainAt = nil
        isKeeping = false
        own.sendAgain()
        for index in catchUps.indices {
            if case .sent = catchUps[index] { catchUps[index] = .unsent }
        }
    }

    /// Whether a tick of the log must look at the session.
    var needsAttention: Bool {
        feed.gapSince != nil || sendsAgainAt != nil || (!isVerified && !isAsked) || snapshot != nil
            || catchUps.contains { if case .unsent = $0 { true } else { false } }
    }
}
