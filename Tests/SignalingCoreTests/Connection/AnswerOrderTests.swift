import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A connected socket whose engine answers only when the test says so.
private struct SlowEngine {
    var state = Phase.connected.state
    var asked: [(request: RequestID, outcome: SessionOutcome)] = []
    var said: [String] = []
    var now = MonotonicInstant.seconds(2)

    mutating func handle(_ input: ConnectionState.Input) {
        for effect in state.handle(input, now: now) {
            switch effect {
            case .submit(.leave, _, let request?): asked.append((request, .done))
            case .submit(_, _, let request?):
                asked.append((request, .signalled(Seq(100 + request.rawValue))))
            case .submit(_, _, nil): break
            default: said.append(effect.testDescription)
            }
        }
    }

    mutating func answer(at index: Int) {
        let (request, outcome) = asked.remove(at: index)
        handle(.answered(request, outcome))
    }

    mutating func signal(_ id: Int64) { handle(.received(.signal(RequestID(id), SignalRequest()))) }
    mutating func malformed(_ id: Int64) {
        handle(.receivedMalformed(ClientMessageError(id: RequestID(id), SignalingError(.invalidParameter, "no"))))
    }
}

@Suite("Answers follow the order of the requests, however late the engine gives them")
struct AnswerOrderTests {
    @Test("WIRE-8: a refusal does not overtake an answer that the engine has not given yet")
    func refusalsWait() {
        var slow = SlowEngine()
        slow.signal(2)
        slow.malformed(3)
        slow.handle(.received(.connect(RequestID(4), .test)))
        slow.signal(5)
        slow.malformed(6)
        #expect(slow.said.isEmpty)
        slow.answer(at: 0)
        #expect(
            slow.said == [
                "send ack 2 102", "send error 3 400 OT_INVALID_PARAMETER", "send error 4 1015 OT_ILLEGAL_STATE",
            ])
        slow.said = []
        slow.answer(at: 0)
        #expect(slow.said == ["send ack 5 105", "send error 6 400 OT_INVALID_PARAMETER"])
        slow.said = []
        slow.malformed(7)
        #expect(slow.said == ["send error 7 400 OT_INVALID_PARAMETER"], "with nothing before it, it goes at once")
    }

    @Test("WIRE-8, LEAVE-1, LOG-14: disconnect is answered after all earlier requests and its leave, and then closed")
    func disconnectWaits() {
        var slow = SlowEngine()
        slow.signal(2)
        slow.signal(3)
        slow.handle(.received(.disconnect(RequestID(4))))
        slow.signal(5)
        #expect(slow.said.isEmpty)
        #expect(slow.asked.map(\.request.rawValue) == [2, 3, 4], "what comes behind disconnect is not carried out")
        #expect(slow.state.connected == nil)
        slow.answer(at: 0)
        #expect(slow.said == ["send ack 2 102"])
        slow.answer(at: 1)
        #expect(slow.said == ["send ack 2 102"], "the leave overtook nothing")
        slow.answer(at: 0)
        #expect(
            slow.said.dropFirst() == [
                "send ack 3 103", "send ack 4", "send disconnected clientDisconnected",
                "close 1000 after all unsent bytes",
            ])
        #expect(slow.state.isClosing)
    }

    @Test("LEAVE-1: a client that leaves waits for the engine for at most two heartbeats")
    func leavingEnds() {
        let state = Phase.leaving.state
        #expect(state.nextDeadline == .seconds(21))
    }

    @Test("WIRE-8, CON-9: a request before `connected` is refused after it, or not answered if the connect is refused")
    func beforeConnected() {
        var state = Phase.authenticating.state
        #expect(state.handle(.received(.signal(RequestID(2), SignalRequest())), now: .seconds(2)).isEmpty)
        #expect(
            state.handle(.authenticated(.failure(SignalingError(.authenticationError, "no"))), now: .seconds(2))
                .map(\.testDescription) == ["send error 1 1004 OT_AUTHENTICATION_ERROR", "close 4501"])
    }

    @Test("WIRE-8: the same id twice is answered twice, the older first")
    func sameID() {
        var slow = SlowEngine()
        slow.signal(2)
        slow.signal(2)
        slow.asked[1].outcome = .refused(SignalingError(.notFound, "no"))
        slow.answer(at: 0)
        slow.answer(at: 0)
        #expect(slow.said == ["send ack 2 102", "send error 2 404 OT_NOT_FOUND"])
    }

    @Test(
        "WIRE-8: in any order of the engine's answers, the client gets them in the order of its requests"
    )
    func interleavings() {
        for seed in 0..<300 {
            var random = SeededGenerator(seed: UInt64(seed))
            var slow = SlowEngine()
            var requests: [Int64] = []
            var malformedCount = 0
            for id in Int64(2)...Int64.random(in: 10...80, using: &random) {
                // The engine answers at once, or falls far behind.
                while !slow.asked.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                    slow.answer(at: .random(in: 0..<slow.asked.count, using: &random))
                }
                requests.append(id)
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where malformedCount < 9:
                    malformedCount += 1
                    slow.malformed(id)
                case 1: slow.handle(.received(.connect(RequestID(id), .test)))
                case 2: slow.handle(.received(.forceDisconnect(RequestID(id), client("bob"))))
                default: slow.signal(id)
                }
                let heard = slow.said.map { Int64($0.split(separator: " ")[2]) }
                #expect(heard == requests.prefix(heard.count).map { $0 }, "seed \(seed)")
            }
            while !slow.asked.isEmpty { slow.answer(at: .random(in: 0..<slow.asked.count, using: &random)) }
            #expect(slow.said.map { Int64($0.split(separator: " ")[2]) } == requests, "seed \(seed)")
        }
    }
}

