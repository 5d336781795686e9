import SignalingProtocol

/// Typing in a ``TextChatComponent``: which other users type, and the typing signals of this user.
///
/// The component passes it the edits of the draft, the messages that it sends and receives, and the state of the
/// connection. Typing needs a clock, a timer, and a caller that sends its signals: `runTyping` of `TextChatFoundation`,
/// or your own code after ``start(now:wake:)``. Before that it rests: it sends nothing and shows no user.
///
/// It performs the effects of a ``TypingIndicator`` and contains no rules of its own. It belongs to the actor or thread
/// of its component.
public final class ChatTyping {
    /// A signal to publish: at once, online-only, and only once.
    public struct OutgoingSignal: Hashable, Sendable {
        public let request: SignalRequest
        /// Its number, for ``ChatTyping/publishFailed(n:)``.
        public let n: Int64
    }

    /// The intervals and flags. You can set another policy at any time: an announced begin is finished, and numbers
    /// continue (TYP-3). Other users are forgotten until their next signal.
    public var policy: TypingPolicy {
        get { indicator.policy }
        set { carryOut(indicator.setPolicy(newValue, now: now)) }
    }

    /// Returns the name of a connection's user; nil: unknown. Connections with the same name, or with the same user ID
    /// (USR-1), are shown as one. The default is the connection's data, unless it is empty.
    public var user: (Connection) -> String? = { $0.data.isEmpty ? nil : $0.data }

    private var indicator: TypingIndicator
    private var snapshots = TypingSnapshotStreams()
    private var shell: (now: () -> MonotonicInstant, wake: () -> Void)?
    /// The signals that were not dequeued yet: for each target the newest one, which replaces an older one (G6).
    private var outgoing: [OutgoingSignal] = []
    /// When the component has something to do; nil: not before the next event.
    var reminder: MonotonicInstant? {
        didSet { if oldValue != reminder { shell?.wake() } }
    }
    /// Called when the reminder is due.
    var onReminder: () -> Void = {}

    init(policy: TypingPolicy) {
        indicator = TypingIndicator(policy: policy, isRunning: false)
    }

    deinit { snapshots.finish() }

    // MARK: Reading

    /// The users who type now.
    public var current: TypingSnapshot { indicator.current }

    /// The current snapshot, then each change. A slow reader gets only the latest snapshot.
    public func snapshotStream() -> AsyncStream<TypingSnapshot> { snapshots.add(first: current) }

    // MARK: The user

    /// Reports the user's action, as often as you like (Layer's `sendTypingIndicator`). You need this only if you do
    /// not pass the edits to the component, which derives begin, pause and finish from them.
    public func send(_ action: TypingAction) { handle(.send(action)) }

    /// Sends nothing about this user's typing. For the others, a user who is typing has finished. If the policy is
    /// reciprocal, a user who has opted out sees no others either. Default false.
    public var isOptedOut = false {
        didSet {
            if oldValue != isOptedOut { handle(.optedOut(isOptedOut)) }
        }
    }

    /// The only connection that gets this user's typing signals: the other user of a private chat in a shared session.
    /// Nil, the default: all connections.
    ///
    /// A change sends a finish to the previous receivers, if they may still show this user; the next key begins anew.
    /// With a recipient ``TypingPolicy/Settings/roomCap`` does not stop the signals, and in a room above the cap the
    /// recipient is the only user that is shown. Chat messages still go to all.
    public var recipient: ConnectionID? {
        didSet {
            if oldValue != recipient { handle(.recipient(recipient)) }
        }
    }

    /// Users that are never shown: by the names that ``user`` returns, or by their user IDs.
    public var blockedUsers: Set<String> = [] {
        didSet { handle(.blockedUsers(blockedUsers)) }
    }

    /// The user has left the room: another screen, another room, or the program went to the background.
    public func leave() { handle(.leave) }

    // MARK: The clock

    /// Whether typing has a clock.
    public var isRunning: Bool { shell != nil }

