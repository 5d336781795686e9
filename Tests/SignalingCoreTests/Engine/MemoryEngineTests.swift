import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The memory engine")
struct MemoryEngineTests {
    @Test(
        "G1, G2, G7: the memory engine fulfils the contract of every engine",
        arguments: SessionEngineContract.Promise.allCases)
    func contract(_ promise: SessionEngineContract.Promise) async throws {
        let contract = SessionEngineContract {
            // The engine reports from within submit, so there is nothing to wait for.
            SessionEngineContract.Subject(engine: makeEngine(), settle: {})
        }
        try await contract.check(promise)
    }

    @Test("an empty session keeps its order until it is deleted, and then begins a new epoch")
    func deletion() {
        let engine = makeEngine()
        let observer = Outcomes()
        engine.observer = observer
        engine.submit(join("ada"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        engine.submit(leave("ada"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        #expect(engine.sessionCount == 1)
        #expect(engine.withLog(of: room) { $0.lastSeq } == Seq(2), "the log can still be sent")
        let hosted = engine.hosted(room)
        #expect(hosted?.log?.lastSeq == Seq(2) && hosted?.end?.lastSeq == Seq(2))
        engine.submit(join("bob"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        engine.advance(to: .seconds(0))
        #expect(engine.sessionCount == 1, "bob joined before it was deleted")
        engine.submit(leave("bob"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        engine.advance(to: .seconds(0))
        #expect(engine.sessionCount == 0)
        #expect(engine.withLog(of: room) { $0.lastSeq } == nil)
        #expect(hosted?.log == nil && hosted?.end == nil, "a room that has kept it looks it up again")
        engine.submit(join("eve"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        #expect(observer.joins.map(\.seq.rawValue) == [1, 3, 1])
        #expect(observer.joins.map(\.epoch.rawValue) == ["epoch 1", "epoch 1", "epoch 2"])
        #expect(engine.hosted(room)?.end != nil && engine.hosted(room) !== hosted)
    }

    @Test(
        "a refused command creates no session, and only a join asks for an epoch",
        arguments: ["join", "leave", "signal", "force"])
    func refused(_ kind: String) {
        var epochCount = 0
        let engine = MemoryEngine(bounds: .init(connectionCount: kind == "join" ? 0 : 1)) {
            epochCount += 1
            return Epoch("\(epochCount)")
        }
        let command: SessionCommand =
            switch kind {
            case "join": join("ada")
            case "leave": leave("ada")
            case "signal": .signal(.server, SignalRequest())
            default: .forceDisconnect(.server, client("ada"))
            }
        engine.submit(command, to: room, ticket: CommandTicket(origin: 1, request: nil))
        #expect(engine.sessionCount == 0)
        #expect(epochCount == (kind == "join" ? 1 : 0))
    }

    @Test("MOD-9: a sleeping session goes with the first sweep after its last restriction has ended")
    func restrictedSleepers() {
        let engine = MemoryEngine(bounds: .init(resumeWindow: .zero, recoveryWindow: .zero)) { Epoch("e") }
        let observer = Outcomes()
        engine.observer = observer
        let ticket = CommandTicket(origin: 1, request: nil)
        func moderate(_ request: ModerationRequest, at seconds: Double) {
            engine.submit(
                .moderate(.server, request, Acceptance(date: WallTime(milliseconds: 0))), to: room, ticket: ticket,
                now: .seconds(seconds)
            )
        }
        engine.submit(join("ada"), to: room, ticket: ticket)
        moderate(.ban(.user("u"), ModerationRequest.Terms(seconds: 100)), at: 1)
        moderate(.freeze(ModerationRequest.Terms(seconds: 10)), at: 1)
        engine.submit(leave("ada"), to: room, ticket: ticket, now: .seconds(2))
        engine.advance(to: .seconds(2))
        #expect(engine.sessionCount == 0 && engine.sleeperCount == 1)
        for seconds in [11.0, 100] {
            engine.advance(to: .seconds(seconds))
            engine.sweepHistory(now: WallTime(milliseconds: 1))
            #expect(engine.sleeperCount == 1)
        }
        // An action wakes it, and it sleeps again.
        moderate(.mute(.user("v"), ModerationRequest.Terms(seconds: 5)), at: 100)
        engine.advance(to: .seconds(100))
        #expect(engine.sessionCount == 0 && engine.sleeperCount == 1)
        engine.advance(to: .seconds(104))
        engine.sweepHistory(now: WallTime(milliseconds: 1))
        #expect(engine.sleeperCount == 1)
        engine.advance(to: .seconds(105))
        engine.sweepHistory(now: WallTime(milliseconds: 1))
        #expect(engine.sleeperCount == 0)
    }

    @Test("SIG-11: an empty session is deleted when its access tokens have their allowances again")
    func allowances() {
        let engine = makeEngine(bounds: .init(signalRate: RateLimit(perSecond: 1, burst: 1)))
        let ticket = CommandTicket(origin: 1, request: nil)
        engine.submit(join("ada", token: TokenFingerprint(1)), to: room, ticket: ticket)
        engine.submit(.signal(.connection(client("ada")), SignalRequest()), to: room, ticket: ticket)
        #expect(engine.nextDeadline == nil)
        engine.submit(leave("ada"), to: room, ticket: ticket)
        engine.advance(to: .seconds(0))
        #expect(engine.sessionCount == 1)
        #expect(engine.nextDeadline == .seconds(0.2))
        engine.advance(to: .seconds(0.2))
        #expect(engine.sessionCount == 0)
        #expect(engine.nextDeadline == nil)
    }

    @Test("G5: thousands of sessions are deleted when all connections have left")
    func baseline() {
        var random = SeededGenerator(seed: 61)
        let engine = makeEngine()
        var present: [(SessionID, ConnectionID)] = []
        for step in 0..<5_000 {
            let session = SessionID("1_\(Int.random(in: 0..<200, using: &random))")
            let ticket = CommandTicket(origin: 1, request: nil)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                engine.submit(join("\(step)"), to: session, ticket: ticket)
                present.append((session, client("\(step)")))
            case 1 where !present.isEmpty:
                let (session, connection) = present.remove(at: Int.random(in: 0..<present.count, using: &random))
                engine.submit(.leave(connection, .networkDisconnected), to: session, ticket: ticket)
            case 2: engine.submit(.signal(.server, SignalRequest()), to: session, ticket: ticket)
            default: if step.isMultiple(of: 10) { engine.advance(to: .seconds(0)) }
            }
        }
        engine.advance(to: .seconds(0))
        #expect(engine.sessionCount == Set(present.map(\.0)).count)
        for (session, connection) in present {
            engine.submit(
                .forceDisconnect(.server, connection), to: session, ticket: CommandTicket(origin: 1, request: nil))
        }
        engine.advance(to: .seconds(299))
        #expect(
            engine.sessionCount == Set(present.map(\.0)).count, "their clients may still have to learn of it (RES-10)")
        engine.advance(to: .seconds(300))
        #expect(engine.sessionCount == 0)
    }

    @Test("the engine holds its observer weakly, and works without one")
    func observer() {
        let engine = makeEngine()
        do {
            let observer = Outcomes()
            engine.observer = observer
        }
        #expect(engine.observer == nil)
        engine.submit(join("ada"), to: room, ticket: CommandTicket(origin: 1, request: nil))
        #expect(engine.connections(of: room).map(\.connectionId) == [client("ada")])
    }

    private func join(_ name: String, token: TokenFingerprint? = nil) -> SessionCommand {
        var request = JoinRequest(
            connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 1))
        request.token = token
        return .join(request)
    }

    private func leave(_ name: String) -> SessionCommand { .leave(client(name), .clientDisconnected) }
}

private func makeEngine(bounds: SessionState.Bounds = .init()) -> MemoryEngine {
    var count = 0
    return MemoryEngine(bounds: bounds) {
        count += 1
        return Epoch("epoch \(count)")
    }
}

private final class Outcomes: SessionEngineObserver {
    private(set) var joins: [JoinResult] = []
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        if case .joined(let join) = outcome { joins.append(join) }
    }
    func engine(sessionChanged session: SessionID) {}
    func engine(lost session: SessionID) {}
    func engine(_ session: SessionID, caused effect: SessionEffect) {}
}
