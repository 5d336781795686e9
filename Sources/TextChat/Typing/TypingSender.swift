import SignalingProtocol

/// Decides which typing signals leave one connection. What the user does goes in, signals come out; the shell publishes
/// them at once, in their order, and calls ``advance(to:)`` at ``nextDeadline``.
///
/// - The first key announces begin at once; further keys repeat it once per refresh, and only because of a key.
/// - Without keys pause and then finish follow by themselves, if the policy has them.
/// - At most one signal leaves per ``TypingPolicy/Settings/minimumGap``. Wishes inside the gap collapse: what still differs from
///   what was last sent goes out at its end. So a leaver keeps the sender until ``nextDeadline`` is nil.
/// - Nothing is queued: what cannot be published now is never published.
///
/// The signals' number `n` never falls, whatever happens; it starts at 1 after `startingAfter`. Who makes a new sender for
/// a connection that had one hands the number on, since receivers drop what is not newer.
public struct TypingSender: Sendable {
    public let policy: TypingPolicy

    /// The number of the last signal. A chat message carries it, so that receivers know which begins are older than the
    /// message (TYP-5); read it after ``Input/messageSent``.
    public private(set) var lastN: Int64

    private var state = State.finished
    /// What receivers were told last, as far as we know; nil: nothing, or they know of the end otherwise.
    private var announced: Announcement?
    /// What they had been told before, for when the last signal turns out not to have left.
    private var announcedBefore: Announcement?
    /// A key asks for a begin, as soon as the gap allows.
    private var wantsBegin = false
    /// A key came too early for a refresh; used by policies whose refresh trails.
    private var wantsRefresh = false
    private var lastSignalAt: MonotonicInstant?

    private var text = ""
    private var isConnected: Bool
    private var isOptedOut = false
    private var memberCount = 0

    private enum State {
        /// Nothing is written. A key makes it `typing`.
        case finished
        /// Keys come. Becomes `paused` when none has come until then, `finished` when the text is cleared or sent.
        case typing(idleAt: MonotonicInstant?)
        /// Something is written, but no key comes. A key makes it `typing`, time makes it `finished`.
        case paused(finishAt: MonotonicInstant?)
    }

    private struct Announcement {
        var action: TypingAction
        var at: MonotonicInstant
        var n: Int64
    }

    public enum Input: Hashable, Sendable {
        /// What the app says itself, as often as it likes (Layer's `sendTypingIndicator`).
        case action(TypingAction)
        /// The user has changed the text. It counts as a key when it is another text, and one that could be sent: not white
        /// space alone. One that could not be sent ends typing.
        case textDidChange(String)
        /// The program has changed the text: a draft restored, the field cleared. Never a key.
        case textWasSet(String)
        /// The user has sent a message.
        case messageSent
        /// The user has left the room: another screen, another room, the program closed or in the background.
        case left
        case connected
        case disconnected
        /// Signal number `n` did not leave, or nobody knows whether it did. It is not sent again.
        case publishFailed(n: Int64)
        /// The user does not want to be seen, or wants to be again.
        case optedOut(Bool)
        /// Connections in the room, one's own included.
        case memberCount(Int)
    }

    /// `startingAfter` is the last number that this connection has used.
    public init(policy: TypingPolicy = .standard, isConnected: Bool = true, startingAfter lastN: Int64 = 0) {
        self.policy = policy
        self.isConnected = isConnected
        self.lastN = lastN
    }

    /// No signal leaves because of keys.
    public var isSilent: Bool { !isConnected || isOptedOut || isOverCap }

    private var isOverCap: Bool { policy.roomCap.map { memberCount > $0 } ?? false }

