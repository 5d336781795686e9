import SignalingProtocol

/// Decides which typing signals one connection sends. Inputs go in, signals come out. The caller publishes them at
/// once, in their order, and calls ``advance(to:)`` at ``nextDeadline``.
///
/// - The first key announces begin at once. Further keys repeat it once per refresh; nothing else does.
/// - Without keys the sender sends pause and then finish, if the policy has them.
/// - At most one signal is sent per ``TypingPolicy/Settings/minimumGap``. Changes inside the gap are coalesced: at its
///   end the sender sends what still differs from the last signal. So keep the sender of a left room until
///   ``nextDeadline`` is nil.
/// - Nothing is queued: a signal that cannot be published now is never published.
/// - With a recipient every signal is directed to that connection, and the policy's room cap does not apply.
///
/// The number `n` of the signals only increases; it starts at 1 after `startingAfter`. A new sender for the same
/// connection must continue with the old one's number, since receivers drop a signal whose number is not higher.
public struct TypingSender: Sendable {
    public private(set) var policy: TypingPolicy

    /// The number of the last signal. A chat message carries it, so that receivers know which begins are older than the
    /// message (TYP-5). Read it after ``TypingInput/messageSubmitted``.
    public private(set) var lastN: Int64

    private var state = State.finished
    /// The last signal that receivers may still show; nil: none.
    private var announced: Announcement?
    /// The announcement before it, in case the last signal was not sent.
    private var announcedBefore: Announcement?
    /// A key asks for a begin as soon as the gap allows one.
    private var wantsBegin = false
    /// A key came too early for a refresh, and the policy's refresh trails.
    private var wantsRefresh = false
    private var lastSignalAt: MonotonicInstant?

    private var draft = ""
    private var isConnected: Bool
    private var isOptedOut = false
    private var isRestricted = false
    private var memberCount = 0
    private var recipient: ConnectionID?

    private enum State {
        /// Nothing is written. A key leads to `typing`.
        case finished
        /// The user types. Without a key until `idleAt`: `paused`. The draft is cleared or sent: `finished`.
        case typing(idleAt: MonotonicInstant?)
        /// A draft, but no key for a while. A key: `typing`. At `finishAt`: `finished`.
        case paused(finishAt: MonotonicInstant?)
    }

    private struct Announcement {
        var action: TypingAction
        var at: MonotonicInstant
        var n: Int64
        /// The connection to which it was directed; nil: all.
        var to: ConnectionID?
    }

    /// `startingAfter` is the last number that this connection has used.
    public init(policy: TypingPolicy = .standard, isConnected: Bool = true, startingAfter lastN: Int64 = 0) {
        self.policy = policy
        self.isConnected = isConnected
        self.lastN = lastN
    }

    /// Whether keys send nothing.
    public var isSilent: Bool { !isConnected || isOptedOut || isRestricted || isOverCap }

    /// A directed signal costs the same in a room of any size.
    private var isOverCap: Bool { recipient == nil && (policy.roomCap.map { memberCount > $0 } ?? false) }

    /// Changes the policy after ``TypingInput/leave``. A finish that the old policy's gap delayed is sent at the end of
    /// the new one's.
    mutating func setPolicy(_ policy: TypingPolicy, now: MonotonicInstant) -> [TypingSignal] {
        self.policy = policy
        if isOverCap { forget() }
        return due(now)
    }

    public mutating func handle(_ input: TypingInput, now: MonotonicInstant) -> [TypingSignal] {
        switch input {
        case .connected: return startOver(isConnected: true)
        case .reconnecting, .disconnected, .connectionLost: return startOver(isConnected: false)
        case .draftEdited, .draftSet, .send, .messageSubmitted, .leave, .optedOut, .restricted, .memberCount,
            .recipient, .publishFailed, .blockedUsers, .signal, .messageReceived, .connectionDestroyed:
            // Deadlines before the input come first: at its exact moment a pause wins over a key.
            var signals = advance(to: now)
            apply(input, now)
            signals += due(now)
            return signals
        }
    }

    /// Performs everything that is due. Call it at ``nextDeadline`` or later.
    public mutating func advance(to now: MonotonicInstant) -> [TypingSignal] {
        if case .typing(let idleAt?) = state, idleAt <= now {
            // Counted from the due moment, however late the timer: a machine that slept does not pause after waking.
            enterPause(from: idleAt)
        }
        if case .paused(let finishAt?) = state, finishAt <= now { state = .finished }
        if wantsRefresh, case .typing = state, let refreshAt, refreshAt <= now {
            wantsRefresh = false
            wantsBegin = true
        }
        return due(now)
    }

    /// When to call ``advance(to:)`` next; nil: not before the next input.
    public var nextDeadline: MonotonicInstant? {
        var deadline: MonotonicInstant?
        func add(_ moment: MonotonicInstant?) {
            if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
        }
        switch state {
        case .finished: break
        case .typing(let idleAt):
            add(idleAt)
            if wantsRefresh { add(refreshAt) }
        case .paused(let finishAt): add(finishAt)
        }
        // Only the gap delays a pending action.
        if pendingAction != nil { add(gapEnd) }
        return deadline
    }

    // MARK: Inputs

