import Testing

@testable import SignalingTransport

extension HTTPLifecycleTests {
    final class Request: Sendable {}

    typealias Lifecycle = HTTPLifecycle<Request>

    /// The request that the connection serves in each stage.
    static let request = Request()
    static let response = HTTPResponse(status: 200)

    /// The states that a connection can be in, each reached by the events that lead there.
    enum Stage: CaseIterable {
        case unadopted, idle, receiving, receivingChunks, answering, sending, backlogged, lingering, hangingUp
        case terminating, ended, streaming, streamBacklogged, streamEnding, streamLingering

        var lifecycle: Lifecycle {
            var lifecycle = Lifecycle()
            for event in events { _ = lifecycle.handle(event) }
            return lifecycle
        }

        private var events: [Lifecycle.Event] {
            let body = Lifecycle.RequestHead(
                hasLibraryBody: true,
                disposition: .receive(request, .counted(byteCount: 5), expectsContinue: false))
            let chunks = Lifecycle.RequestHead(
                keepsAlive: false, hasLibraryBody: true,
                disposition: .receive(request, .chunked(ChunkedBody(limit: 10)), expectsContinue: false))
            let get = Lifecycle.RequestHead(disposition: .handOver(request))
            let refused = Lifecycle.RequestHead(
                hasLibraryBody: true, disposition: .refuse(HTTPResponse(status: 413)))
            return switch self {
            case .unadopted: []
            case .idle: [.adopted]
            case .receiving: [.adopted, .requestArrived(body)]
            case .receivingChunks: [.adopted, .requestArrived(chunks)]
            case .answering: [.adopted, .requestArrived(get)]
            case .sending: [.adopted, .requestArrived(get), .responded(request, response)]
            case .backlogged: [.adopted, .requestArrived(get), .responded(request, response), .responseDelayed]
            case .lingering: [.adopted, .requestArrived(refused), .responseSent]
            case .hangingUp: [.adopted, .upgradeRefused]
            case .terminating: [.adopted, .terminateRequested]
            case .ended: [.adopted, .connectionEnded]
            case .streaming: stream
            case .streamBacklogged: stream + [.streamDelayed(hasSent: false)]
            case .streamEnding: stream + [.streamEnded]
            case .streamLingering: stream + [.streamEnded, .streamDrained]
            }
        }

        private var stream: [Lifecycle.Event] {
            [
                .adopted, .requestArrived(.init(disposition: .handOver(request))), .streamBegun(request, response),
            ]
        }

        var isStreaming: Bool { [.streaming, .streamBacklogged, .streamEnding, .streamLingering].contains(self) }

        init(_ state: Lifecycle.State) {
            self =
                switch state {
                case .unadopted: .unadopted
                case .idle: .idle
                case .receiving(_, .counted, _): .receiving
                case .receiving(_, .chunked, _): .receivingChunks
                case .answering: .answering
                case .sending(_, isBacklogged: false): .sending
                case .sending(_, isBacklogged: true): .backlogged
                case .lingering: .lingering
                case .hangingUp: .hangingUp
                case .terminating: .terminating
                case .ended: .ended
                case .streaming(.flowing, _): .streaming
                case .streaming(.backlogged, _): .streamBacklogged
                case .streaming(.ending, _): .streamEnding
                case .streaming(.lingering, _): .streamLingering
                }
        }
    }

    struct Row: CustomTestStringConvertible {
        let name: String
        let step: @Sendable (inout Lifecycle) -> [Lifecycle.Effect]
        /// One cell for each stage, in their order.
        let cells: [Cell<Stage>]

        init(_ name: String, _ event: @escaping @Sendable () -> Lifecycle.Event, _ cells: Cell<Stage>...) {
            self.name = name
            step = { $0.handle(event()) }
            self.cells = cells
        }

        init(_ name: String, body: String, _ cells: Cell<Stage>...) {
            self.name = name
            step = { lifecycle in
                Array(body.utf8).withUnsafeBytes { lifecycle.handle(.bodyArrived($0)) }
            }
            self.cells = cells
        }

        var testDescription: String { name }

        private static let refusal408 = ["startDeadline response", "resumeReading", "send 408 closing"]

