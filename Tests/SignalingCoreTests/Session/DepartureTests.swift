import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Many departures at once")
struct DepartureTests {
    /// A moderator, and so many guests with one token.
    private func room(_ count: Int) -> ModeratedRoom {
        var room = ModeratedRoom(resume: 60, logEventCount: 160)
        room.join("mod", .moderator, user: "m")
        for number in 0..<count { room.join("guest \(number)", token: "shared") }
        return room
    }

    /// Lets time pass up to the next deadline, and carries out what is due then.
    private func advance(_ room: inout ModeratedRoom) -> Bool {
        guard let deadline = room.session.nextDeadline else { return false }
        // A moment later, since seconds are rounded.
        room.now = max(room.now, Double(deadline.nanoseconds) / 1e9 + 1e-6)
        room.advance()
        return true
    }

    @Test("LEAVE-6, G4: a ban of very many connections overruns nobody who reads")
    func ban() throws {
        var room = room(1_000)
        var last = room.session.log.lastSeq
        let named = client("guest 700")
        #expect(room.moderate(.ban(.connection(named))).error == nil)
        #expect(!room.session.contains(named), "the named connection is the first")
        #expect(room.join("late", token: "shared").error?.code == .userBanned)
        var stepCount = 0
        while room.session.connectionCount > 1 {
            #expect(room.session.log.hasAll(after: last), "step \(stepCount)")
            last = room.session.log.lastSeq
            try room.reload()
            #expect(room.signal("guest 999").error?.code == .notConnected, "a banned guest sends nothing more")
            #expect(room.signal("guest 999", isOnlineOnly: true).error?.code == .notConnected)
            guard advance(&room) else { break }
            stepCount += 1
        }
        #expect(room.session.connectionCount == 1)
        #expect((40...60).contains(stepCount))
        #expect(room.now < 1_004)
        #expect(room.session.log.lastSeq == Seq(1_001 + 1 + 1_000))
    }

    @Test("LEAVE-6, STR-3: a departure with streams counts for two, since its events are two")
    func withStreams() throws {
        var room = room(20)
        for number in 0..<20 {
            let stream = AnnouncedStream(id: "s\(number)", name: "", creationTime: WallTime(milliseconds: 0))
            room.submit(.streams(.connection(room.binding("guest \(number)"), nil), [stream]))
        }
        #expect(room.session.streamAnnouncements.count == 20)
        #expect(room.moderate(.ban(.connection(client("guest 0")))).error == nil)
        #expect(room.session.connectionCount == 21 - 1 - 10)
        while advance(&room) {}
        #expect(room.session.connectionCount == 1 && room.session.streamAnnouncements.isEmpty)
    }

    @Test("LEAVE-6: what waits is let go only as long as its ban holds")
    func lifted() throws {
        var room = room(100)
        let seq = try #require(room.moderate(.ban(.connection(client("guest 0")))).seq)
        room.moderate(.unban(.ref(seq)))
        while advance(&room) {}
        #expect(room.session.connectionCount == 101 - 21)
        #expect(room.signal("guest 99").error == nil)
    }

    @Test("LEAVE-6, RES-2: connections whose windows end together go in parts, and none of them is resumed meanwhile")
    func windows() throws {
        var room = room(400)
        for number in 0..<400 { room.detach("guest \(number)") }
        var last = room.session.log.lastSeq
        room.now += 60
        room.advance()
        #expect(room.session.connectionCount == 381)
        #expect(room.session.log.hasAll(after: last))
        let answer = room.join("late", token: "shared", resuming: "guest 399", after: last.rawValue)
        #expect(answer.joined?.outcome == .recovered)
        repeat {
            #expect(room.session.log.hasAll(after: last))
            last = room.session.log.lastSeq
            try room.reload()
        } while room.session.connectionCount > 2 && advance(&room)
        #expect(room.session.connections.map(\.connectionId.rawValue) == ["mod", "late"])
    }

    @Test("LEAVE-6: without a connection that has a socket, all go at once")
    func nobodyReads() {
        var room = room(400)
        for number in 0..<400 { room.detach("guest \(number)") }
        room.detach("mod")
        room.now += 60
        room.advance()
        #expect(room.session.connectionCount == 0)
    }
}
