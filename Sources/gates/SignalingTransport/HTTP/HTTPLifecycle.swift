/// The life cycle of an accepted connection while it speaks HTTP: one request after another, each with its response.
///
/// A pure state machine: it names no C type and reads no clock. Its owner reports each event to ``handle(_:)`` and
/// performs the effects in their order.
///
/// `Exchange` is the type of a request on its way to the handler; the machine only keeps it and compares identities.
struct HTTPLifecycle<Exchange: AnyObject> {
    enum State {
        /// The library has not adopted the connection yet, or refused to. Next: `idle`, `ended` (its deadline).
        case unadopted
        /// No request is being served. Next: `receiving`, `answering`, `sending`, `hangingUp`, `terminating`, `ended`.
        case idle(hasServed: Bool)
        /// The headers have arrived, and the body is arriving. Next: `answering`, `sending` (400, 408, 413),
        /// `hangingUp`, `terminating`, `ended`.
        case receiving(Exchange, RequestBody, Reply)
        /// The handler has the request. Next: `sending`, `hangingUp`, `terminating`, `ended`.
        case answering(Exchange, Reply)
        /// The response is being sent. `isBacklogged`: the client has not read all that was sent. Next: `idle`,
        /// `lingering`, `hangingUp`, `terminating`, `ended`.
        case sending(Reply, isBacklogged: Bool)
        /// The response is sent, but not all of the request was read. Input is discarded: closing with unread input
        /// resets the connection, and the reset destroys the response. Next: `hangingUp`, `terminating`, `ended`.
        case lingering(byteBudget: Int)
        /// The library has been instructed to close the connection. Next: `terminating` (it takes too long), `ended`.
        case hangingUp
        /// The connection is cut when this turn of the loop ends. Next: `ended`.
        case terminating
        /// Closed, or upgraded to a WebSocket. The last state.
        case ended
    }

    /// The conditions for the response to the current request.
    struct Reply: Equatable {
        /// The response goes without its body.
        let isHead: Bool
        /// Whether another request may follow on this connection.
        var keepsAlive: Bool
        var bodyDelivery: BodyDelivery
    }

    /// The library's progress with the request's body.
    enum BodyDelivery {
        /// By its own reading of the headers the library delivers no body; it may still report the end of an empty one.
        case none
        case arriving
        /// The library has reported the end. If it does so again, close the connection: 4.1.6 would repeat the report
        /// without end.
        case completed
    }

    /// A request's head, and what to do with the request.
    struct RequestHead {
        enum Disposition {
            /// Answer it and close the connection: the start of the next request is unknown or not trustworthy.
            case refuse(HTTPResponse)
            /// Answer it without the handler.
            case answer(HTTPResponse)
            /// It has no body.
            case handOver(Exchange)
            /// `expectsContinue`: the client waits for `100 Continue` before it sends the body.
            case receive(Exchange, RequestBody, expectsContinue: Bool)
        }

        var isHead = false
        /// Whether the client permits another request, by its version and `Connection`.
        var keepsAlive = true
        /// Whether the library delivers a body, by its own reading of the headers.
        var hasLibraryBody = false
        /// Whether bytes that came behind this head were already read. Matters if a request was served before.
        var isPipelined = false
        var disposition: Disposition
    }

    enum Event {
        case adopted
        case requestArrived(RequestHead)
        /// A request without a method or path that the library knows.
        case requestUnreadable
        case bodyArrived(UnsafeRawBufferPointer)
        case bodyCompleted
        case responded(Exchange, HTTPResponse)
        /// The client does not read fast enough, or other sockets have their turn first; the rest is sent later.
        case responseDelayed
        case responseSent
        case writeFailed
        /// The library refuses to wait for another request.
        case nextRequestRefused
        /// Input was discarded while the response waits for the client: pipelined requests.
        case inputDiscarded
        /// The client has closed its side while the response waits for it.
        case clientHungUp
        case deadlinePassed
        /// The server stops.
        case drainRequested
        case terminateRequested
        /// The connection becomes a WebSocket.
        case upgraded
        /// A handshake was refused, and the refusal sent.
        case upgradeRefused
        /// None of the library's callbacks runs: connections can be closed now.
        case turnEnded
        /// The library has closed the connection. May come more than once.
        case connectionEnded
    }