@Suite("Back-pressure")
struct ReadPressureTests {
    private func shown(_ state: inout ConnectionState, _ input: ConnectionState.Input, at seconds: Double) -> [String] {
        state.handle(input, now: .seconds(seconds)).map(\.testDescription)
    }

    private func report(
        _ state: inout ConnectionState, waiting: Int, acknowledged: UInt64 = 0, at seconds: Double
    ) -> [String] {
        shown(&state, .backlog(waitingByteCount: waiting, acknowledgedByteCount: acknowledged), at: seconds)
    }

    @Test(
        "G5, WIRE-13: reading pauses above 64 KiB of unsent bytes, resumes at 16 KiB, and does not switch in between"
    )
    func bytes() {
        var state = Phase.connected.state
        #expect(report(&state, waiting: 65_536, at: 2) == [])
        #expect(report(&state, waiting: 65_537, at: 2) == ["pause reading"])
        #expect(state.isReadingPaused)
        #expect(report(&state, waiting: 200_000, at: 2) == [])
        #expect(report(&state, waiting: 16_385, at: 2) == [])
        #expect(report(&state, waiting: 16_384, at: 2) == ["resume reading"])
        #expect(!state.isReadingPaused)
        #expect(report(&state, waiting: 65_536, at: 2) == [])
    }

    @Test("G5, WIRE-13, RES-9: reading pauses above 256 unanswered requests, and resumes at 128")
    func requests() {
        var slow = SlowEngine()
        for id in 2..<Int64(258) { slow.signal(id) }
        #expect(slow.said.isEmpty)
        slow.signal(258)
        #expect(slow.said == ["pause reading"])
        // A refusal that waits is a request without an answer, too.
        for id in 259..<Int64(262) { slow.malformed(id) }
        slow.said = []
        for _ in 0..<128 { slow.answer(at: 0) }
        #expect(slow.said.count == 128)
        for _ in 0..<3 { slow.answer(at: 0) }
        #expect(!slow.said.contains("resume reading"), "132 - 3 are left")
        slow.answer(at: 0)
        #expect(slow.said.suffix(2) == ["send ack 133 233", "resume reading"])
    }