        /// The rows' columns:
        /// unadopted, idle, receiving, receivingChunks,
        /// answering, sending, backlogged, lingering,
        /// hangingUp, terminating, ended,
        /// streaming, streamBacklogged, streamEnding, streamLingering
        static let table: [Row] = [
            Row(
                "the library adopts it", { .adopted },
                .gives(to: .idle), .impossible("once"), .impossible("once"), .impossible("once"),
                .impossible("once"), .impossible("once"), .impossible("once"), .impossible("once"),
                .impossible("once"), .impossible("once"), .impossible("once"),
                .impossible("once"), .impossible("once"), .impossible("once"), .impossible("once")),
            Row(
                "a request without body", { .requestArrived(.init(disposition: .handOver(request))) },
                .ignored, .gives("pauseReading", "startDeadline answer", "handOver 0", to: .answering),
                .gives(to: .hangingUp), .gives(to: .hangingUp),
                .gives(to: .hangingUp), .gives(to: .hangingUp), .gives("stopDiscardingInput", to: .hangingUp),
                .gives(to: .hangingUp),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "a request that is refused",
                { .requestArrived(.init(disposition: .refuse(HTTPResponse(status: 400)))) },
                .ignored, .gives("startDeadline response", "resumeReading", "send 400 closing", to: .sending),
                .gives(to: .hangingUp), .gives(to: .hangingUp),
                .gives(to: .hangingUp), .gives(to: .hangingUp), .gives("stopDiscardingInput", to: .hangingUp),
                .gives(to: .hangingUp),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "a piece of the body", body: "xyz",
                .ignored, .gives(to: .hangingUp), .gives(),
                .gives("startDeadline response", "resumeReading", "send 400 closing", to: .sending),
                .gives(to: .hangingUp), .ignored, .ignored, .gives(),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "more body than announced", body: "xyzxyz",
                .ignored, .gives(to: .hangingUp), .gives(to: .hangingUp),
                .gives("startDeadline response", "resumeReading", "send 400 closing", to: .sending),
                .gives(to: .hangingUp), .ignored, .ignored, .gives(),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "all chunks of a body", body: "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
                .ignored, .gives(to: .hangingUp), .gives(to: .hangingUp),
                .gives("pauseReading", "startDeadline answer", "handOver 5", to: .answering),
                .gives(to: .hangingUp), .ignored, .ignored, .gives(),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "a chunk over the limit", body: "b\r\n",
                .ignored, .gives(to: .hangingUp), .gives(),
                .gives("startDeadline response", "resumeReading", "send 413 closing", to: .sending),
                .gives(to: .hangingUp), .ignored, .ignored, .gives(),
                .ignored, .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "an empty body is announced", body: "",
                .ignored, .gives(to: .hangingUp), .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored),
            Row(
                "the library reports the end of the body", { .bodyCompleted },
                .ignored, .gives(to: .hangingUp), .gives(to: .hangingUp), .gives(to: .hangingUp),
                .gives(), .gives(), .gives(), .gives(to: .hangingUp),
                .ignored, .ignored, .ignored,
                .gives(), .gives(), .gives(), .gives()),
            Row(
                "the handler responds", { .responded(request, response) },
                .impossible("no request"), .ignored, .impossible("not handed over"), .impossible("not handed over"),
                .gives("startDeadline response", "resumeReading", "send 200 keeping alive", to: .sending), .ignored,
                .ignored, .ignored,
                .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored),
            Row(
                "the handler responds to another request", { .responded(Request(), response) },
                .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored),
            Row(
                "the rest of the response is sent later", { .responseDelayed },
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .impossible("nothing to send"),
                .impossible("nothing to send"), .gives("startDiscardingInput", to: .backlogged), .ignored,
                .impossible("nothing to send"),
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .impossible("it is streamed"), .impossible("it is streamed"), .impossible("it is streamed"),
                .impossible("it is streamed")),
            Row(
                "the response is sent", { .responseSent },
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .impossible("nothing to send"),
                .impossible("nothing to send"), .gives("startDeadline keepAlive", "awaitNextRequest", to: .idle),
                .gives("stopDiscardingInput", "startDeadline keepAlive", "awaitNextRequest", to: .idle),
                .impossible("nothing to send"),
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .impossible("it is streamed"), .impossible("it is streamed"), .impossible("it is streamed"),
                .impossible("it is streamed")),
            Row(
                "a write fails", { .writeFailed },
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .impossible("nothing to send"),
                .impossible("nothing to send"), .gives(to: .hangingUp),
                .gives("stopDiscardingInput", to: .hangingUp), .impossible("nothing to send"),
                .impossible("nothing to send"), .impossible("nothing to send"), .impossible("nothing to send"),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating), .impossible("nothing to write")),
            Row(
                "the client hangs up while its response waits", { .clientHungUp },
                .impossible("no response"), .impossible("no response"), .impossible("no response"),
                .impossible("no response"),
                .impossible("no response"), .impossible("nothing is discarded"),
                .gives("stopDiscardingInput", "closeAtTurnEnd", to: .terminating), .impossible("no response"),
                .impossible("no response"), .impossible("no response"), .impossible("no response"),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "the deadline passes", { .deadlinePassed },
                .gives("release", to: .ended), .gives("closeAtTurnEnd", to: .terminating),
                .gives(refusal408, .sending), .gives(refusal408, .sending),
                .gives("answerOverdue", to: .answering),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("stopDiscardingInput", "closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .ignored, .ignored,
                .impossible("it has none"), .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "the server stops accepting", { .drainRequested },
                .ignored, .gives("closeAtTurnEnd", to: .terminating), .gives(), .gives(),
                .gives(), .gives(), .gives(), .ignored,
                .ignored, .ignored, .ignored,
                .gives("startDeadline response", "finishStream", "reportStreamEnd", to: .streamEnding),
                .gives("startDeadline response", "finishStream", "reportStreamEnd", to: .streamEnding), .ignored,
                .ignored),
            Row(
                "the server terminates", { .terminateRequested },
                .ignored, .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("stopDiscardingInput", "closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .ignored, .ignored,
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating),
                .gives("endStream", "closeAtTurnEnd", to: .terminating)),
            Row(
                "it becomes a WebSocket", { .upgraded },
                .impossible("no request"), .gives(to: .ended), .impossible("a request is served"),
                .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("it hangs up"), .impossible("it hangs up"), .impossible("it hangs up"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served")),
            Row(
                "a handshake is refused", { .upgradeRefused },
                .impossible("no request"), .gives(to: .hangingUp), .impossible("a request is served"),
                .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("it hangs up"), .impossible("it hangs up"), .impossible("it hangs up"),
                .impossible("a request is served"), .impossible("a request is served"),
                .impossible("a request is served"), .impossible("a request is served")),
            Row(
                "the turn ends", { .turnEnded },
                .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored,
                .ignored, .gives("cut"), .ignored,
                .ignored, .ignored, .ignored, .ignored),
            Row(
                "the connection ends", { .connectionEnded },
                .ignored, .gives(to: .ended), .gives(to: .ended), .gives(to: .ended),
                .gives(to: .ended), .gives(to: .ended), .gives("stopDiscardingInput", to: .ended), .gives(to: .ended),
                .gives(to: .ended), .gives(to: .ended), .ignored,
                .gives("endStream", to: .ended), .gives("endStream", to: .ended), .gives("endStream", to: .ended),
                .gives("endStream", to: .ended)),
            Row(
                "the handler begins a stream", { .streamBegun(request, response) },
                .impossible("no request"), .ignored, .impossible("not handed over"), .impossible("not handed over"),
                .gives("clearDeadline", "beginStream 200 chunked", to: .streaming), .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored),
            Row(
                "the handler begins a stream for another request", { .streamBegun(Request(), response) },
                .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored, .ignored, .ignored),
            Row(
                "the client has taken a part of what waits", { .streamDelayed(hasSent: true) },
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"),
                .gives("startDeadline response", to: .streamBacklogged), .gives("startDeadline response"), .ignored,
                .impossible("nothing to write")),
            Row(
                "the client takes nothing", { .streamDelayed(hasSent: false) },
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"),
                .gives("startDeadline response", to: .streamBacklogged), .ignored, .ignored,
                .impossible("nothing to write")),
            Row(
                "nothing waits in the stream any more", { .streamDrained },
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .ignored,
                .gives("clearDeadline", to: .streaming),
                .gives("startDeadline linger", "shutDownWriting", "reportStreamEnd", to: .streamLingering), .ignored),
            Row(
                "the handler ends the stream", { .streamEnded },
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"), .impossible("no stream"),
                .impossible("no stream"), .impossible("no stream"),
                .gives("startDeadline response", "finishStream", to: .streamEnding),
                .gives("startDeadline response", "finishStream", to: .streamEnding), .ignored, .ignored),
        ]
    }
}

@Suite("An HTTP connection's life cycle")
struct HTTPLifecycleTests {
    static func shown(_ effect: Lifecycle.Effect) -> String {
        switch effect {
        case .startDeadline(let deadline): "startDeadline \(deadline)"
        case .sendContinue: "sendContinue"
        case .pauseReading: "pauseReading"
        case .resumeReading: "resumeReading"
        case .handOver(_, let body): "handOver \(body.count)"
        case .answerOverdue: "answerOverdue"
        case .send(let response, let isHead, let keepsAlive):
            "send \(response.status)\(isHead ? " without body" : "") \(keepsAlive ? "keeping alive" : "closing")"
        case .clearDeadline: "clearDeadline"
        case .beginStream(let head, let framing): "beginStream \(head.status) \(framing)"
        case .finishStream: "finishStream"
        case .reportStreamEnd: "reportStreamEnd"
        case .endStream: "endStream"
        case .startDiscardingInput: "startDiscardingInput"
        case .stopDiscardingInput: "stopDiscardingInput"
        case .awaitNextRequest: "awaitNextRequest"
        case .shutDownWriting: "shutDownWriting"
        case .closeAtTurnEnd: "closeAtTurnEnd"
        case .cut: "cut"
        case .release: "release"
        }
    }