    enum Deadline {
        case request, answer, response, keepAlive, linger
    }

    enum Effect {
        case startDeadline(Deadline)
        /// Write `100 Continue`.
        case sendContinue
        /// While the handler works, 4.1.6 does not read, and a readable socket would keep the loop spinning.
        case pauseReading
        /// Until then the library does not serve the connection as writable either.
        case resumeReading
        case handOver(Exchange, body: [UInt8])
        /// The handler has taken too long: respond with what the exchange has for this case.
        case answerOverdue(Exchange)
        case send(HTTPResponse, isHead: Bool, keepsAlive: Bool)
        /// While a response waits, discard input at the end of each turn.
        case startDiscardingInput
        case stopDiscardingInput
        case awaitNextRequest
        /// Shut down the sending side, and continue to read.
        case shutDownWriting
        /// Call back with `turnEnded` when this turn of the loop ends.
        case closeAtTurnEnd
        /// End the connection at once.
        case cut
        /// The library does not know the connection: release it.
        case release
    }

    /// How much of a refused body is read and discarded before the connection is closed, in bytes.
    static var lingerByteCount: Int { 1_048_576 }

    private(set) var state = State.unadopted

    // MARK: Questions

    /// Whether the library's callback for this connection must return -1.
    var mustHangUp: Bool {
        switch state {
        case .unadopted, .hangingUp, .terminating, .ended: true
        case .idle, .receiving, .answering, .sending, .lingering: false
        }
    }

    /// Whether the connection is idle after at least one request.
    var isIdleAgain: Bool {
        switch state {
        case .idle(let hasServed): hasServed
        case .unadopted, .receiving, .answering, .sending, .lingering, .hangingUp, .terminating, .ended: false
        }
    }

    /// Whether a response is being sent.
    var isSending: Bool {
        switch state {
        case .sending: true
        case .unadopted, .idle, .receiving, .answering, .lingering, .hangingUp, .terminating, .ended: false
        }
    }

    /// Whether the owner discards input: a response waits for the client, and the library reads no body meanwhile.
    var discardsInput: Bool {
        switch state {
        case .sending(let reply, isBacklogged: true): reply.bodyDelivery != .arriving
        case .sending(_, isBacklogged: false), .unadopted, .idle, .receiving, .answering, .lingering, .hangingUp,
            .terminating, .ended:
            false
        }
    }

    /// The state as it matters for the connection's place; nil at the end, when it has none or is a WebSocket.
    var admissionPhase: AdmissionControl.Phase? {
        switch state {
        case .unadopted, .idle(hasServed: false), .receiving, .lingering: .receiving
        case .idle(hasServed: true): .idle
        case .answering, .sending(_, isBacklogged: false): .serving
        case .sending(_, isBacklogged: true): .unread
        case .hangingUp: .unread
        case .terminating: .leaving
        case .ended: nil
        }
    }

