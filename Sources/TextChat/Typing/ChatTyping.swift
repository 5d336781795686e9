import SignalingProtocol

/// Typing in a ``TextChatComponent``: who else types, and what others are told of this user.
///
/// The component feeds it with what it sees anyway: edits of the draft, messages that go out and come in, who leaves, how the
/// connection is. Somebody has to own a clock and a timer for it, and to send its signals: `runTyping` of
/// `TextChatFoundation`, or whoever calls ``start(now:wake:)``. Until then it rests: nothing is sent, and nobody is shown.
///
/// It belongs to the same actor or thread as its component.
public final class ChatTyping {
    /// One signal that is to be published: at once, online-only, and never again.
    public struct Post: Hashable, Sendable {
        public let request: SignalRequest
        /// Its number, for ``ChatTyping/publishFailed(n:)``.
        public let n: Int64
    }

    /// Whose behaviour it has. Set another at any time: what was announced is finished, numbers go on (TYP-3), and who is shown is
    /// forgotten, and comes back with their next signal.
    public var policy: TypingPolicy {
        get { indicator.policy }
        set { change(to: newValue) }
    }

    /// Whom a connection belongs to. People are put together by it, and called by it; nil: somebody without a name. By
    /// default the connection's data, unless that is empty.
    public var user: (Connection) -> String? = { $0.data.isEmpty ? nil : $0.data }

    private var indicator: TypingIndicator
    private var snapshots = TypingSnapshotStreams()
    private var shell: (now: () -> MonotonicInstant, wake: () -> Void)?
    /// Of several that nobody has taken yet, only the newest matters (G6).
    private var post: Post?
    private var link = Link.none
    private var text = ""
    private var memberCount: Int?

    private enum Link: Equatable {
        /// Not connected, or not known to be.
        case none
        case up(ConnectionID)
        /// The socket is lost, and nobody knows what the others hear.
        case doubtful
    }

    init(policy: TypingPolicy) {
        indicator = TypingIndicator(policy: policy, isConnected: false)
    }

    deinit { snapshots.finish() }

    // MARK: Reading

    /// Who types now. May be asked at any time; who comes later misses nothing by it.
    public var current: TypingSnapshot { indicator.current }

    /// Who types, now and whenever that has changed. Of several changes that were not read in between only the last comes.
    public func snapshotStream() -> AsyncStream<TypingSnapshot> { snapshots.add(first: current) }

    // MARK: The user

    /// What the app says itself, as often as it likes (Layer's `sendTypingIndicator`). An app that hands its edits to the
    /// component need not: begin, pause and finish follow from them.
    public func send(_ action: TypingAction) { tell { $0.send(action, now: $1) } }

    /// Nothing about this user's typing leaves. Who types already has finished for the others. If the policy is
    /// reciprocal, such a user sees nobody either. Default false.
    public var isOptedOut = false {
        didSet {
            let isOptedOut = isOptedOut
            if oldValue != isOptedOut { tell { $0.setOptedOut(isOptedOut, now: $1) } }
        }
    }

    /// Exactly these users are never shown; as ``user`` names them.
    public var blockedUsers: Set<String> = [] {
        didSet {
            let users = blockedUsers
            tell { $0.setBlocked(users, now: $1) }
        }
    }

    /// The user has turned away from the room: another screen, another room, the program in the background.
    public func leave() { tell { $0.leave(now: $1) } }

    // MARK: The shell

    /// Whether somebody owns its clock.
    public var isRunning: Bool { shell != nil }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - now: asked for the time whenever something happens; of a clock that nobody can set, and that goes on while the
    ///     machine sleeps.
    ///   - wake: called after anything that may have changed ``nextDeadline``, ``current``, or what ``takePost()`` has. It
    ///     may call back.
    public func start(now: @escaping () -> MonotonicInstant, wake: @escaping () -> Void = {}) {
        shell = (now, wake)
        tellAll()
    }

    /// Ends it: nobody is shown any more, and what was not taken yet is not sent.
    public func stop() {
        clear()
        shell = nil
    }

    /// The time by its clock; while it rests, the clock's zero.
    public var now: MonotonicInstant { shell?.now() ?? MonotonicInstant(nanoseconds: 0) }

