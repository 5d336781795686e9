import Locking
import SignalingProtocol

/// One connection of a ``MemorySession``.
public final class MemoryChannel: SignalChannel {
    /// The fate of a signal.
    public enum Answer: Hashable, Sendable {
        /// It arrives and is acknowledged.
        case acknowledged
        /// It does not arrive.
        case refused(SignalingError)
        /// It arrives, but its acknowledgement does not.
        case lost(SignalingError)
    }

    private struct State {
        var isConnected = true
        var sent: [SignalRequest] = []
        var changesSent: [Seq] = []
        var reactionsSent: [ReactRequest] = []
        var markersSent: [Seq] = []
        var answers: [Answer] = []
        var inbox: [SignalChannelEvent] = []
        var holdsAnswers = false
        var held: [CheckedContinuation<Void, Never>] = []
        var waiters: [Waiter] = []
        var lastWaiter = 0
        var restrictions = OwnRestrictions()

        /// Why no signal can be sent.
        var refusal: SignalingError? {
            if !isConnected { return SignalingError(.notConnected, "not connected") }
            return restrictions.holding(at: WallTime(milliseconds: .min)).first.map {
                SignalingError(.permissionDenied, "the user may not signal", restriction: $0)
            }
        }

        /// Removes the waiters whose condition holds.
        mutating func removeServed() -> [Waiter] {
            let served = waiters.filter { $0.isOver(self) }
            if !served.isEmpty { waiters.removeAll { waiter in served.contains { $0.number == waiter.number } } }
            return served
        }
    }

    /// A task that waits until a condition holds or it is cancelled.
    private struct Waiter {
        let number: Int
        let isOver: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    public let connection: Connection
    let session: MemorySession
    private let state = Lock(State())

    init(session: MemorySession, connection: Connection) {
        self.session = session
        self.connection = connection
    }

    public var connectionId: ConnectionID? { state.withLock { $0.isConnected ? connection.connectionId : nil } }

    public var user: UserID? { state.withLock { $0.isConnected ? connection.user : nil } }

    public func restriction(at now: WallTime) -> Restriction? {
        state.withLock { $0.isConnected ? $0.restrictions.holding(at: now).first : nil }
    }

    /// Restricts this connection, as a moderator does. Its signals are refused until ``lift(_:)``: the session has no
    /// clock.
    public func restrict(_ restriction: Restriction) {
        change { $0.restrictions.restrict(restriction) }
        put(.restrictionsChanged)
    }

    public func lift(_ kind: Restriction.Kind) {
        change { $0.restrictions.lift(kind) }
        put(.restrictionsChanged)
    }

    public var epoch: Epoch? { session.epoch }

    public var hasHistory: Bool { session.keepsHistory }

    public var changes: [ChangeKind]? { connectionId == nil ? nil : session.changes }

