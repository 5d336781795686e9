import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// What an operator sees of an engine costs nothing for the sessions of others, so it is counted and not looked up.
@Suite("The inspection of an engine")
struct InspectionTests {
    enum Kind: CaseIterable { case memory, local }

    @Test(
        "G5: the counts, and the sessions of each project, are those of a walk over all sessions",
        arguments: Kind.allCases, [71, 72, 73] as [UInt64])
    func counts(_ kind: Kind, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let log = MemoryCommandLog()
        let engine: any InspectableEngine =
            switch kind {
            case .memory: MemoryEngine(projectOf: project) { Epoch("e") }
            case .local:
                LocalEngine(log: log, run: RunID(1), bounds: .init(), now: .seconds(0), projectOf: project) {
                    Epoch("e")
                }
            }
        var present: [(SessionID, ConnectionID)] = []
        var now = 0.0
        var detachedCounts: Set<Int> = []
        for step in 0..<3_000 {
            now += Double.random(in: 0...1, using: &random)
            let session = sessions[Int.random(in: 0..<sessions.count, using: &random)]
            func submit(_ command: SessionCommand, to session: SessionID) {
                engine.submit(
                    command, to: session, ticket: CommandTicket(origin: 1, request: nil), now: .seconds(now))
            }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                submit(
                    .join(
                        JoinRequest(
                            connectionId: client("\(step)"), role: .publisher, data: "",
                            wallTime: WallTime(milliseconds: 1))), to: session)
                present.append((session, client("\(step)")))
            case 1 where !present.isEmpty:
                let (session, connection) = present.remove(at: Int.random(in: 0..<present.count, using: &random))
                submit(.detach(SocketBinding(connection, socket1)), to: session)
            case 2 where !present.isEmpty:
                let (session, connection) = present.remove(at: Int.random(in: 0..<present.count, using: &random))
                submit(.leave(connection, .clientDisconnected), to: session)
            default: break
            }
            engine.advance(to: .seconds(now))
            if kind == .local, step.isMultiple(of: 3) { log.confirm() }
            if step.isMultiple(of: 50) { detachedCounts.insert(check(engine)) }
        }
        #expect(detachedCounts.count > 3, "connections lost their sockets, and expired")
        // Everything ends: nobody comes back.
        for (session, connection) in present {
            engine.submit(
                .leave(connection, .clientDisconnected), to: session, ticket: CommandTicket(origin: 1, request: nil),
                now: .seconds(now))
        }
        for _ in 0..<20 {
            now += 200
            engine.advance(to: .seconds(now))
            if kind == .local { log.confirm() }
        }
        #expect(check(engine) == 0)
        #expect(engine.sessionCount == 0)
    }

    private let sessions = (0..<40).map { SessionID("\($0 % 3)-\($0)") }

    /// `nil` for the sessions of the third kind.
    private func project(of session: SessionID) -> APIKey? {
        let kind = String(session.rawValue.prefix(1))
        return kind == "2" ? nil : APIKey(kind)
    }

    /// - Returns: the number of connections without a socket.
    private func check(_ engine: any InspectableEngine) -> Int {
        let hosted = engine.sessionIDs(of: nil)
        #expect(Set(hosted).count == hosted.count && hosted.count == engine.sessionCount)
        for key in ["0", "1"] {
            let own = engine.sessionIDs(of: APIKey(key)).sorted()
            #expect(own == hosted.filter { project(of: $0) == APIKey(key) }.sorted())
        }
        #expect(engine.sessionIDs(of: APIKey("2")).isEmpty)
        let detachedCount = hosted.reduce(0) { $0 + (engine.state(of: $1)?.detachedCount ?? 0) }
        #expect(engine.detachedCount == detachedCount)
        return detachedCount
    }
}
