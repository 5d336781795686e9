import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("The position of a client that gets few events")
struct PositionTests {
    /// No time passes, so there is no heartbeat.
    @Test("HB-1, RES-2: a client without presence learns its position before the joins of others overrun the log")
    func joins() throws {
        var bounds = SessionState.Bounds()
        bounds.log.eventCount = 64
        let room = HubRoom(bounds: bounds)
        defer { room.tearDown() }
        let token = try room.token(for: Tokens.session)
        let quiet = room.connect(
            to: Tokens.session, token: token, options: #"{"connectionEventsSuppressed":true}"#)
        for count in 1...200 {
            _ = room.connect(to: Tokens.session, token: token)
            room.hub.turnEnded()
            // Its own join was event 1.
            #expect(count - Int(quiet.position?.rawValue ?? 1) < bounds.log.eventCount, "after \(count) joins")
        }
        #expect((3...6).contains(quiet.pingCount))
    }
}

extension RecordingSocket {
    fileprivate var pings: [Seq] {
        messages.compactMap { if case .ping(let seq) = $0 { seq } else { nil } }
    }
    fileprivate var position: Seq? { pings.last }
    fileprivate var pingCount: Int { pings.count }
}