    public func history(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage {
        guard session.keepsHistory else { throw SignalingError(.notFound, "the session keeps no history") }
        return session.page(request, for: connection.user)
    }

    public func isMember(_ connection: ConnectionID) -> Bool? { session.isMember(connection) }

    public var memberCount: Int? { connectionId == nil ? nil : session.memberCount }

    /// All signals that were sent through this channel, in order.
    public var sent: [SignalRequest] { state.withLock { $0.sent } }

    /// The reactions that this channel was asked to set, and the read markers that it was given, in order.
    public var reactionsSent: [ReactRequest] { state.withLock { $0.reactionsSent } }
    public var markersSent: [Seq] { state.withLock { $0.markersSent } }

    /// The messages that this channel was asked to change or erase, in order.
    public var changesSent: [Seq] { state.withLock { $0.changesSent } }

    /// Sets the answers to the next sends and changes; later ones are acknowledged.
    public func answer(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    /// Makes each send deliver its signal, unless that is refused, and then wait for ``releaseAnswer()``.
    public func holdAnswers() { state.withLock { $0.holdsAnswers = true } }

    /// Lets the send that has waited longest return.
    public func releaseAnswer() {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.resume()
    }

    /// Lets all waiting sends return, and later ones return at once.
    public func releaseAllAnswers() {
        let held = state.withLock { state in
            state.holdsAnswers = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once this many signals were sent, each answered or held.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled: a test's time limit ends it.
    public func waitUntilSent(_ count: Int) async throws(CancellationError) {
        try await wait { $0.sent.count >= count }
    }

    /// The same for changes and erasures.
    public func waitUntilChangesSent(_ count: Int) async throws(CancellationError) {
        try await wait { $0.changesSent.count >= count }
    }

    /// The same for reactions.
    public func waitUntilReactionsSent(_ count: Int) async throws(CancellationError) {
        try await wait { $0.reactionsSent.count >= count }
    }

    /// Removes and returns the events that have arrived, in order.
    public func removeEvents() -> [SignalChannelEvent] {
        state.withLock { state in
            defer { state.inbox = [] }
            return state.inbox
        }
    }

    /// Removes and returns the events, in order, as soon as there is one.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled: a test's time limit ends it.
    public func nextEvents() async throws(CancellationError) -> [SignalChannelEvent] {
        while true {
            try await wait { !$0.inbox.isEmpty }
            // Another reader may have removed them first.
            let events = removeEvents()
            if !events.isEmpty { return events }
        }
    }

    private func wait(until isOver: @escaping @Sendable (State) -> Bool) async throws(CancellationError) {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let isServed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if isOver(state) { return true }
                    // Under the lock, so that a later cancellation finds the waiter.
                    if Task.isCancelled { return false }
                    state.waiters.append(Waiter(number: number, isOver: isOver, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isServed else { throw CancellationError() }
    }

    /// Changes the state and resumes the tasks whose condition holds now.
    private func change(_ body: (inout sending State) -> Void) {
        let served = state.withLock { state in
            body(&state)
            return state.removeServed()
        }
        for waiter in served { waiter.continuation.resume(returning: true) }
    }

    /// Leaves the session. This channel gets `disconnected`, and the other connections get `connectionDestroyed`.
    public func disconnect() {
        state.withLock { $0.isConnected = false }
        session.remove(connection)
        put(.disconnected)
    }

    /// Puts an event into the inbox: `reconnecting`, `reconnected`, `lost`.
    public func put(_ event: SignalChannelEvent) { change { $0.inbox.append(event) } }

    @discardableResult
    public func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        try await perform { () throws(SignalingError) in
            session.deliver(signal, from: connection)
        } note: {
            $0.sent.append(signal)
        }
    }

    @discardableResult
    public func change(_ request: ChangeRequest) async throws(SignalingError) -> Seq {
        let seq = try await perform { () throws(SignalingError) in
            try session.change(request, by: connection)
        } note: {
            $0.changesSent.append(request.ref)
        }
        return seq ?? .zero
    }

    @discardableResult
    public func erase(message ref: Seq) async throws(SignalingError) -> Seq {
        let seq = try await perform { () throws(SignalingError) in
            try session.erase(message: ref, by: connection)
        } note: {
            $0.changesSent.append(ref)
        }
        return seq ?? .zero
    }

    public var readState: ReadState? { connectionId == nil ? nil : session.readState(of: connection.user) }

    public func react(_ request: ReactRequest) async throws(SignalingError) {
        _ = try await perform { () throws(SignalingError) in
            try session.react(request, by: connection)
            return nil
        } note: {
            $0.reactionsSent.append(request)
        }
    }

    public func reactors(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors] {
        session.reactors(request)
    }

    public func markRead(through seq: Seq) async throws(SignalingError) {
        _ = try await perform { () throws(SignalingError) in
            try session.markRead(through: seq, by: connection)
            return nil
        } note: {
            $0.markersSent.append(seq)
        }
    }

    private func perform(
        _ deliver: () throws(SignalingError) -> Seq?, note: (inout State) -> Void
    ) async throws(SignalingError) -> Seq? {
        var (answer, isHeld) = state.withLock { state in
            let answer: Answer = state.answers.isEmpty ? .acknowledged : state.answers.removeFirst()
            return (state.refusal.map { .refused($0) } ?? answer, state.holdsAnswers)
        }
        var seq: Seq?
        switch answer {
        case .acknowledged, .lost:
            do throws(SignalingError) { seq = try deliver() } catch { answer = .refused(error) }
        case .refused: break
        }
        if isHeld {
            await withCheckedContinuation { continuation in
                change { state in
                    state.held.append(continuation)
                    note(&state)
                }
            }
        } else {
            change { note(&$0) }
        }
        switch answer {
        case .acknowledged: return seq
        case .refused(let error), .lost(let error): throw error
        }
    }
}
