import SignalingCore
import SignalingProtocol
import SignalingTokens
import Testing

@testable import SignalingServer

@Suite("A hub that has lost a session")
struct LostSessionTests {
    @Test("LEAVE-4, RES-13: its clients get 1001 and come back over a time, and other sessions go on")
    func lost() throws {
        let room = HubRoom(perClient: .seconds(1))
        defer { room.tearDown() }
        let other = SessionIDCodec.make(for: Tokens.project, now: room.world.wallTime, using: &room.world.random)
        let sockets = try (0..<8).map { _ in try room.connect(to: Tokens.session) }
        let bystander = try room.connect(to: other)
        #expect((sockets + [bystander]).allSatisfy { $0.code == nil })
        #expect(room.engine.connections(of: Tokens.session).count == 8)
        room.hub.engine(lost: Tokens.session)
        room.hub.turnEnded()
        #expect(sockets.map(\.code) == Array(repeating: 1001, count: 8))
        #expect(sockets.map(\.farewells.count) == Array(repeating: 1, count: 8))
        let waits = sockets.flatMap(\.farewells).compactMap { if case .after(let wait) = $0 { wait } else { nil } }
        #expect(waits.count == 8 && waits.allSatisfy { (.zero ... .seconds(8)).contains($0) })
        // They do not come back at one moment.
        #expect((waits.max() ?? .zero) - (waits.min() ?? .zero) > .seconds(1))
        #expect(bystander.code == nil && bystander.farewells.isEmpty)
        #expect(room.engine.connections(of: other).count == 1)
    }

    @Test("a session without clients may be lost")
    func empty() {
        let room = HubRoom(perClient: .seconds(1))
        defer { room.tearDown() }
        room.hub.engine(lost: Tokens.session)
        #expect(room.hub.peers.isEmpty)
    }
}
