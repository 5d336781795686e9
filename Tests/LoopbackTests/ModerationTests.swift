import SignalingClient
import SignalingProtocol
import Testing

@Suite("A Swift client in a moderated session, over a real socket", .timeLimit(.minutes(5)))
struct ModerationTests {
    private static let user = UserID("u-17")

    @Test("USR-3: a user with two connections joins and leaves once")
    func users() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(user: UserID("ada"))
            let first = try await local.join(user: Self.user)
            let second = try await local.join(user: Self.user)
            #expect(second.session.users.map(\.id) == [UserID("ada"), Self.user])
            #expect(second.session.user == Self.user)
            let (one, two) = (try first.connection, try second.connection)
            #expect(try await ada.events.next() == .connectionCreated(one))
            #expect(try await ada.events.next() == .userJoined(SessionUser(id: Self.user, connections: [one])))
            #expect(try await ada.events.next() == .connectionCreated(two))
            await first.session.disconnect()
            #expect(try await ada.events.next() == .connectionDestroyed(one, .clientDisconnected))
            await second.session.disconnect()
            #expect(try await ada.events.next() == .connectionDestroyed(two, .clientDisconnected))
            #expect(try await ada.events.next() == .userLeft(SessionUser(id: Self.user, connections: [two])))
            #expect(ada.session.users.map(\.id) == [UserID("ada")])
        }
    }

    @Test(
        "MOD-1, MOD-4, MOD-5: a muted user is told, is refused on all connections, and writes again when it is lifted")
    func mute() async throws {
        try await LocalServer.run { local in
            let moderator = try await local.join(role: .moderator, user: UserID("ada"))
            let tabs = [try await local.join(user: Self.user), try await local.join(user: Self.user)]
            let terms = ModerationRequest.Terms(seconds: 600, reason: "Please stay on topic")
            let seq = try #require(try await moderator.session.moderate(.mute(.user(Self.user), terms)))
            for tab in tabs {
                let told = try await tab.events.nextRestriction()
                #expect(told.kind == .mute && told.reason == terms.reason)
                let until = try #require(told.until)
                #expect(tab.session.restriction(at: WallTime(milliseconds: until.milliseconds - 1)) == told)
                #expect(tab.session.restriction(at: until) == nil)
                let error = await refusal { try await tab.session.signal(type: "x", string: "x") }
                #expect(error?.code == .permissionDenied && error?.restriction == told && error?.retryAfter != nil)
            }
            let late = try await local.join(user: Self.user)
            #expect(late.session.restriction(at: WallTime(milliseconds: 0))?.kind == .mute)
            let records = try await moderator.session.restrictions()
            #expect(records.map(\.ref) == [seq] && records.first?.subject == .user(Self.user))
            #expect(await refusal { _ = try await tabs[0].session.restrictions() }?.code == .permissionDenied)
            try await moderator.session.moderate(.unmute(.ref(seq)))
            try await tabs[0].events.nextLift(of: .mute)
            #expect(tabs[0].session.restriction(at: WallTime(milliseconds: 0)) == nil)
            try await tabs[0].session.signal(type: "x", string: "again")
            #expect(try await moderator.events.nextSignal().data == "again")
        }
    }

    @Test("MOD-4: in a frozen session moderators alone signal")
    func freeze() async throws {
        try await LocalServer.run { local in
            let moderator = try await local.join(role: .moderator)
            let guest = try await local.join()
            try await moderator.session.moderate(.freeze())
            #expect(try await guest.events.nextRestriction() == Restriction(.freeze))
            #expect(await refusal { try await guest.session.signal(type: "x") }?.restriction == Restriction(.freeze))
            #expect(moderator.session.restriction(at: WallTime(milliseconds: 0)) == nil)
            try await moderator.session.signal(type: "x", string: "only me")
            #expect(try await guest.events.nextSignal().data == "only me")
        }
    }

    @Test("MOD-3, MOD-6: a ban ends the user's connections, who learn of it, and refuses connects until it is lifted")
    func ban() async throws {
        try await LocalServer.run { local in
            let moderator = try await local.join(role: .moderator, user: UserID("ada"))
            let victim = try await local.join(user: Self.user)
            let ban = Restriction(.ban, reason: "No advertising")
            let seq = try #require(
                try await moderator.session.moderate(.ban(.user(Self.user), .init(reason: ban.reason))))
            #expect(try await victim.events.next() == .disconnected(.forceDisconnected, ban: ban))
            let by = Moderator(connectionId: try moderator.connection.connectionId, user: UserID("ada"))
            let action = ModerationEvent(
                action: .ban(.user(Self.user), .init(reason: ban.reason)), until: nil, by: by)
            #expect(try await moderator.events.nextAction() == action)
            let token = try local.token(user: Self.user)
            let refused = await refusal { try await victim.session.connect(token: token) }
            #expect(refused?.code == .userBanned && refused?.restriction == ban)
            try await moderator.session.moderate(.unban(.ref(seq)))
            try await victim.session.connect(token: token)
        }
    }
}

extension EventReader {
    fileprivate func nextRestriction() async throws -> Restriction {
        while true {
            if case .restricted(let restriction) = try await next() { return restriction }
        }
    }

    fileprivate func nextLift(of kind: Restriction.Kind) async throws {
        while true {
            if try await next() == .unrestricted(kind) { return }
        }
    }

    fileprivate func nextAction() async throws -> ModerationEvent {
        while true {
            if case .moderated(let event, _) = try await next() { return event }
        }
    }
}