    private func effects(_ lifecycle: inout Lifecycle, _ event: Lifecycle.Event) -> [String] {
        lifecycle.handle(event).map(Self.shown)
    }

    private func receive(_ body: String, _ lifecycle: inout Lifecycle) -> [String] {
        Array(body.utf8).withUnsafeBytes { lifecycle.handle(.bodyArrived($0)).map(Self.shown) }
    }

    /// A connection whose response to a request with this head is being sent.
    private func sending(_ head: Lifecycle.RequestHead) -> Lifecycle {
        var lifecycle = Stage.idle.lifecycle
        _ = lifecycle.handle(.requestArrived(head))
        _ = lifecycle.handle(.responded(Self.request, Self.response))
        return lifecycle
    }

    @Test("each event in each state gives what the table says", arguments: Row.table)
    func table(_ row: Row) throws {
        try #require(row.cells.count == Stage.allCases.count)
        for (stage, cell) in zip(Stage.allCases, row.cells) {
            var lifecycle = stage.lifecycle
            try #require(Stage(lifecycle.state) == stage)
            let effects = row.step(&lifecycle).map(Self.shown)
            let next = Stage(lifecycle.state)
            switch cell {
            case .gives(let expected, let expectedStage):
                #expect(effects == expected, "\(row.name), \(stage)")
                #expect(next == expectedStage ?? stage, "\(row.name), \(stage)")
            case .ignored:
                #expect(effects == [] && next == stage, "\(row.name), \(stage)")
            case .impossible(let reason):
                // The owner makes these events impossible. If one comes, it may end the connection and nothing else.
                let isEnd = [.hangingUp, .terminating, .ended].contains(next)
                #expect(
                    next == stage && effects == [] || isEnd && !effects.contains { $0.hasPrefix("send") },
                    "\(row.name), \(stage): impossible since \(reason)")
            }
        }
    }

