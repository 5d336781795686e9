import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("A client that gives up before it is connected")
struct GivenUpConnectTests {
    @Test("CON-14, G7: its connect is not carried out, and nobody sees a connection without a client")
    func givenUp() throws {
        let room = HubRoom()
        defer { room.tearDown() }
        let watcher = try room.connect(to: Tokens.session)
        let token = try room.token(for: Tokens.session)
        let late = room.connect(to: Tokens.session, token: token, hasHungUp: true)
        room.hub.turnEnded()
        #expect(late.code == 1001 && late.messages.isEmpty)
        #expect(room.engine.connections(of: Tokens.session).count == 1)
        #expect(watcher.messages.allSatisfy { if case .connectionCreated = $0 { false } else { true } })
    }
}
