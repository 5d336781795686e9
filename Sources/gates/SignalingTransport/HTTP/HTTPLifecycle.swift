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
        /// The handler has the request. Next: `sending`, `streaming`, `hangingUp`, `terminating`, `ended`.
        case answering(Exchange, Reply)
        /// The handler sends the response piece by piece. The library stays paused, as in `answering`: the owner reads
        /// and writes, and no callback can return -1. Next: `terminating`, `ended`.
        case streaming(StreamPhase, Reply)
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

    /// How much of a refused body is read and discarded before the connection is closed, in bytes.
    static var lingerByteCount: Int { 1_048_576 }

    private(set) var state = State.unadopted

    // MARK: Questions

    /// Whether the library's callback for this connection must return -1.
    var mustHangUp: Bool {
        switch state {
        case .unadopted, .hangingUp, .terminating, .ended: true
        case .idle, .receiving, .answering, .streaming, .sending, .lingering: false
        }
    }

    /// Whether the connection is idle after at least one request.
    var isIdleAgain: Bool {
        switch state {
        case .idle(let hasServed): hasServed
        case .unadopted, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended:
            false
        }
    }

    /// Whether a response is being sent.
    var isSending: Bool {
        switch state {
        case .sending: true
        case .unadopted, .idle, .receiving, .answering, .streaming, .lingering, .hangingUp, .terminating, .ended: false
        }
    }

    /// Whether the owner discards input: a response waits for the client or is streamed, and the library reads no body
    /// meanwhile.
    var discardsInput: Bool {
        switch state {
        case .sending(let reply, isBacklogged: true): reply.bodyDelivery != .arriving
        case .streaming: true
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
        case .answering, .sending(_, isBacklogged: false), .streaming(.flowing, _), .streaming(.backlogged, _): .serving
        case .sending(_, isBacklogged: true), .streaming(.ending, _), .streaming(.lingering, _): .unread
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
        case .streamBegun(let exchange, let head): return streamBegun(exchange, head)
        case .streamDelayed(let hasSent): return streamDelayed(hasSent: hasSent)
        case .streamDrained: return streamDrained()
        case .streamEnded: return endStream(tellsHandler: false)
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
        case .idle, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended: break
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
        case .unadopted, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended:
            return hangUp()
        }
        var reply = Reply(
            isHead: head.isHead, acceptsChunks: head.acceptsChunks, keepsAlive: head.keepsAlive,
            bodyDelivery: head.hasLibraryBody ? .arriving : .none)
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
        case .answering, .streaming: return bytes.isEmpty ? [] : hangUp()
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
        case .streaming(let phase, var reply):
            guard reply.bodyDelivery != .completed else { return hangUp() }
            reply.bodyDelivery = .completed
            state = .streaming(phase, reply)
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
        case .unadopted, .idle, .receiving, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended:
            return []
        }
    }

    private mutating func streamBegun(_ exchange: Exchange, _ head: HTTPResponse) -> [Effect] {
        switch state {
        case .answering(let current, let reply):
            guard current === exchange else { return [] }
            guard !reply.isHead, !head.isBodiless else {
                return move(to: .streaming(.ending, reply)) + [.startDeadline(.response), .beginStream(head, .none)]
            }
            return move(to: .streaming(.flowing, reply))
                + [.clearDeadline, .beginStream(head, reply.acceptsChunks ? .chunked : .toEnd)]
        case .unadopted, .idle, .receiving, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended:
            return []
        }
    }

    private mutating func streamDelayed(hasSent: Bool) -> [Effect] {
        switch state {
        case .streaming(.flowing, let reply):
            state = .streaming(.backlogged, reply)
            return [.startDeadline(.response)]
        case .streaming(.backlogged, _): return hasSent ? [.startDeadline(.response)] : []
        // From its end on the time for the rest is absolute: a client must not keep the connection by reading slowly.
        case .streaming(.ending, _): return []
        case .streaming(.lingering, _), .unadopted, .idle, .receiving, .answering, .sending, .lingering, .hangingUp,
            .terminating, .ended:
            return []
        }
    }

    private mutating func streamDrained() -> [Effect] {
        switch state {
        case .streaming(.backlogged, let reply):
            state = .streaming(.flowing, reply)
            return [.clearDeadline]
        case .streaming(.ending, let reply):
            state = .streaming(.lingering, reply)
            return [.startDeadline(.linger), .shutDownWriting, .reportStreamEnd]
        case .streaming(.flowing, _), .streaming(.lingering, _), .unadopted, .idle, .receiving, .answering, .sending,
            .lingering, .hangingUp, .terminating, .ended:
            return []
        }
    }

    private mutating func endStream(tellsHandler: Bool) -> [Effect] {
        switch state {
        case .streaming(.flowing, let reply), .streaming(.backlogged, let reply):
            state = .streaming(.ending, reply)
            return [.startDeadline(.response), .finishStream] + (tellsHandler ? [.reportStreamEnd] : [])
        case .streaming(.ending, _), .streaming(.lingering, _), .unadopted, .idle, .receiving, .answering, .sending,
            .lingering, .hangingUp, .terminating, .ended:
            return []
        }
    }

    private mutating func responseDelayed() -> [Effect] {
        switch state {
        case .sending(let reply, isBacklogged: false):
            state = .sending(reply, isBacklogged: true)
            return [.startDiscardingInput]
        case .sending(_, isBacklogged: true), .unadopted, .idle, .receiving, .answering, .streaming, .lingering,
            .hangingUp, .terminating, .ended:
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
        case .unadopted, .idle, .receiving, .answering, .streaming, .lingering, .hangingUp, .terminating, .ended:
            return []
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
        case .idle, .streaming, .sending, .lingering, .hangingUp: return terminate()
        case .terminating, .ended: return []
        }
    }

    private mutating func drainRequested() -> [Effect] {
        switch state {
        case .idle: return terminate()
        case .receiving, .answering, .sending: return endKeepAlive()
        case .streaming: return endStream(tellsHandler: true)
        case .unadopted, .lingering, .hangingUp, .terminating, .ended: return []
        }
    }

    private mutating func turnEnded() -> [Effect] {
        switch state {
        case .terminating: [.cut]
        case .unadopted, .idle, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp, .ended: []
        }
    }

    private mutating func connectionEnded() -> [Effect] {
        switch state {
        // The library refused it. The library's last callback releases it, or else its deadline.
        case .unadopted: []
        case .idle, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp, .terminating, .ended:
            move(to: .ended)
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
        // Another request never follows a streamed response.
        case .unadopted, .idle, .streaming, .lingering, .hangingUp, .terminating, .ended: break
        }
        return []
    }

    private mutating func hangUp() -> [Effect] {
        switch state {
        case .idle, .receiving, .answering, .sending, .lingering, .hangingUp: move(to: .hangingUp)
        case .streaming: terminate()
        case .unadopted, .terminating, .ended: []
        }
    }

    private mutating func terminate() -> [Effect] {
        switch state {
        case .idle, .receiving, .answering, .streaming, .sending, .lingering, .hangingUp:
            move(to: .terminating) + [.closeAtTurnEnd]
        case .unadopted, .terminating, .ended: []
        }
    }

    private mutating func move(to next: State) -> [Effect] {
        defer { state = next }
        return switch state {
        case .sending(_, isBacklogged: true): [.stopDiscardingInput]
        case .streaming: [.endStream]
        case .sending(_, isBacklogged: false), .unadopted, .idle, .receiving, .answering, .lingering, .hangingUp,
            .terminating, .ended:
            []
        }
    }
}
