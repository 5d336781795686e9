import DequeModule
import SignalingCore
import SignalingProtocol

/// A session that this node follows. Its steps are in `FollowedSession+….swift`.
///
/// Each step gets the link of the session's Redis and the desk of the log, and leaves its calls and reports there.
struct FollowedSession {
    enum Stage: Equatable {
        /// The engine waits for the session as the log has it. Next: `followed`, `ended`.
        case opening
        /// Next: `ended`.
        case followed
        /// The engine has closed the session, or the session is dropped for a reason, which the engine is told. The last
        /// state.
        case ended(because: String?)
    }

    /// Whether Redis has said, on the present link, that it has the same order as this node.
    enum Standing {
        /// Next: `asked`.
        case unverified
        /// The answer to the opening or the verification is awaited. Next: `verified`, `unverified`.
        case asked
        /// Next: `checking`, `unverified`.
        case verified
        /// Commands go on, and the answer to a check is awaited. Next: `verified`, `asked`, `unverified`.
        case checking
    }

    /// Whether commands may be sent.
    enum Sending {
        case flowing
        /// A call was refused: all commands without a confirmation are sent again, once all answers are there.
        case repeating(at: MonotonicInstant)
    }

    /// What the engine waits for.
    enum CatchUp {
        case unsent
        case sent
        /// The number of the last entry that the log had.
        case until(UInt64)
    }

    /// A snapshot that Redis does not have yet.
    enum Snapshot {
        case none
        case waiting(KeptSnapshot)
        /// `next` replaces it.
        case sent(KeptSnapshot, next: KeptSnapshot?)
    }

    let follow: FollowID
    var stage = Stage.opening
    var standing = Standing.unverified
    var inbox = ChannelInbox()
    var own = OwnCommands()
    var sending = Sending.flowing
    /// The calls of `append` without an answer, on the present link.
    var appendCount = 0
    var catchUps: Deque<CatchUp> = []
    /// Whether a range of entries is awaited.
    var isFilling = false
    var snapshot = Snapshot.none
    /// Commands with erased content that Redis must forget, once the nodes surely have them.
    var erased: (through: UInt64, dueAt: MonotonicInstant)?
    /// The failure of a call because of which Redis looks at the session's keys; `nil` if they seem sound.
    var damage: RedisFailure?
    /// Whether keys that contradict each other were removed while the session was opened.
    var hasDiscarded = false
    /// A generation that was removed while the session was opened. Messages of it may still arrive.
    var removedGeneration: String?
    /// The last time that Redis has told something about the session.
    var heardAt: MonotonicInstant
    /// The last time that Redis has said that it has the same order as this node.
    var verifiedAt: MonotonicInstant
    #if DEBUG
        var checks = InvariantPace()
    #endif

    init(_ follow: FollowID, now: MonotonicInstant) {
        self.follow = follow
        heardAt = now
        verifiedAt = now
    }

    var id: SessionID { follow.session }
    var isFollowed: Bool { stage == .followed }
    var hasEnded: Bool { if case .ended = stage { true } else { false } }

    /// Drops the session. Its clients come back.
    mutating func drop(because reason: String) {
        if !hasEnded { stage = .ended(because: reason) }
    }

    // MARK: - The link

    var isVerified: Bool {
        switch standing {
        case .verified, .checking: true
        case .unverified, .asked: false
        }
    }

    /// Whether an answer about the order is awaited.
    var isAsked: Bool {
        switch standing {
        case .asked, .checking: true
        case .unverified, .verified: false
        }
    }

    mutating func noteAsked() { standing = isVerified ? .checking : .asked }

    mutating func noteAnswered() { standing = isVerified ? .verified : .unverified }

    /// Redis no longer vouches for the order.
    mutating func unvouch() {
        standing = isAsked ? .asked : .unverified
        inbox.forgetWaiting()
    }

    /// The link is lost: no answer will come.
    mutating func interrupt() {
        standing = .unverified
        inbox.forgetWaiting()
        sending = .flowing
        appendCount = 0
        isFilling = false
        damage = nil
        own.sendAgain()
        if case .sent(let snapshot, let next) = snapshot { self.snapshot = .waiting(next ?? snapshot) }
        for index in catchUps.indices {
            if case .sent = catchUps[index] { catchUps[index] = .unsent }
        }
    }

    /// Whether a tick of the log must look at the session.
    var needsAttention: Bool {
        if hasEnded { return false }
        if case .unverified = standing { return true }
        if case .repeating = sending { return true }
        if case .waiting = snapshot { return true }
        if erased != nil { return true }
        return inbox.gapSince != nil || catchUps.contains { if case .unsent = $0 { true } else { false } }
    }

    // MARK: - What is next

    /// Does what is next: open or verify, then append. The session's channel is subscribed.
    mutating func proceed(_ link: inout ShardLink, _ desk: inout LogDesk) {
        if hasEnded { return }
        switch standing {
        case .unverified:
            if stage == .opening || inbox.position == nil {
                if link.isServing { askToOpen(&link, desk: &desk) }
            } else {
                verify(&link, &desk)
            }
        case .asked: return
        case .verified, .checking:
            guard link.isServing else { return }
            askForCatchUps(&link, &desk)
            sendOwn(&link, &desk)
            sendSnapshot(&link, &desk)
            sendErased(&link, &desk)
        }
    }

    /// What a tick does for a session that needs attention.
    mutating func attend(_ link: inout ShardLink, _ desk: inout LogDesk) {
        if let gapSince = inbox.gapSince, desk.now.duration(since: gapSince) >= desk.times.gap { fill(&link, &desk) }
        if case .repeating(let at) = sending, desk.now >= at, appendCount == 0 {
            sending = .flowing
            own.sendAgain()
        }
    }
}