    @Test("questions: each state hangs up, sends and discards input as it should")
    func hangUp() {
        for stage in Stage.allCases {
            let lifecycle = stage.lifecycle
            let isClosing = [.unadopted, .hangingUp, .terminating, .ended].contains(stage)
            #expect(lifecycle.mustHangUp == isClosing, "\(stage)")
            #expect(lifecycle.isSending == [.sending, .backlogged].contains(stage), "\(stage)")
            #expect(lifecycle.discardsInput == (stage == .backlogged || stage.isStreaming), "\(stage)")
        }
    }

    @Test("a counted body is handed over when the library reports its end, and only if it is complete")
    func countedBody() {
        var lifecycle = Stage.receiving.lifecycle
        for piece in ["h", "", "ell"] { #expect(receive(piece, &lifecycle) == []) }
        var incomplete = lifecycle
        #expect(effects(&incomplete, .bodyCompleted) == [] && incomplete.mustHangUp)
        #expect(receive("o", &lifecycle) == [])
        #expect(effects(&lifecycle, .bodyCompleted) == ["pauseReading", "startDeadline answer", "handOver 5"])
        #expect(effects(&lifecycle, .bodyCompleted) == [] && lifecycle.mustHangUp, "the library repeats itself")
    }

    @Test("a client that expects a 100 gets it before its body is received")
    func expectsContinue() {
        var lifecycle = Stage.idle.lifecycle
        let head = Lifecycle.RequestHead(
            hasLibraryBody: true,
            disposition: .receive(Self.request, .counted(byteCount: 5), expectsContinue: true))
        #expect(effects(&lifecycle, .requestArrived(head)) == ["sendContinue", "startDeadline request"])
    }

    @Test("a pipelined body behind an earlier request closes the connection; a first request's does not")
    func pipelinedBody() {
        let head = Lifecycle.RequestHead(
            hasLibraryBody: true, isPipelined: true,
            disposition: .receive(Self.request, .counted(byteCount: 5), expectsContinue: false))
        var first = Stage.idle.lifecycle
        #expect(!first.isIdleAgain)
        #expect(effects(&first, .requestArrived(head)) == ["startDeadline request"])
        var second = sending(.init(disposition: .handOver(Self.request)))
        _ = second.handle(.responseSent)
        #expect(second.isIdleAgain)
        #expect(effects(&second, .requestArrived(head)) == [] && second.mustHangUp)
    }

    @Test("HEAD is answered without a body, and a request without keep-alive closes")
    func replyTerms() {
        var lifecycle = Stage.idle.lifecycle
        _ = lifecycle.handle(
            .requestArrived(.init(isHead: true, keepsAlive: false, disposition: .handOver(Self.request))))
        #expect(
            effects(&lifecycle, .responded(Self.request, Self.response))
                == ["startDeadline response", "resumeReading", "send 200 without body closing"])
        #expect(effects(&lifecycle, .responseSent) == [] && lifecycle.mustHangUp)
    }

