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
        #expect(SessionEvent.reconnecting.channelEvents(connectionId: id) == [.reconnecting])
        #expect(SessionEvent.reconnected(.resumed).channelEvents(connectionId: id) == [.reconnected])
        #expect(SessionEvent.reconnected(.recovered).channelEvents(connectionId: id) == [.connected(id)])
        #expect(SessionEvent.reconnected(.lost).channelEvents(connectionId: id) == [.lost, .connected(id)])
        #expect(SessionEvent.reconnected(.new).channelEvents(connectionId: id) == [.lost, .connected(id)])
        #expect(SessionEvent.reconnected(.lost).channelEvents(connectionId: nil) == [.lost])
    }

    @Test("G4: an overflowed stream is a gap; the other events keep their meaning")
    func others() {
        let signal = Signal(type: "a", from: peer, seq: Seq(4))
        #expect(SessionEvent.overflowed.channelEvents(connectionId: id) == [.lost])
        #expect(SessionEvent.signal(signal).channelEvents(connectionId: id) == [.signal(signal)])
        let page = HistoryPage(range: Seq(1)...Seq(9), more: true, messages: [])
        #expect(SessionEvent.history(page).channelEvents(connectionId: id) == [.history(page)])
        #expect(SessionEvent.erased(.through(Seq(9))).channelEvents(connectionId: id) == [.erased(.through(Seq(9)))])
        let change = ChangeEvent(seq: Seq(9), ref: Seq(4), from: peer.connectionId, sender: peer, change: nil)
        #expect(SessionEvent.changed(change).channelEvents(connectionId: id) == [.changed(change)])
        let reactions = ReactionsEvent(seq: Seq(9), ref: Seq(4), counts: [ReactionCount("👍", 2)])
        #expect(SessionEvent.reactions(reactions).channelEvents(connectionId: id) == [.reactions(reactions)])
        let own = OwnReactions(ref: Seq(4), keys: ["👍"])
        #expect(SessionEvent.reacted(Seq(9), own).channelEvents(connectionId: id) == [.reacted(Seq(9), own)])
        let marker = ReadMarker(UserID("u"), through: Seq(4))
        #expect(SessionEvent.read(marker).channelEvents(connectionId: id) == [.read(marker)])
        #expect(SessionEvent.connectionCreated(peer).channelEvents(connectionId: id) == [.connectionCreated(peer)])
        #expect(
            SessionEvent.connectionDestroyed(peer, .networkDisconnected).channelEvents(connectionId: id)
                == [.connectionDestroyed(peer)])
        #expect(
            SessionEvent.disconnected(.forceDisconnected).channelEvents(connectionId: id) == [.disconnected])
        for event in [SessionEvent.restricted(Restriction(.mute)), .unrestricted(.mute)] {
            #expect(event.channelEvents(connectionId: id) == [.restrictionsChanged])
        }
        let user = SessionUser(id: UserID("u"), connections: [peer])
        #expect(SessionEvent.userJoined(user).channelEvents(connectionId: id) == [])
    }
}