    private mutating func apply(_ input: TypingInput, _ now: MonotonicInstant) {
        switch input {
        case .draftEdited(let text):
            let isSame = text == draft
            draft = text
            if !Self.isSendable(text) { finish() } else if !isSame { key(now) }
        case .draftSet(let text): draft = text
        case .send(.begin): key(now)
        case .send(.pause): pause(now)
        case .send(.finish), .leave: finish()
        case .messageSubmitted:
            draft = ""
            finish()
            // The message ends typing for receivers, so the next key announces begin again.
            if !policy.finishesWhenMessageSent { announced = nil }
        case .optedOut(let value):
            isOptedOut = value
            if value { finish() }
        case .restricted(let value):
            isRestricted = value
            // The server would refuse a finish, too: receivers let the begin expire.
            if value { forget() }
        case .memberCount(let count):
            memberCount = count
            // Receivers count members, too, and show no typing above the cap.
            if isOverCap { forget() }
        case .recipient(let id): direct(to: id)
        case .publishFailed(let n): publishFailed(n)
        case .connected, .reconnecting, .disconnected, .connectionLost, .blockedUsers, .signal, .messageReceived,
            .connectionDestroyed:
            break
        }
    }

    /// Forgets signals that were due: they have no receiver any more.
    private mutating func startOver(isConnected: Bool) -> [TypingSignal] {
        self.isConnected = isConnected
        forget()
        return []
    }

    private mutating func direct(to id: ConnectionID?) {
        guard recipient != id else { return }
        recipient = id
        finish()
        // This form has no finish: the previous receivers let the begin expire.
        if policy.wireForm == .beginOnly { announced = nil }
        if isOverCap, announced?.to == nil { forget() }
    }

    private mutating func key(_ now: MonotonicInstant) {
        guard !isSilent else { return }
        state = .typing(idleAt: policy.idleToPause.map { now.advanced(by: $0) })
        if announced?.action == .begin, !isForOthers, let refreshAt, now < refreshAt {
            wantsRefresh = policy.refreshTrails
        } else {
            wantsBegin = true
        }
    }

    private mutating func pause(_ now: MonotonicInstant) {
        guard policy.wireForm == .actions, !isSilent else { return }
        switch state {
        case .finished: break
        case .typing, .paused: enterPause(from: now)
        }
    }

    private mutating func enterPause(from moment: MonotonicInstant) {
        state = .paused(finishAt: policy.pauseToFinish.map { moment.advanced(by: $0) })
        wantsBegin = false
        wantsRefresh = false
    }

    private mutating func finish() {
        state = .finished
        wantsBegin = false
        wantsRefresh = false
    }

    /// Receivers forget this connection without a signal.
    private mutating func forget() {
        finish()
        announced = nil
    }

    private mutating func publishFailed(_ n: Int64) {
        guard let last = announced, last.n == n else { return }
        switch last.action {
        // The next key tries again. The attempt still counts for the gap, so that a server which refuses is not asked
        // at each key.
        case .begin: announced = announcedBefore
        // Receivers let it expire.
        case .pause, .finish: break
        }
    }

    // MARK: Signals

    private var refreshAt: MonotonicInstant? { announced?.at.advanced(by: policy.refresh) }

    private var gapEnd: MonotonicInstant? {
        guard let gap = policy.minimumGap else { return nil }
        return lastSignalAt?.advanced(by: gap)
    }

    private mutating func due(_ now: MonotonicInstant) -> [TypingSignal] {
        // Receivers have already expired this announcement, so it needs no finish.
        if !mayStillShowUs(now) { announced = nil }
        guard let action = pendingAction else { return [] }
        if let gapEnd, now < gapEnd { return [] }
        let to = isForOthers ? announced?.to : recipient
        // A key that came since the change of the recipient still asks for its begin.
        if !isForOthers {
            wantsBegin = false
            wantsRefresh = false
        }
        lastN += 1
        lastSignalAt = now
        announcedBefore = announced
        announced = Announcement(action: action, at: now, n: lastN, to: to)
        return [TypingSignal(action, n: lastN, to: to)]
    }

    /// Whether the announcement is known to receivers that no longer get the signals.
    private var isForOthers: Bool {
        guard let announced else { return false }
        switch announced.action {
        case .begin, .pause: return announced.to != recipient
        case .finish: return false
        }
    }

    /// The action that receivers do not know yet.
    private var pendingAction: TypingAction? {
        guard isConnected else { return nil }
        if isForOthers { return .finish }
        switch (state, announced?.action) {
        case (.typing, _): return wantsBegin ? .begin : nil
        case (.paused, .begin): return .pause
        case (.paused, .pause), (.paused, .finish), (.paused, nil): return nil
        // A form without finish keeps counting the refresh, so that deleting and writing again does not send more.
        case (.finished, .begin), (.finished, .pause): return policy.wireForm == .actions ? .finish : nil
        case (.finished, .finish), (.finished, nil): return nil
        }
    }

    private func mayStillShowUs(_ now: MonotonicInstant) -> Bool {
        guard let announced else { return false }
        switch announced.action {
        case .begin: return now < announced.at.advanced(by: policy.beginExpiry)
        case .pause: return now < announced.at.advanced(by: policy.pauseExpiry)
        case .finish: return false
        }
    }

    private static func isSendable(_ text: String) -> Bool {
        !text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}