    @Test("a response of the transport itself keeps the connection, a refusal closes it")
    func ownResponses() {
        for (disposition, expected) in [
            (Lifecycle.RequestHead.Disposition.answer(HTTPResponse(status: 426)), "send 426 keeping alive"),
            (.refuse(HTTPResponse(status: 411)), "send 411 closing"),
        ] {
            var lifecycle = Stage.idle.lifecycle
            #expect(effects(&lifecycle, .requestArrived(.init(disposition: disposition))).last == expected)
        }
    }

    @Test("the server stops during a request: its response says so, and the connection closes after it")
    func draining() {
        for stage in [Stage.receiving, .answering] {
            var lifecycle = stage.lifecycle
            #expect(effects(&lifecycle, .drainRequested) == [])
            if stage == .receiving {
                _ = receive("hello", &lifecycle)
                _ = lifecycle.handle(.bodyCompleted)
            }
            let sent = effects(&lifecycle, .responded(Self.request, Self.response))
            #expect(sent.last == "send 200 closing")
            #expect(effects(&lifecycle, .responseSent) == [] && lifecycle.mustHangUp)
        }
    }

    @Test("pipelined requests that were discarded close the connection after the response")
    func discarded() {
        var lifecycle = Stage.backlogged.lifecycle
        #expect(effects(&lifecycle, .inputDiscarded) == [])
        #expect(effects(&lifecycle, .responseSent) == ["stopDiscardingInput"] && lifecycle.mustHangUp)
    }

    @Test("while the library reads a refused body, the owner discards nothing, and the rest is read after the response")
    func lingering() {
        var lifecycle = Stage.idle.lifecycle
        _ = lifecycle.handle(
            .requestArrived(.init(hasLibraryBody: true, disposition: .refuse(HTTPResponse(status: 413)))))
        #expect(effects(&lifecycle, .responseDelayed) == ["startDiscardingInput"])
        #expect(!lifecycle.discardsInput)
        #expect(
            effects(&lifecycle, .responseSent) == ["stopDiscardingInput", "startDeadline linger", "shutDownWriting"])
        // At the budget and over it.
        let half = String(repeating: "b", count: Lifecycle.lingerByteCount / 2)
        for _ in 0..<2 { #expect(receive(half, &lifecycle) == [] && !lifecycle.mustHangUp) }
        #expect(receive("b", &lifecycle) == [] && lifecycle.mustHangUp)
    }

