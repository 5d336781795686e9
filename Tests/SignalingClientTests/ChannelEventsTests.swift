import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("A session's events for a component")
struct ChannelEventsTests {
    private let id = ConnectionID("now")
    private let peer = Connection(
        connectionId: ConnectionID("b"), creationTime: WallTime(milliseconds: 1), data: "Bob")

    @Test("G4: lost is a gap before a new connection; recovered has no gap; resumed is the same connection")
    func comingBack() {
        #expect(SessionEvent.reconnecting.channelEvents(connectionID: id) == [.reconnecting])
        #expect(SessionEvent.reconnected(.resumed).channelEvents(connectionID: id) == [.reconnected])
        #expect(SessionEvent.reconnected(.recovered).channelEvents(connectionID: id) == [.connected(id)])
        #expect(SessionEvent.reconnected(.lost).channelEvents(connectionID: id) == [.lost, .connected(id)])
        #expect(SessionEvent.reconnected(.new).channelEvents(connectionID: id) == [.lost, .connected(id)])
        #expect(SessionEvent.reconnected(.lost).channelEvents(connectionID: nil) == [.lost])
    }

    @Test("G4: an overflowed stream is a gap; the other events keep their meaning")
    func others() {
        let signal = Signal(type: "a", from: peer, seq: Seq(4))
        #expect(SessionEvent.overflowed.channelEvents(connectionID: id) == [.lost])
        #expect(SessionEvent.signal(signal).channelEvents(connectionID: id) == [.signal(signal)])
        #expect(SessionEvent.connectionCreated(peer).channelEvents(connectionID: id) == [.connectionCreated(peer)])
        #expect(
            SessionEvent.connectionDestroyed(peer, .networkDisconnected).channelEvents(connectionID: id)
                == [.connectionDestroyed(peer)])
        #expect(
            SessionEvent.disconnected(.forceDisconnected).channelEvents(connectionID: id) == [.disconnected])
    }
}
