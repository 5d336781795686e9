import SignalingProtocol

/// Typing in one room, both ways: what this connection says of its user, and who else types. It joins ``TypingSender`` and
/// ``TypingRoster``, so that a shell has one value, one timer and one list of effects to carry out.
///
/// The shell does the effects in their order, sends each signal at once, reports those that failed, and calls ``advance(to:)``
/// at ``nextDeadline``. `now` is of a clock that goes on while the machine sleeps and that nobody can set.
public struct TypingIndicator: Sendable {
    public var policy: TypingPolicy { sender.policy }

    private var sender: TypingSender
    private var roster: TypingRoster

    public enum Effect: Hashable, Sendable {
        /// Publish, online-only. If that fails, say so with `n`; see ``publishFailed(n:now:)``.
        case send(SignalRequest, n: Int64)
        /// Others are shown as typing or paused, or not any more.
        case changed(TypingSnapshot)
    }

    /// `startingAfter` is the last number that this connection has used; see ``TypingSender``.
    public init(
        policy: TypingPolicy = .standard, ownConnection: ConnectionID? = nil, isConnected: Bool = true,
        startingAfter lastN: Int64 = 0
    ) {
        sender = TypingSender(policy: policy, isConnected: isConnected, startingAfter: lastN)
        roster = TypingRoster(policy: policy, ownConnection: ownConnection)
    }

    /// Who types now. May be asked at any time; who comes later misses nothing by it.
    public var current: TypingSnapshot { roster.current }

    /// The number that the next chat message carries; read it after ``messageSent(now:)`` (TYP-5).
    public var typingN: Int64 { sender.lastN }

    /// When ``advance(to:)`` has to be called next; nil: not before the next input.
    public var nextDeadline: MonotonicInstant? {
        guard let first = sender.nextDeadline else { return roster.nextDeadline }
        return roster.nextDeadline.map { min($0, first) } ?? first
    }

    public mutating func advance(to now: MonotonicInstant) -> [Effect] {
        effects(sender.advance(to: now), roster.advance(to: now))
    }

    // MARK: The user

    /// What the app says itself, as often as it likes: signals are sent as needed.
    public mutating func send(_ action: TypingAction, now: MonotonicInstant) -> [Effect] {
        tell(.action(action), now)
    }

    /// The user has changed the text of the field to this.
    public mutating func textDidChange(to text: String, now: MonotonicInstant) -> [Effect] {
        tell(.textDidChange(text), now)
    }

    /// The program has changed the text of the field to this: nobody types.
    public mutating func textWasSet(to text: String, now: MonotonicInstant) -> [Effect] {
        tell(.textWasSet(text), now)
    }

    /// The user has sent a message. Call it before the message is published, and put ``typingN`` into that.
    public mutating func messageSent(now: MonotonicInstant) -> [Effect] { tell(.messageSent, now) }

    /// The user has turned away from the room.
    public mutating func leave(now: MonotonicInstant) -> [Effect] { tell(.left, now) }

    /// Whether the user does not want to be seen. If the policy is reciprocal, such a user sees nobody either.
    public mutating func setOptedOut(_ isOptedOut: Bool, now: MonotonicInstant) -> [Effect] {
        let signals = sender.handle(.optedOut(isOptedOut), now: now)
        return effects(signals, roster.handle(.hidden(isOptedOut && policy.isReciprocal), now: now))
    }

    // MARK: The connection

    /// The connection is there, or there again, under this name. Typing begins anew on both sides.
    public mutating func connected(as id: ConnectionID?, now: MonotonicInstant) -> [Effect] {
        let signals = sender.handle(.connected, now: now)
        return effects(signals, roster.handle(.connected(as: id), now: now))
    }

    /// The connection is lost, or not sure. Others stay until they expire, or until it is there again.
    public mutating func disconnected(now: MonotonicInstant) -> [Effect] { tell(.disconnected, now) }

    /// Signal `n` was refused, or may not have left. It is not sent again: the next key is.
    public mutating func publishFailed(n: Int64, now: MonotonicInstant) -> [Effect] {
        tell(.publishFailed(n: n), now)
    }

    /// How many connections there are in the room, one's own included.
    public mutating func setMemberCount(_ count: Int, now: MonotonicInstant) -> [Effect] {
        let signals = sender.handle(.memberCount(count), now: now)
        return effects(signals, roster.handle(.memberCount(count), now: now))
    }

    // MARK: Others

    /// Takes any signal of the session. `user` is whom its connection belongs to, if somebody knows: people are put together
    /// by it, and called by it. Signals that do not speak of typing change nothing, nor do those without a connection (REST).
    public mutating func receive(_ signal: Signal, user: String?, now: MonotonicInstant) -> [Effect] {
        guard let from = signal.from?.connectionId, let typing = TypingSignal(signal) else { return advance(to: now) }
        return hear(.signal(typing, from: from, user: user), now)
    }

    /// A chat message has arrived; `typingN` is the number that it carries, if it does.
    public mutating func receiveMessage(from: ConnectionID, typingN: Int64?, now: MonotonicInstant) -> [Effect] {
        hear(.message(from: from, typingN: typingN), now)
    }

    public mutating func connectionDestroyed(_ id: ConnectionID, now: MonotonicInstant) -> [Effect] {
        hear(.connectionDestroyed(id), now)
    }

    /// Exactly these users are never shown.
    public mutating func setBlocked(_ users: Set<String>, now: MonotonicInstant) -> [Effect] {
        hear(.blocked(users), now)
    }

    private mutating func tell(_ input: TypingSender.Input, _ now: MonotonicInstant) -> [Effect] {
        let signals = sender.handle(input, now: now)
        return effects(signals, roster.advance(to: now))
    }

    private mutating func hear(_ input: TypingRoster.Input, _ now: MonotonicInstant) -> [Effect] {
        let signals = sender.advance(to: now)
        return effects(signals, roster.handle(input, now: now))
    }

    private func effects(_ signals: [TypingSignal], _ snapshot: TypingSnapshot?) -> [Effect] {
        signals.map { .send($0.request(policy.wireForm), n: $0.n ?? 0) } + (snapshot.map { [.changed($0)] } ?? [])
    }
}
