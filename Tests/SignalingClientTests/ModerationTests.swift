import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("A client of a moderated session")
struct ModerationTests {
    private static let eve = Connection(
        connectionId: ConnectionID("eve"), creationTime: WallTime(milliseconds: 3), data: "Eve", user: UserID("u-17"))

    @Test("MOD-3: a ban ends the connection, and the program learns which; a client that comes back is refused with it")
    func banned() {
        let ban = Restriction(.ban, reason: "No advertising")
        var driven = Driven.connected(.resuming())
        #expect(
            driven.handle(.received(.disconnected(.forceDisconnected, .never, ban: ban)))
                == ["close 1000", "disconnected forceDisconnected, banned"])
        driven = Driven.resuming()
        // It ends by itself, and yet the client does not come back by itself.
        let error = SignalingError(.userBanned, "", restriction: ban, retryAfter: .seconds(60))
        #expect(
            driven.handle(.received(.error(RequestID(2), error)))
                == ["close 1000", "disconnected networkDisconnected, banned"])
    }

    @Test("ERR-1: a mute that ends makes a refused signal retryable; a ban that ends does not make a connect so")
    func retryable() {
        let mute = Restriction(.mute)
        #expect(SignalingError(.permissionDenied, "", restriction: mute, retryAfter: .seconds(1)).isRetryable)
        #expect(!SignalingError(.permissionDenied, "", restriction: mute).isRetryable)
        #expect(!SignalingError(.userBanned, "", restriction: Restriction(.ban), retryAfter: .seconds(1)).isRetryable)
    }

    @Test("USR-3: a user joins after the first connection and leaves after the last; the own connection counts")
    func users() {
        var driven = Driven.connected(.resuming(as: .of("me", "me")))
        func created(_ seq: Int64, _ connection: Connection) -> ClientState.Input {
            .received(.connectionCreated(Seq(seq), connection))
        }
        func destroyed(_ seq: Int64, _ id: String) -> ClientState.Input {
            .received(.connectionDestroyed(Seq(seq), ConnectionID(id), .clientDisconnected))
        }
        #expect(driven.handle(created(3, .of("tab", "me"))) == ["created tab"])
        #expect(driven.handle(created(4, Self.eve)) == ["created Eve", "user u-17 joined"])
        #expect(driven.handle(created(5, .of("eve2", "u-17"))) == ["created eve2"])
        #expect(driven.handle(destroyed(6, "eve")) == ["destroyed Eve clientDisconnected"])
        #expect(driven.handle(destroyed(7, "eve2")) == ["destroyed eve2 clientDisconnected", "user u-17 left"])
        #expect(driven.handle(destroyed(8, "tab")) == ["destroyed tab clientDisconnected"])
    }

    @Test("USR-3, RES-5: after recovered and lost: the departures, the joins, the users of one list only, the outcome")
    func returns() {
        var driven = Driven.connected(.resuming(as: .of("me", "me"), with: [.of("a", "ada"), Self.eve]))
        _ = driven.handle(.socketClosed(code: nil))
        _ = driven.advance(to: 0.125)
        _ = driven.handle(.socketOpened)
        let welcome = Welcome.resuming(
            .lost, as: .of("me2", "me"), with: [.of("a2", "ada"), .of("c", "cy", at: 2)], seq: 9)
        #expect(
            driven.handle(.received(.connected(RequestID(2), welcome))) == [
                "now me2", "destroyed a networkDisconnected", "destroyed Eve networkDisconnected", "created a2",
                "created c", "user u-17 left", "user cy joined", "reconnected lost",
            ])
    }

    @Test("MOD-5, MOD-6: events of moderation are told once")
    func events() {
        var driven = Driven.connected(.resuming())
        let action = ModerationEvent(action: .freeze(), until: nil, by: nil)
        let restriction = Restriction(.freeze)
        for (message, told) in [
            (ServerMessage.moderated(Seq(3), action), "moderated 3 freeze"),
            (.restricted(Seq(4), restriction), "restricted freeze"),
            (.unrestricted(Seq(5), .freeze), "unrestricted freeze"),
        ] {
            #expect(driven.handle(.received(message)) == [told])
            #expect(driven.handle(.received(message)) == [])
        }
    }

    @Test(
        "MOD-1: a malformed action is refused without a request to the server",
        arguments: [
            ModerationRequest.mute(.user(UserID("")), .untilLifted),
            .ban(.user(UserID(String(repeating: "u", count: 129))), .untilLifted),
            .unmute(.user(UserID("a\n"))), .freeze(.init(seconds: 0)),
            .freeze(.init(seconds: Limits.restrictionSeconds + 1)),
            .mute(.user(UserID("u")), .init(reason: String(repeating: "x", count: Limits.reasonLength + 1))),
        ])
    func malformed(_ request: ModerationRequest) {
        #expect(throws: SignalingError(.invalidParameter, "")) { try request.validate() }
        #expect(throws: SignalingError(.notFound, "")) {
            try ModerationRequest.mute(.connection(ConnectionID(String(repeating: "x", count: 256)))).validate()
        }
    }

    @Test("MOD-1: each action is valid", arguments: [nil, 1, Limits.restrictionSeconds])
    func valid(_ seconds: Int?) throws {
        let terms = ModerationRequest.Terms(
            seconds: seconds, reason: String(repeating: "x", count: Limits.reasonLength))
        for request in [
            ModerationRequest.mute(.user(UserID("u")), terms), .ban(.connection(ConnectionID("c")), terms),
            .unmute(.ref(Seq(1))), .unban(.user(UserID("u"))), .freeze(terms), .unfreeze,
        ] { try request.validate() }
    }
}

extension Connection {
    /// A connection whose ID is its data, too.
    fileprivate static func of(_ id: String, _ user: String, at time: Int64 = 1) -> Connection {
        Connection(
            connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: time), data: id, user: UserID(user))
    }
}
