import SignalingProtocol

/// Typing in one room, in both directions: the signals of this connection, and which other users type.
///
/// A value without a clock: inputs and `now` go in, effects come out. It passes each input to a ``TypingSender`` and a
/// ``TypingRoster``, and keeps everything that outlives a change of the policy. The caller performs the effects in
/// their order, sends each signal at once, reports those that failed, and calls ``advance(to:)`` at ``nextDeadline``.
/// `now` comes from a monotonic clock that goes on while the machine sleeps.
public struct TypingIndicator: Sendable {
    public private(set) var policy: TypingPolicy

    /// Whether typing runs. If not, it records inputs, but sends nothing and shows no user.
    public private(set) var isRunning: Bool

    /// The user's own connection while it is up.
    public private(set) var connection: ConnectionID?
    /// The user of that connection; nil for a guest.
    private var user: UserID?

    private var sender: TypingSender
    private var roster: TypingRoster
    private var draft = ""
    private var memberCount = 0
    /// The only connection that gets the signals; nil: all.
    private(set) var recipient: ConnectionID?
    private var isOptedOut = false
    private var isRestricted = false
    private var blockedUsers: Set<String> = []

    public enum Effect: Hashable, Sendable {
        /// Publish this signal, online-only. If that fails, report `n` with ``TypingInput/publishFailed(n:)``.
        case send(SignalRequest, n: Int64)
        /// Other users are shown as typing or paused now.
        case changed(TypingSnapshot)
    }

    /// - Parameters:
    ///   - policy: the intervals and flags.
    ///   - connection: the user's own, if it is up already.
    ///   - isRunning: false: until ``start(now:)`` inputs are only noted.
    ///   - lastN: the last number that this connection has used; see ``TypingSender``.
    public init(
        policy: TypingPolicy = .standard, connection: ConnectionID? = nil, isRunning: Bool = true,
        startingAfter lastN: Int64 = 0
    ) {
        self.policy = policy
        self.connection = connection
        self.isRunning = isRunning
        sender = TypingSender(policy: policy, isConnected: connection != nil, startingAfter: lastN)
        roster = TypingRoster(policy: policy, ownConnection: connection)
    }

    /// The users who type now.
    public var current: TypingSnapshot { roster.current }

    /// The number that the next chat message carries; read it after ``TypingInput/messageSubmitted`` (TYP-5). Nil while
    /// typing does not run.
    public var typingN: Int64? { isRunning ? sender.lastN : nil }

    /// When to call ``advance(to:)`` next; nil: not before the next input.
    public var nextDeadline: MonotonicInstant? {
        guard isRunning else { return nil }
        guard let first = sender.nextDeadline else { return roster.nextDeadline }
        return roster.nextDeadline.map { min($0, first) } ?? first
    }

    public mutating func handle(_ input: TypingInput, now: MonotonicInstant) -> [Effect] {
        note(input)
        guard isRunning else { return [] }
        return effects(sender.handle(input, now: now), roster.handle(input, now: now))
    }

    /// Performs everything that is due.
    public mutating func advance(to now: MonotonicInstant) -> [Effect] {
        guard isRunning else { return [] }
        return effects(sender.advance(to: now), roster.advance(to: now))
    }

    /// Starts with what was noted before. Numbers continue (TYP-3).
    public mutating func start(now: MonotonicInstant) {
        isRunning = true
        makeParts(now)
    }

    /// Stops typing until the next start: no user is shown any more, and nothing is sent.
    public mutating func stop(now: MonotonicInstant) -> [Effect] {
        guard isRunning else { return [] }
        let effects = effects(sender.handle(.disconnected, now: now), roster.handle(.disconnected, now: now))
        isRunning = false
        return effects
    }

    /// Changes the policy. An announced begin is finished, and numbers continue (TYP-3). Other users are forgotten
    /// until their next signal.
    public mutating func setPolicy(_ policy: TypingPolicy, now: MonotonicInstant) -> [Effect] {
        guard isRunning else {
            self.policy = policy
            return []
        }
        let farewell = handle(.leave, now: now)
        let wasShown = current != .nobody
        self.policy = policy
        let delayed = effects(sender.setPolicy(policy, now: now), nil)
        makeRoster(now)
        return farewell + delayed + (wasShown ? [.changed(.nobody)] : [])
    }

    private mutating func note(_ input: TypingInput) {
        switch input {
        case .draftEdited(let text), .draftSet(let text): draft = text
        case .messageSubmitted: draft = ""
        case .optedOut(let value): isOptedOut = value
        case .blockedUsers(let users): blockedUsers = users
        case .memberCount(let count): memberCount = count
        case .recipient(let id): recipient = id
        case .connected(let id, let user): (connection, self.user) = (id, user)
        case .restricted(let value): isRestricted = value
        case .reconnecting, .disconnected, .connectionLost: connection = nil
        case .send, .leave, .publishFailed, .signal, .messageReceived, .connectionDestroyed: break
        }
    }

    private mutating func makeParts(_ now: MonotonicInstant) {
        sender = TypingSender(policy: policy, isConnected: connection != nil, startingAfter: sender.lastN)
        // A new sender has nothing to send.
        for input in noted { _ = sender.handle(input, now: now) }
        makeRoster(now)
    }

    private mutating func makeRoster(_ now: MonotonicInstant) {
        roster = TypingRoster(policy: policy, ownConnection: connection, ownUser: user)
        // A new roster shows no user.
        for input in noted { _ = roster.handle(input, now: now) }
    }

    private var noted: [TypingInput] {
        [
            .recipient(recipient), .optedOut(isOptedOut), .restricted(isRestricted), .blockedUsers(blockedUsers),
            .draftSet(draft), .memberCount(memberCount),
        ]
    }

    private func effects(_ signals: [TypingSignal], _ snapshot: TypingSnapshot?) -> [Effect] {
        signals.map { .send($0.request(policy.wireForm), n: $0.n ?? 0) } + (snapshot.map { [.changed($0)] } ?? [])
    }
}