    public mutating func handle(_ input: Input, now: MonotonicInstant) -> [TypingSignal] {
        switch input {
        case .connected, .disconnected:
            // Both end what was; a signal that was due has nobody to go to.
            isConnected = input == .connected
            forget()
            return []
        case .action, .textDidChange, .textWasSet, .messageSent, .left, .publishFailed, .optedOut, .memberCount: break
        }
        // What was due before the input comes first: at exactly its moment a pause wins over a key.
        var signals = advance(to: now)
        switch input {
        case .action(.begin): key(now)
        case .action(.pause): pause(now)
        case .action(.finish), .left: finish()
        case .textDidChange(let newText):
            let isSame = newText == text
            text = newText
            if !Self.isSendable(newText) { finish() } else if !isSame { key(now) }
        case .textWasSet(let newText): text = newText
        case .messageSent: messageSent()
        case .connected, .disconnected: break
        case .publishFailed(let n): publishFailed(n)
        case .optedOut(let value):
            isOptedOut = value
            if value { finish() }
        case .memberCount(let count):
            memberCount = count
            // Receivers, who count as well, list nobody any more.
            if isOverCap { forget() }
        }
        signals += due(now)
        return signals
    }

    /// Does what has become due; call it at ``nextDeadline``, or later.
    public mutating func advance(to now: MonotonicInstant) -> [TypingSignal] {
        if case .typing(let idleAt?) = state, idleAt <= now {
            // From the moment it was due, however late the timer: a machine that slept does not pause after waking.
            enterPause(from: idleAt)
        }
        if case .paused(let finishAt?) = state, finishAt <= now { state = .finished }
        if wantsRefresh, case .typing = state, let refreshAt, refreshAt <= now {
            wantsRefresh = false
            wantsBegin = true
        }
        return due(now)
    }

    /// When ``advance(to:)`` has to be called next; nil: not before the next input.
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
        // Only the gap can make a wish wait.
        if wish != nil { add(gapEnd) }
        return deadline
    }

    // MARK: What the inputs do

    private mutating func key(_ now: MonotonicInstant) {
        guard !isSilent else { return }
        state = .typing(idleAt: policy.idleToPause.map { now.advanced(by: $0) })
        if announced?.action == .begin, let refreshAt, now < refreshAt {
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

    private mutating func messageSent() {
        text = ""
        finish()
        // The message says it all, so that the next key begins anew.
        if !policy.finishesWhenMessageSent { announced = nil }
    }

    /// Receivers will know without a signal.
    private mutating func forget() {
        finish()
        announced = nil
    }

    private mutating func publishFailed(_ n: Int64) {
        guard let last = announced, last.n == n else { return }
        switch last.action {
        // The next key tries again. The attempt still counts for the gap, or a server that refuses would be asked at each key.
        case .begin: announced = announcedBefore
        // Receivers let it lapse.
        case .pause, .finish: break
        }
    }

    // MARK: What leaves

    private var refreshAt: MonotonicInstant? { announced?.at.advanced(by: policy.refresh) }

    private var gapEnd: MonotonicInstant? {
        guard let gap = policy.minimumGap else { return nil }
        return lastSignalAt?.advanced(by: gap)
    }

    private mutating func due(_ now: MonotonicInstant) -> [TypingSignal] {
        // Whom receivers have let lapse need not be ended.
        if !mayStillShowUs(now) { announced = nil }
        guard let action = wish else { return [] }
        if let gapEnd, now < gapEnd { return [] }
        lastN += 1
        lastSignalAt = now
        announcedBefore = announced
        announced = Announcement(action: action, at: now, n: lastN)
        wantsBegin = false
        wantsRefresh = false
        return [TypingSignal(action, n: lastN)]
    }

    /// What receivers should be told and do not know.
    private var wish: TypingAction? {
        guard isConnected else { return nil }
        switch (state, announced?.action) {
        case (.typing, _): return wantsBegin ? .begin : nil
        case (.paused, .begin): return .pause
        case (.paused, .pause), (.paused, .finish), (.paused, nil): return nil
        // Where nothing can say so, the refresh goes on counting: deleting and writing again does not send more.
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