    /// Starts typing. If it runs already, it stops first: no user is shown until the next signal.
    ///
    /// - Parameters:
    ///   - now: returns the time at each input, from a monotonic clock that goes on while the machine sleeps.
    ///   - wake: called after each change of ``nextDeadline``, of ``current``, or of what ``dequeueSignal()`` returns,
    ///     perhaps also without one. It may call back.
    public func start(now: @escaping () -> MonotonicInstant, wake: @escaping () -> Void = {}) {
        if isRunning { stop() }
        shell = (now, wake)
        indicator.start(now: now())
        carryOut([])
    }

    /// Stops typing: no user is shown any more, and a signal that was not dequeued is not sent. There is no finish: the
    /// others show a user who was typing until the expiry.
    public func stop() {
        outgoing = []
        carryOut(indicator.stop(now: now))
        shell = nil
    }

    /// The time by the clock of ``start(now:wake:)``; zero while typing rests.
    public var now: MonotonicInstant { shell?.now() ?? MonotonicInstant(nanoseconds: 0) }

    /// When to call ``advance(to:)`` next; nil: not before the next input.
    public var nextDeadline: MonotonicInstant? { [indicator.nextDeadline, reminder].compactMap(\.self).min() }

    /// Performs everything that is due. Call it at ``nextDeadline`` or later.
    public func advance(to now: MonotonicInstant) {
        carryOut(indicator.advance(to: now))
        if let reminder, reminder <= now { onReminder() }
    }

    /// Dequeues the next signal; nil without one. Publish it at once and only once.
    public func dequeueSignal() -> OutgoingSignal? { outgoing.isEmpty ? nil : outgoing.removeFirst() }

    /// Signal `n` was refused, or may not have left. It is not sent again; the next key sends a new one.
    public func publishFailed(n: Int64) { handle(.publishFailed(n: n)) }

    // MARK: The component

    /// The number for a message that is written now (TYP-5); nil while typing rests.
    var typingN: Int64? { indicator.typingN }

    /// The user's own connection, as far as typing knows it; nil while it is not up.
    var connection: ConnectionID? { indicator.connection }

    func handle(_ input: TypingInput) {
        switch input {
        case .messageSubmitted:
            // Signals that have not been sent announce this message, and would arrive after it.
            while let unsent = dequeueSignal() { handle(.publishFailed(n: unsent.n)) }
        case .connected, .reconnecting, .disconnected, .connectionLost:
            outgoing = []
        case .restricted(true):
            outgoing = []
        case .draftEdited, .draftSet, .send, .leave, .optedOut, .restricted(false), .blockedUsers, .memberCount,
            .recipient, .publishFailed, .signal, .messageReceived, .connectionDestroyed:
            break
        }
        carryOut(indicator.handle(input, now: now))
    }

    /// Handles a signal of another connection, if it is about typing.
    func receive(_ signal: Signal) {
        guard let from = signal.from, let typing = TypingSignal(signal) else { return }
        handle(.signal(typing, from: from.connectionId, user: user(from), userID: from.user))
    }

    private func carryOut(_ effects: [TypingIndicator.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let request, let n):
                outgoing.removeAll { $0.request.to == request.to }
                outgoing.append(OutgoingSignal(request: request, n: n))
            case .changed(let snapshot): snapshots.yield(snapshot)
            }
        }
        shell?.wake()
    }
}

/// The streams of a component's typing; each buffers only the newest snapshot.
private struct TypingSnapshotStreams {
    private var continuations: [AsyncStream<TypingSnapshot>.Continuation] = []

    mutating func add(first: TypingSnapshot) -> AsyncStream<TypingSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TypingSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(first)
        continuations.append(continuation)
        return stream
    }

    mutating func yield(_ snapshot: TypingSnapshot) {
        continuations.removeAll { continuation in
            if case .terminated = continuation.yield(snapshot) { true } else { false }
        }
    }

    func finish() { for continuation in continuations { continuation.finish() } }
}