    @Test("WIRE-13: reading resumes only when both measures are low")
    func both() {
        var slow = SlowEngine()
        for id in 2..<Int64(302) { slow.signal(id) }
        slow.handle(.backlog(waitingByteCount: 70_000, acknowledgedByteCount: 0))
        #expect(slow.said == ["pause reading"])
        slow.handle(.backlog(waitingByteCount: 0, acknowledgedByteCount: 1))
        #expect(slow.said == ["pause reading"])
        for _ in 0..<300 { slow.answer(at: 0) }
        #expect(slow.said.count { $0 == "resume reading" } == 1)
    }

    @Test("WIRE-14: a paused client that reads nothing for two heartbeats is closed with 4002, not 4001")
    func stalled() {
        var state = Phase.connected.state
        _ = state.handle(.received(.pong), now: .seconds(9))
        #expect(report(&state, waiting: 70_000, acknowledged: 5, at: 10) == ["pause reading"])
        #expect(state.advance(to: .seconds(29.999_999_999)).isEmpty, "no ping: it has enough to read")
        _ = report(&state, waiting: 70_000, acknowledged: 5, at: 30)
        #expect(state.nextDeadline == .seconds(30))
        #expect(
            state.advance(to: .seconds(30)).map(\.testDescription) == [
                "submit detach ada to 1_room", "send disconnected networkDisconnected, come back", "close 4002",
            ])
    }

    @Test(
        "WIRE-14: a client that reads anything stays, however long it sends nothing",
        arguments: [(1, 0), (0, 1)])
    func slow(lessWaiting: Int, moreTaken: UInt64) {
        var state = Phase.connected.state
        _ = report(&state, waiting: 70_000, acknowledged: 5, at: 2)
        for step in 1...100 {
            let now = 2 + Double(step) * 19
            // Either is progress: more acknowledged bytes, or fewer waiting ones.
            let input = ConnectionState.Input.backlog(
                waitingByteCount: 70_000 - step * lessWaiting, acknowledgedByteCount: 5 + UInt64(step) * moreTaken)
            _ = shown(&state, input, at: now)
            #expect(state.advance(to: .seconds(now)).isEmpty)
        }
        #expect(!state.isClosing)
    }

    @Test("HB-3, WIRE-14: the client's silence counts from the end of the pause")
    func heardAgain() {
        var state = Phase.connected.state
        _ = report(&state, waiting: 70_000, acknowledged: 5, at: 2)
        _ = report(&state, waiting: 60_000, acknowledged: 6, at: 20)
        #expect(report(&state, waiting: 0, acknowledged: 7, at: 35) == ["resume reading"])
        #expect(state.advance(to: .seconds(35)).map(\.testDescription) == ["ping"])
        #expect(state.advance(to: .seconds(45)).map(\.testDescription) == ["ping"])
        #expect(state.advance(to: .seconds(54.999_999_999)).isEmpty)
        #expect(state.advance(to: .seconds(55)).map(\.testDescription).last == "close 4001")
    }

    @Test("WIRE-14: a client that only waits for the engine is pinged, and stays for as long as the engine needs")
    func waitingForTheEngine() {
        var slow = SlowEngine()
        for id in 2..<Int64(402) { slow.signal(id) }
        slow.now = .seconds(15)
        slow.answer(at: 0)
        #expect(slow.state.advance(to: .seconds(34)).map(\.testDescription) == ["ping"])
        #expect(slow.state.advance(to: .seconds(3_600)).map(\.testDescription) == ["ping"])
    }

    @Test("CON-2: a pause does not extend the connect timeout")
    func beforeConnecting() {
        var state = Phase.awaitingConnect.state
        _ = report(&state, waiting: 70_000, acknowledged: 5, at: 9)
        #expect(state.advance(to: .seconds(10)).map(\.testDescription) == ["close 4003"])
    }
}