    // MARK: Events

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .adopted: return adopted()
        case .requestArrived(let head): return requestArrived(head)
        case .bodyArrived(let bytes): return bodyArrived(bytes)
        case .bodyCompleted: return bodyCompleted()
        case .responded(let exchange, let response): return responded(exchange, response)
        case .responseDelayed: return responseDelayed()
        case .responseSent: return responseSent()
        case .requestUnreadable, .writeFailed, .nextRequestRefused, .upgradeRefused: return hangUp()
        case .inputDiscarded: return endKeepAlive()
        case .deadlinePassed: return deadlinePassed()
        case .drainRequested: return drainRequested()
        case .clientHungUp, .terminateRequested: return terminate()
        case .turnEnded: return turnEnded()
        case .upgraded: return move(to: .ended)
        case .connectionEnded: return connectionEnded()
        }
    }

    private mutating func adopted() -> [Effect] {
        switch state {
        case .unadopted: state = .idle(hasServed: false)
        case .idle, .receiving, .answering, .sending, .lingering, .hangingUp, .terminating, .ended: break
        }
        return []
    }

    private mutating func requestArrived(_ head: RequestHead) -> [Effect] {
        switch state {
        case .idle(let hasServed):
            // 4.1.6 would deliver the request's own headers as the body of a pipelined request, and call back without
            // end (`lws_http_action` reads from where the headers began). Pipelined bodies are rare; the client sees a
            // closed connection and repeats the request.
            if hasServed, head.hasLibraryBody, head.isPipelined { return hangUp() }
        case .unadopted, .receiving, .answering, .sending, .lingering, .hangingUp, .terminating, .ended: return hangUp()
        }
        var reply = Reply(
            isHead: head.isHead, keepsAlive: head.keepsAlive, bodyDelivery: head.hasLibraryBody ? .arriving : .none)
        switch head.disposition {
        case .refuse(let response):
            reply.keepsAlive = false
            return send(response, reply)
        case .answer(let response): return send(response, reply)
        case .handOver(let exchange): return handOver(exchange, body: [], reply)
        case .receive(let exchange, let body, let expectsContinue):
            return (expectsContinue ? [.sendContinue] : [])
                + move(to: .receiving(exchange, body, reply)) + [.startDeadline(.request)]
        }
    }

    private mutating func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> [Effect] {
        switch state {
        case .receiving(let exchange, var body, var reply):
            state = .hangingUp  // One owner of the body, so that its bytes are not copied.
            switch body.append(bytes) {
            case .incomplete:
                state = .receiving(exchange, body, reply)
                return []
            case .complete(let bytes): return handOver(exchange, body: bytes, reply)
            case .overrun: return hangUp()
            case .malformedChunks:
                reply.keepsAlive = false
                return send(.refusal(400, "the chunks of the body are malformed"), reply)
            case .tooLarge(let limit):
                reply.keepsAlive = false
                return send(.refusal(413, "the body is over \(limit) bytes"), reply)
            }
        case .sending: return []
        // After the handler has received the request, the library reports an empty body (`Content-Length: 0`).
        case .answering: return bytes.isEmpty ? [] : hangUp()
        case .lingering(let budget):
            guard bytes.count <= budget else { return hangUp() }
            state = .lingering(byteBudget: budget - bytes.count)
            return []
        case .unadopted, .idle, .hangingUp, .terminating, .ended: return hangUp()
        }
    }

    private mutating func bodyCompleted() -> [Effect] {
        switch state {
        case .receiving(let exchange, let body, var reply):
            guard let bytes = body.bytesAtEnd, reply.bodyDelivery != .completed else { return hangUp() }
            reply.bodyDelivery = .completed
            return handOver(exchange, body: bytes, reply)
        case .answering(let exchange, var reply):
            guard reply.bodyDelivery != .completed else { return hangUp() }
            reply.bodyDelivery = .completed
            state = .answering(exchange, reply)
            return []
        case .sending(var reply, let isBacklogged):
            guard reply.bodyDelivery != .completed else { return hangUp() }
            reply.bodyDelivery = .completed
            state = .sending(reply, isBacklogged: isBacklogged)
            return []
        // In `lingering` the whole refused body was read: closing resets nothing any more.
        case .unadopted, .idle, .lingering, .hangingUp, .terminating, .ended: return hangUp()
        }
    }

    private mutating func responded(_ exchange: Exchange, _ response: HTTPResponse) -> [Effect] {
        switch state {
        case .answering(let current, let reply): return current === exchange ? send(response, reply) : []
        case .unadopted, .idle, .receiving, .sending, .lingering, .hangingUp, .terminating, .ended: return []
        }
    }

    private mutating func responseDelayed() -> [Effect] {
        switch state {
        case .sending(let reply, isBacklogged: false):
            state = .sending(reply, isBacklogged: true)
            return [.startDiscardingInput]
        case .sending(_, isBacklogged: true), .unadopted, .idle, .receiving, .answering, .lingering, .hangingUp,
            .terminating, .ended:
            return []
        }
    }

    private mutating func responseSent() -> [Effect] {
        switch state {
        case .sending(let reply, _):
            if reply.keepsAlive {
                return move(to: .idle(hasServed: true)) + [.startDeadline(.keepAlive), .awaitNextRequest]
            }
            guard reply.bodyDelivery == .arriving else { return hangUp() }
            return move(to: .lingering(byteBudget: Self.lingerByteCount))
                + [.startDeadline(.linger), .shutDownWriting]
        case .unadopted, .idle, .receiving, .answering, .lingering, .hangingUp, .terminating, .ended: return []
        }
    }

    private mutating func deadlinePassed() -> [Effect] {
        switch state {
        case .unadopted:
            state = .ended
            return [.release]
        case .receiving(_, _, var reply):
            reply.keepsAlive = false
            return send(.refusal(408, "the request took too long"), reply)
        case .answering(let exchange, var reply):
            reply.keepsAlive = false
            state = .answering(exchange, reply)
            return [.answerOverdue(exchange)]
        case .idle, .sending, .lingering, .hangingUp: return terminate()
        case .terminating, .ended: return []
        }
    }

    private mutating func drainRequested() -> [Effect] {
        switch state {
        case .idle: return terminate()
        case .receiving, .answering, .sending: return endKeepAlive()
        case .unadopted, .lingering, .hangingUp, .terminating, .ended: return []
        }
    }

    private mutating func turnEnded() -> [Effect] {
        switch state {
        case .terminating: [.cut]
        case .unadopted, .idle, .receiving, .answering, .sending, .lingering, .hangingUp, .ended: []
        }
    }

    private mutating func connectionEnded() -> [Effect] {
        switch state {
        // The library refused it. The library's last callback releases it, or else its deadline.
        case .unadopted: []
        case .idle, .receiving, .answering, .sending, .lingering, .hangingUp, .terminating, .ended: move(to: .ended)
        }
    }

    // MARK: Transitions

    private mutating func handOver(_ exchange: Exchange, body: [UInt8], _ reply: Reply) -> [Effect] {
        move(to: .answering(exchange, reply)) + [
            .pauseReading, .startDeadline(.answer), .handOver(exchange, body: body),
        ]
    }

    private mutating func send(_ response: HTTPResponse, _ reply: Reply) -> [Effect] {
        move(to: .sending(reply, isBacklogged: false)) + [
            .startDeadline(.response), .resumeReading,
            .send(response, isHead: reply.isHead, keepsAlive: reply.keepsAlive),
        ]
    }

    private mutating func endKeepAlive() -> [Effect] {
        switch state {
        case .receiving(let exchange, let body, var reply):
            reply.keepsAlive = false
            state = .receiving(exchange, body, reply)
        case .answering(let exchange, var reply):
            reply.keepsAlive = false
            state = .answering(exchange, reply)
        case .sending(var reply, let isBacklogged):
            reply.keepsAlive = false
            state = .sending(reply, isBacklogged: isBacklogged)
        case .unadopted, .idle, .lingering, .hangingUp, .terminating, .ended: break
        }
        return []
    }

    private mutating func hangUp() -> [Effect] {
        switch state {
        case .idle, .receiving, .answering, .sending, .lingering, .hangingUp: move(to: .hangingUp)
        case .unadopted, .terminating, .ended: []
        }
    }

    private mutating func terminate() -> [Effect] {
        switch state {
        case .idle, .receiving, .answering, .sending, .lingering, .hangingUp:
            move(to: .terminating) + [.closeAtTurnEnd]
        case .unadopted, .terminating, .ended: []
        }
    }

    private mutating func move(to next: State) -> [Effect] {
        defer { state = next }
        if case .sending(_, isBacklogged: true) = state { return [.stopDiscardingInput] }
        return []
    }
}
