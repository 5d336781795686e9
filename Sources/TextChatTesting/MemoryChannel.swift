import SignalingProtocol
import Synchronization

/// One connection of a ``MemorySession``.
public final class MemoryChannel: SignalChannel {
    /// What becomes of a signal that is sent.
    public enum Answer: Hashable, Sendable {
        /// It arrives, and is acknowledged.
        case acknowledged
        /// It does not arrive.
        case refused(SignalingError)
        /// It arrives, and its acknowledgement does not.
        case lost(SignalingError)
    }

    private struct State {
        var isConnected = true
        var sent: [SignalRequest] = []
        var answers: [Answer] = []
        var inbox: [SignalChannelEvent] = []
        var holdsAnswers = false
        var held: [CheckedContinuation<Void, Never>] = []
        var sendWaiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Returns who has been waiting for this.
        mutating func note(_ signal: SignalRequest) -> [CheckedContinuation<Void, Never>] {
            sent.append(signal)
            let count = sent.count
            defer { sendWaiters.removeAll { $0.count <= count } }
            return sendWaiters.filter { $0.count <= count }.map(\.continuation)
        }
    }

    public let connection: Connection
    private let session: MemorySession
    private let state = Mutex(State())

    init(session: MemorySession, connection: Connection) {
        self.session = session
        self.connection = connection
    }

    public var connectionID: ConnectionID? { state.withLock { $0.isConnected ? connection.connectionId : nil } }

    public var memberCount: Int? { connectionID == nil ? nil : session.memberCount }

    /// All that was given to this channel to send, in order.
    public var sent: [SignalRequest] { state.withLock { $0.sent } }

    /// How many answers are held back.
    public var heldCount: Int { state.withLock { $0.held.count } }

    /// What becomes of the next sends; after these, all are acknowledged.
    public func answer(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    /// From now on each send waits, its signal delivered already, until ``releaseAnswer()``.
    public func holdAnswers() { state.withLock { $0.holdsAnswers = true } }

    /// Lets the send that has been waiting longest return.
    public func releaseAnswer() {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.resume()
    }

    /// Lets all that wait return, and holds no more.
    public func releaseAllAnswers() {
        let held = state.withLock { state in
            state.holdsAnswers = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once so many signals have been sent, and each has been answered or held.
    public func waitUntilSent(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sent.count >= count { return true }
                state.sendWaiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Takes out what has arrived, in order.
    public func takeEvents() -> [SignalChannelEvent] {
        state.withLock { state in
            defer { state.inbox = [] }
            return state.inbox
        }
    }

    /// Leaves the session; the others hear of it.
    public func disconnect() {
        state.withLock { $0.isConnected = false }
        session.remove(connection)
        put(.disconnected)
    }

    /// Puts an event into the inbox, as if it had happened: `reconnecting`, `reconnected`, `lost`.
    public func put(_ event: SignalChannelEvent) { state.withLock { $0.inbox.append(event) } }

    @discardableResult
    public func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        let (answer, isHeld) = state.withLock { state in
            let answer = state.answers.isEmpty ? .acknowledged : state.answers.removeFirst()
            return (
                state.isConnected ? answer : .refused(SignalingError(.notConnected, "not connected")),
                state.holdsAnswers
            )
        }
        var seq: Seq?
        switch answer {
        case .acknowledged, .lost: seq = session.deliver(signal, from: connection)
        case .refused: break
        }
        if isHeld {
            await withCheckedContinuation { continuation in
                let waiters = state.withLock { state in
                    state.held.append(continuation)
                    return state.note(signal)
                }
                for waiter in waiters { waiter.resume() }
            }
        } else {
            for waiter in state.withLock({ $0.note(signal) }) { waiter.resume() }
        }
        switch answer {
        case .acknowledged: return seq
        case .refused(let error), .lost(let error): throw error
        }
    }
}