    @Test("a refused body that was read to its end before the response needs no lingering")
    func completedBeforeResponse() {
        var lifecycle = Stage.idle.lifecycle
        _ = lifecycle.handle(
            .requestArrived(.init(hasLibraryBody: true, disposition: .refuse(HTTPResponse(status: 413)))))
        #expect(receive("all of it", &lifecycle) == [])
        #expect(effects(&lifecycle, .bodyCompleted) == [])
        #expect(effects(&lifecycle, .responseSent) == [] && lifecycle.mustHangUp)
    }

    @Test("a stream has chunks for HTTP/1.1, the close as its end for HTTP/1.0, and no body for HEAD, 204 and 304")
    func streamFraming() {
        let terms: [(Lifecycle.RequestHead, Int, [String])] = [
            (.init(disposition: .handOver(Self.request)), 200, ["clearDeadline", "beginStream 200 chunked"]),
            (
                .init(acceptsChunks: false, disposition: .handOver(Self.request)), 200,
                ["clearDeadline", "beginStream 200 toEnd"]
            ),
            (
                .init(isHead: true, disposition: .handOver(Self.request)), 200,
                ["startDeadline response", "beginStream 200 none"]
            ),
            (.init(disposition: .handOver(Self.request)), 204, ["startDeadline response", "beginStream 204 none"]),
        ]
        for (head, status, expected) in terms {
            var lifecycle = Stage.idle.lifecycle
            _ = lifecycle.handle(.requestArrived(head))
            #expect(effects(&lifecycle, .streamBegun(Self.request, HTTPResponse(status: status))) == expected)
            #expect(Stage(lifecycle.state) == (expected.last?.hasSuffix("none") == true ? .streamEnding : .streaming))
        }
    }

    @Test("an open stream is never displaced; one that has ended waits for its client")
    func streamPhases() {
        let phases = Stage.allCases.filter(\.isStreaming).map(\.lifecycle.admissionPhase)
        #expect(phases == [.serving, .serving, .unread, .unread])
    }

    @Test("the library reports the end of the body twice during a stream: the connection closes")
    func streamBodyRepeated() {
        var lifecycle = Stage.streaming.lifecycle
        #expect(effects(&lifecycle, .bodyCompleted) == [])
        #expect(effects(&lifecycle, .bodyCompleted) == ["endStream", "closeAtTurnEnd"])
    }

    @Test("after the deadline for the answer the connection closes behind the response")
    func overdue() {
        var lifecycle = Stage.answering.lifecycle
        #expect(effects(&lifecycle, .deadlinePassed) == ["answerOverdue"])
        #expect(
            effects(&lifecycle, .responded(Self.request, Self.response)) == [
                "startDeadline response", "resumeReading", "send 200 closing",
            ])
    }

    @Test("a connection that the library refused is kept until its deadline, whatever it reports before")
    func refusedAdoption() {
        var lifecycle = Stage.unadopted.lifecycle
        #expect(effects(&lifecycle, .connectionEnded) == [])
        #expect(effects(&lifecycle, .terminateRequested) == [])
        #expect(effects(&lifecycle, .deadlinePassed) == ["release"])
        #expect(effects(&lifecycle, .deadlinePassed) == [])
    }

    @Test("after any two events in any state, an ended connection does nothing and discards no input")
    func everyPair() {
        for first in Row.table {
            for second in Row.table {
                for stage in Stage.allCases where stage != .unadopted {
                    var lifecycle = stage.lifecycle
                    var effects = stage == .backlogged ? ["startDiscardingInput"] : []
                    if stage.isStreaming { effects = ["beginStream"] }
                    for step in [first.step, second.step] { effects += step(&lifecycle).map(Self.shown) }
                    effects += self.effects(&lifecycle, .connectionEnded)
                    let label = "\(stage), \(first.name), \(second.name)"
                    #expect(Stage(lifecycle.state) == .ended, "\(label)")
                    #expect(
                        effects.count { $0 == "startDiscardingInput" } == effects.count { $0 == "stopDiscardingInput" },
                        "\(label)")
                    #expect(
                        effects.count { $0.hasPrefix("beginStream") } == effects.count { $0 == "endStream" }, "\(label)"
                    )
                    for row in Row.table {
                        #expect(row.step(&lifecycle).isEmpty, "\(label), \(row.name)")
                        #expect(Stage(lifecycle.state) == .ended, "\(label), \(row.name)")
                    }
                }
            }
        }
    }
}
