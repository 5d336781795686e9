import SignalingProtocol

/// The life of one `URLSessionWebSocketTask`, as rules without the task: its callbacks and the calls of its owner go in
/// with `now`, and effects come out, in the order in which to execute them.
///
/// Three habits of the task shape the rules:
/// - The failure of a `receive` may come before the callback with the server's close code. So a failed socket waits a
///   moment for the code, which says whether the client may come back (CLOSE-1).
/// - A cancelled task still calls its completions, and old systems call some of them twice. So sends and receives have
///   numbers, and an answer counts once.
/// - It sends only the close codes of RFC 6455. So 1000 is sent as it is, and every other code of this side cuts the
///   connection: the server takes both a code of 4000 and a cut for a loss (RES-10).
package struct TaskSocketState: Sendable {
    package enum Event: Sendable {
        case started
        /// The handshake is complete.
        case opened(subprotocol: String?)
        case received(Int, Message)
        case receiveFailed(Int)
        case sent(Int)
        case sendFailed(Int)
        /// The server's close frame.
        case closeReceived(code: UInt16)
        /// The task's last callback.
        case completed(TaskFailure?, closeCode: UInt16?)
        case writeRequested([UInt8])
        case closeRequested(code: UInt16)
        case deadlinePassed
    }

    package enum Message: Equatable, Sendable {
        case text([UInt8])
        case binary
    }

    package enum Effect: Equatable, Sendable {
        /// Starts the handshake.
        case resume
        /// Asks for one message. The answer is `received` or `receiveFailed` with this number.
        case receive(Int)
        /// Sends a text message. The answer is `sent` or `sendFailed` with this number.
        case send(Int, [UInt8])
        /// Sends a close frame with 1000.
        case closeNormally
        /// Ends the connection without a close frame.
        case cut
        /// Releases the session, which otherwise keeps its delegate for ever. The task's later callbacks do not count.
        case invalidate
        case schedule(MonotonicInstant)
        case cancelDeadline
        case report(Report)
    }

    package enum Report: Equatable, Sendable {
        case opened
        case received([UInt8])
        case drained
        /// The last report of an open socket; nil without a code of the server.
        case closed(code: UInt16?)
        /// The only report of a socket that never opened.
        case failed(TaskFailure)
    }

    private enum Phase {
        /// Next: `opening`.
        case idle
        /// The handshake is under way. Next: `open`, `ended`.
        case opening
        /// Next: `failing`, `flushing`, `closing`, `ended`.
        case open
        /// The connection is lost, and the server's close code may follow. Next: `ended`.
        case failing
        /// A close with 1000 waits for the message that is being sent. Next: `closing`, `ended`.
        case flushing
        /// A close frame with 1000 was sent. Next: `ended`.
        case closing
        /// The last report was made.
        case ended
    }

    /// From the start to the end of the handshake.
    package static let connectTime = Duration.seconds(10)
    /// From a close to the end of the connection.
    package static let closeTime = Duration.seconds(5)
    /// From a failure to the server's close code. The two callbacks follow each other at once.
    package static let failureTime = Duration.seconds(1)

    private let subprotocol: String
    private let limit: Int
    private var phase = Phase.idle
    /// The number of the last `receive` or `send`.
    private var lastNumber = 0
    /// The `receive` that has no answer yet.
    private var receiving: Int?
    /// The `send` that has no answer yet.
    private var sending: Int?

    /// - Parameters:
    ///   - subprotocol: what the server must agree to (WIRE-1).
    ///   - limit: the greatest message in bytes (WIRE-11).
    package init(subprotocol: String, limit: Int = Limits.clientMessageByteCount) {
        self.subprotocol = subprotocol
        self.limit = limit
    }

    /// Whether a message is being sent. The next write must wait for `drained` then: one message at a time keeps the
    /// order on every system, and what waits meanwhile leaves as one message (WIRE-3).
    package var isBacklogged: Bool { sending != nil }

    package mutating func handle(_ event: Event, now: MonotonicInstant) -> [Effect] {
        switch event {
        case .started: start(now)
        case .opened(let agreed): opened(agreed)
        case .received(let number, let message): received(number, message)
        case .receiveFailed(let number): receiveFailed(number, now)
        case .sent(let number): sent(number, now)
        case .sendFailed(let number): sendFailed(number, now)
        case .closeReceived(let code): closeReceived(code)
        case .completed(let failure, let code): completed(failure, code)
        case .writeRequested(let bytes): write(bytes)
        case .closeRequested(let code): close(code, now)
        case .deadlinePassed: deadlinePassed()
        }
    }

    // MARK: The task's callbacks

    private mutating func start(_ now: MonotonicInstant) -> [Effect] {
        guard case .idle = phase else { return [] }
        phase = .opening
        return [.schedule(now.advanced(by: Self.connectTime)), .resume]
    }

    private mutating func opened(_ agreed: String?) -> [Effect] {
        guard case .opening = phase else { return [] }
        guard agreed == subprotocol else { return cut(.failed(.withoutSubprotocol)) }
        phase = .open
        return [.cancelDeadline, receive(), .report(.opened)]
    }

    private mutating func received(_ number: Int, _ message: Message) -> [Effect] {
        guard number == receiving else { return [] }
        receiving = nil
        switch (phase, message) {
        case (.open, .text(let bytes)) where bytes.count <= limit:
            // The next message is asked for first, because the owner may close the socket when it gets this one.
            return [receive(), .report(.received(bytes))]
        case (.open, .text), (.open, .binary): return cut(.closed(code: nil))
        case (.idle, _), (.opening, _), (.failing, _), (.flushing, _), (.closing, _), (.ended, _): return []
        }
    }

    private mutating func receiveFailed(_ number: Int, _ now: MonotonicInstant) -> [Effect] {
        guard number == receiving else { return [] }
        receiving = nil
        return lost(now)
    }

    private mutating func sent(_ number: Int, _ now: MonotonicInstant) -> [Effect] {
        guard number == sending else { return [] }
        sending = nil
        switch phase {
        case .open: return [.report(.drained)]
        case .flushing: return closeNormally()
        case .idle, .opening, .failing, .closing, .ended: return []
        }
    }

    private mutating func sendFailed(_ number: Int, _ now: MonotonicInstant) -> [Effect] {
        // It stays the one that is being sent: nothing is written to a socket that has failed.
        number == sending ? lost(now) : []
    }

    private mutating func closeReceived(_ code: UInt16) -> [Effect] {
        switch phase {
        case .idle, .ended: []
        case .opening: end(.failed(.closedEarly))
        case .open, .failing: end(.closed(code: code))
        case .flushing, .closing: end(.closed(code: nil))
        }
    }

    private mutating func completed(_ failure: TaskFailure?, _ code: UInt16?) -> [Effect] {
        switch phase {
        case .idle, .ended: []
        case .opening: end(.failed(failure ?? .closedEarly))
        case .open, .failing: end(.closed(code: code))
        case .flushing, .closing: end(.closed(code: nil))
        }
    }

    /// The connection does not work any more.
    private mutating func lost(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .open:
            phase = .failing
            return [.schedule(now.advanced(by: Self.failureTime))]
        case .flushing: return cut(.closed(code: nil))
        case .idle, .opening, .failing, .closing, .ended: return []
        }
    }

    // MARK: The owner's calls

    private mutating func write(_ bytes: [UInt8]) -> [Effect] {
        guard case .open = phase else { return [] }
        precondition(sending == nil, "a write waits until the socket has drained")
        lastNumber += 1
        sending = lastNumber
        return [.send(lastNumber, bytes)]
    }

    private mutating func close(_ code: UInt16, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .idle, .opening: return cut(.failed(.closedEarly))
        case .open where code == CloseReason.normal.rawValue:
            let deadline = Effect.schedule(now.advanced(by: Self.closeTime))
            if sending == nil { return [deadline] + closeNormally() }
            phase = .flushing
            return [deadline]
        case .open, .failing: return cut(.closed(code: nil))
        case .flushing, .closing, .ended: return []
        }
    }

    private mutating func deadlinePassed() -> [Effect] {
        switch phase {
        case .idle, .open, .ended: []
        case .opening: cut(.failed(.timedOut))
        case .failing, .flushing, .closing: cut(.closed(code: nil))
        }
    }

    // MARK: Ends

    private mutating func receive() -> Effect {
        lastNumber += 1
        receiving = lastNumber
        return .receive(lastNumber)
    }

    private mutating func closeNormally() -> [Effect] {
        phase = .closing
        return [.closeNormally]
    }

    private mutating func cut(_ report: Report) -> [Effect] { [.cut] + end(report) }

    private mutating func end(_ report: Report) -> [Effect] {
        phase = .ended
        return [.cancelDeadline, .invalidate, .report(report)]
    }
}