    /// When ``advance(to:)`` has to be called next; nil: not before something happens.
    public var nextDeadline: MonotonicInstant? { shell == nil ? nil : indicator.nextDeadline }

    /// Does what has become due; call it at ``nextDeadline``, or later.
    public func advance(to now: MonotonicInstant) {
        guard shell != nil else { return }
        carryOut(indicator.advance(to: now))
    }

    /// Takes out the signal that is to be published, at once and only once; nil: there is none.
    public func takePost() -> Post? {
        defer { post = nil }
        return post
    }

    /// Signal `n` was refused, or may not have left. It is not sent again: the next key is.
    public func publishFailed(n: Int64) { tell { $0.publishFailed(n: n, now: $1) } }

    // MARK: What the component sees

    /// The number that a message carries which is written now (TYP-5); nil while it rests.
    var typingN: Int64? { shell == nil ? nil : indicator.typingN }

    /// - Parameter isKey: the user has changed it, not the program.
    func draftChanged(to text: String, isKey: Bool) {
        self.text = text
        tell { isKey ? $0.textDidChange(to: text, now: $1) : $0.textWasSet(to: text, now: $1) }
    }

    /// A message is about to be published: a begin that nobody has taken yet is about this message, and would come after it.
    func messageSubmitted() {
        text = ""
        if let unsent = post {
            post = nil
            publishFailed(n: unsent.n)
        }
        tell { $0.messageSent(now: $1) }
    }

    func receive(_ signal: Signal) {
        let user = signal.from.flatMap(user)
        tell { $0.receive(signal, user: user, now: $1) }
    }

    func messageReceived(from id: ConnectionID, typingN: Int64?) {
        tell { $0.receiveMessage(from: id, typingN: typingN, now: $1) }
    }

    func connectionDestroyed(_ id: ConnectionID) { tell { $0.connectionDestroyed(id, now: $1) } }

    /// - Parameter count: connections in the session, one's own included; nil: nobody knows.
    func memberCountChanged(to count: Int?) {
        memberCount = count
        if let count { tell { $0.setMemberCount(count, now: $1) } }
    }

    /// The connection is there, or there again.
    func connected(as id: ConnectionID) {
        link = .up(id)
        post = nil
        tell { $0.connected(as: id, now: $1) }
    }

    /// What the channel says of its connection, for a channel that was connected before anybody listened. Returns whether
    /// that is news.
    func noticed(_ id: ConnectionID) -> Bool {
        guard link != .up(id), link != .doubtful else { return false }
        connected(as: id)
        return true
    }

    func reconnecting() {
        link = .doubtful
        clear()
    }

    func disconnected() {
        link = .none
        clear()
    }

    private func change(to policy: TypingPolicy) {
        leave()
        let wasShown = current != .nobody
        indicator = TypingIndicator(policy: policy, isConnected: false, startingAfter: indicator.typingN)
        if wasShown { carryOut([.changed(.nobody)]) }
        tellAll()
    }

    /// A new indicator knows nothing.
    private func tellAll() {
        let (isOptedOut, users, text) = (isOptedOut, blockedUsers, text)
        tell { $0.setOptedOut(isOptedOut, now: $1) + $0.setBlocked(users, now: $1) + $0.textWasSet(to: text, now: $1) }
        memberCountChanged(to: memberCount)
        if case .up(let id) = link { tell { $0.connected(as: id, now: $1) } }
    }

    // MARK: Effects

    /// Nobody knows who types, and nobody can be told.
    private func clear() {
        post = nil
        tell { $0.connected(as: nil, now: $1) + $0.disconnected(now: $1) }
    }

    private func tell(_ change: (inout TypingIndicator, MonotonicInstant) -> [TypingIndicator.Effect]) {
        guard let shell else { return }
        carryOut(change(&indicator, shell.now()))
    }

    private func carryOut(_ effects: [TypingIndicator.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let request, let n): post = Post(request: request, n: n)
            case .changed(let snapshot): snapshots.yield(snapshot)
            }
        }
        shell?.wake()
    }
}

/// The streams of a component's typing: only the newest snapshot matters to each.
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
