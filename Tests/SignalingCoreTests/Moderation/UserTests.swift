import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Users of a session")
struct UserTests {
    @Test("USR-2: connections, signals and lists name the user, as the last member of the connection")
    func member() throws {
        var room = ModeratedRoom()
        room.join("bob", user: "u-17")
        let result = try #require(room.join("eve").joined)
        #expect(result.connection.user == nil)
        #expect(result.connections.map(\.user) == ["u-17", nil] || result.connections.map(\.user) == [nil, "u-17"])
        room.signal("bob")
        let lines = room.lines(of: "kim", after: 0, suppressesPresence: false)
        #expect(lines[0].hasSuffix(#","user":"u-17"}}"#) && !lines[1].contains("user"))
        let withSender = room.lines(of: "kim", after: 0, suppressesPresence: true)
        #expect(withSender[0].contains(#","user":"u-17"},"type":"chat""#))
    }

    @Test("RES-7: a connection resumes and recovers with a token of its user, and otherwise is lost")
    func resuming() throws {
        var room = ModeratedRoom(resume: 10, recovery: 300)
        room.join("mod", .moderator)
        for (name, user) in [("bob", "u"), ("kim", "v"), ("eve", nil)] as [(String, UserID?)] {
            room.join(name, user: user)
            room.detach(name)
        }
        #expect(room.join("x1", user: "v", resuming: "bob", after: 2).joined?.outcome == .lost)
        #expect(room.join("x2", resuming: "bob", after: 2).joined?.outcome == .lost)
        #expect(room.join("x3", user: "v", resuming: "eve", after: 4).joined?.outcome == .lost)
        #expect(room.join("x4", user: "u", resuming: "bob", after: 2).joined?.outcome == .resumed)
        try room.reload()
        room.now += 20
        #expect(room.join("x5", user: "u", resuming: "kim", after: 3).joined?.outcome == .lost)
        #expect(room.join("x6", user: "v", resuming: "kim", after: 3).joined?.outcome == .recovered)
    }

    @Test("CON-12: a newer token must name the same user")
    func refresh() {
        var room = ModeratedRoom()
        room.join("bob", user: "u")
        func refresh(_ user: UserID?) -> SessionOutcome {
            room.submit(
                .refreshToken(room.binding("bob"), TokenClaims(role: .publisher, data: "", user: user, expiry: .none)))
        }
        #expect(refresh("u").error == nil)
        #expect(refresh("v").error?.code == .authenticationError)
        #expect(refresh(nil).error?.code == .authenticationError)
    }

    @Test("HIS-9: a user's messages are found by the end of the sender's connection, and nobody else's are")
    func scopes() {
        let names: [UserID] = ["u", "uu", #"u"}"#, #"x","user":"u"#, "ü", "u\u{308}", "\\", "\u{2028}"]
        func end(_ user: UserID?, _ data: String) -> [UInt8] {
            EncodedLine.encode(
                Connection(connectionId: client("c"), creationTime: WallTime(milliseconds: 1), data: data, user: user))
        }
        for user in names {
            let scope = ErasureScope(.user(user), at: Seq(10))
            #expect(scope.covers(Seq(9), from: end(user, "")) && !scope.covers(Seq(10), from: end(user, "")))
            for other in names where other != user { #expect(!scope.covers(Seq(9), from: end(other, ""))) }
            for data in names.map(\.rawValue) + [#","user":"\#(user)""#, #"","user":"\#(user)"}"#] {
                #expect(!scope.covers(Seq(9), from: end(nil, data)), "a guest's data \(data)")
            }
            #expect(!scope.covers(Seq(9), from: []), "REST")
        }
    }
}
