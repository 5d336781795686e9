import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Actions of moderators")
struct ModerationTests {
    // MARK: - Checks

    @Test("MOD-1: role, oneself and target are checked in this order, and a refused action changes nothing")
    func order() {
        var room = ModeratedRoom.usual()
        room.join("mad", .moderator, user: "m")
        let before = room.session.encoded()
        let lastSeq = room.session.log.lastSeq
        func refused(_ request: ModerationRequest, by name: String? = "mod") -> String {
            room.moderate(request, by: name).testDescription
        }
        #expect(refused(.mute(.user("m")), by: "bob") == "refused 403 OT_PERMISSION_DENIED", "the role comes first")
        #expect(refused(.unfreeze, by: "eve") == "refused 403 OT_PERMISSION_DENIED")
        #expect(refused(.freeze(), by: "nobody") == "refused 1010 OT_NOT_CONNECTED")
        for request: ModerationRequest in [
            .mute(.user("m")), .ban(.user("m")), .mute(.connection(client("mod"))), .ban(.connection(client("mad"))),
            .unmute(.user("m")), .unban(.user("m")),
        ] {
            #expect(refused(request) == "refused 400 OT_INVALID_PARAMETER", "\(request) is on oneself")
        }
        #expect(refused(.ban(.connection(client("gone")))) == "refused 404 OT_NOT_FOUND")
        #expect(refused(.unmute(.user("u"))) == "refused 404 OT_NOT_FOUND")
        #expect(refused(.unban(.ref(Seq(3)))) == "refused 404 OT_NOT_FOUND")
        #expect(refused(.unfreeze, by: nil) == "refused 404 OT_NOT_FOUND")
        #expect(refused(.mute(.connection(client("eve")))) == "refused 400 OT_INVALID_PARAMETER", "a guest has no user")
        #expect(room.session.log.lastSeq == lastSeq && room.session.encoded() == before)
    }

    @Test("MOD-1: a moderator without a user cannot ban the token that is their own")
    func ownToken() {
        var room = ModeratedRoom()
        room.join("mod", .moderator, token: "shared")
        room.join("eve", token: "shared")
        #expect(room.moderate(.ban(.connection(client("eve")))).error?.code == .invalidParameter)
        #expect(room.moderate(.ban(.connection(client("eve"))), by: nil).testDescription == "moderated 3 guest eve")
        #expect(room.session.isEmpty, "REST may")
    }

    @Test("MOD-1: a moderator who is muted cannot lift that, neither by user nor by ref, and another one can")
    func liftsNotOneself() {
        var room = ModeratedRoom.usual()
        room.join("amy", .moderator, user: "a")
        #expect(room.moderate(.mute(.user("m")), by: "amy").testDescription == "moderated 6 user m")
        #expect(room.moderate(.unmute(.ref(Seq(6)))).error?.code == .invalidParameter)
        #expect(room.moderate(.unmute(.user("m"))).error?.code == .invalidParameter)
        #expect(room.signal("mod").error?.restriction?.kind == .mute, "a mute exempts no role")
        #expect(room.moderate(.unmute(.ref(Seq(6))), by: "amy").testDescription == "moderated 8 user m")
        #expect(room.signal("mod").error == nil)
    }

    @Test("MOD-1: a ref lifts the restriction of its kind only")
    func kinds() {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u")))
        #expect(room.moderate(.unban(.ref(Seq(5)))).error?.code == .notFound)
        #expect(room.moderate(.unmute(.ref(Seq(5)))).error == nil)
        #expect(room.moderate(.unmute(.ref(Seq(5)))).error?.code == .notFound, "it was lifted")
    }

    @Test("RES-9: an action that is repeated after a resume is carried out once, and gets its first answer")
    func repeated() {
        var room = ModeratedRoom.usual()
        #expect(room.moderate(.mute(.user("u")), request: 7).testDescription == "moderated 5 user u")
        #expect(room.moderate(.unmute(.user("nobody")), request: 8).error?.code == .notFound)
        room.detach("mod")
        room.join("new", .moderator, user: "m", resuming: "mod")
        let last = room.session.log.lastSeq
        #expect(room.moderate(.mute(.user("u")), request: 7).testDescription == "signalled 5")
        #expect(room.moderate(.unmute(.user("nobody")), request: 8).error?.code == .notFound)
        #expect(room.session.log.lastSeq == last)
    }

    // MARK: - Mute

    @Test("MOD-4, SIG-5: a muted user's signals are refused after the role and before everything else")
    func mute() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.connection(client("bob")), ModerationRequest.Terms(seconds: 60, reason: "Quiet")))
        room.now += 20
        let long = String(repeating: "x", count: Limits.dataLength + 1)
        for outcome in [
            room.signal("bob"), room.signal("bea"), room.signal("bob", to: "eve"), room.signal("bob", long),
            room.signal("bob", isOnlineOnly: true),
        ] {
            let error = try #require(outcome.error)
            #expect(error.code == .permissionDenied && error.retryAfter == .seconds(40))
            let end = WallTime(milliseconds: ModeratedRoom.clockLead + 1_060_000)
            #expect(error.restriction == Restriction(.mute, until: end, reason: "Quiet"))
        }
        #expect(room.takeEffects().isEmpty, "no online-only signal is relayed")
        room.join("pia", .publisherOnly, user: "u")
        #expect(room.signal("pia").error?.restriction == nil, "the role comes first")
        #expect(room.signal("eve").error == nil && room.signal("mod").error == nil)
        room.now += 39.9995
        #expect(room.signal("bob").error?.retryAfter == .milliseconds(1), "rounded up")
        room.now += 0.001
        #expect(room.signal("bob").error == nil, "it ends by itself")
        #expect(room.moderate(.unmute(.user("u"))).error?.code == .notFound, "and then does not hold")
    }

    @Test("M1, MOD-4: a mute holds over resumes, new connections, new tokens, and what others know by then")
    func muteHolds() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u")))
        room.detach("bob")
        let resumed = try #require(room.join("x", user: "u", resuming: "bob").joined)
        #expect(resumed.outcome == .resumed && resumed.restrictions == [Restriction(.mute)])
        #expect(room.signal("bob").error?.restriction?.kind == .mute)
        let other = try #require(room.join("tab", user: "u", token: "newer").joined)
        #expect(other.restrictions == [Restriction(.mute)])
        #expect(room.signal("tab").error?.restriction?.kind == .mute)
        try room.reload()
        #expect(room.signal("tab").error?.restriction?.kind == .mute)
        #expect(room.moderate(.unmute(.user("u"))).error == nil)
        #expect(room.signal("tab").error == nil)
    }

    @Test("MOD-1: a newer restriction of the same kind and user replaces the older one")
    func replaces() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 10)))
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 100)))
        room.now += 50
        #expect(room.signal("bob").error?.retryAfter == .seconds(50))
        #expect(room.moderate(.unmute(.ref(Seq(5)))).error?.code == .notFound)
        #expect(room.session.restrictions.records(at: room.instant).map(\.ref) == [Seq(7)])
    }

    // MARK: - Freeze

    @Test("MOD-4: in a frozen session moderators and REST may signal, and nobody else")
    func freeze() {
        var room = ModeratedRoom.usual()
        room.moderate(.freeze(ModerationRequest.Terms(seconds: 30)), by: nil)
        #expect(room.signal("eve").error?.restriction?.kind == .freeze)
        #expect(room.signal("bob", isOnlineOnly: true).error?.retryAfter == .seconds(30))
        #expect(room.signal("mod").error == nil && room.signal(nil).error == nil)
        room.moderate(.mute(.user("u")))
        #expect(room.signal("bob").error?.restriction?.kind == .mute, "the mute is told first")
        room.moderate(.unfreeze)
        #expect(room.signal("eve").error == nil && room.signal("bob").error != nil)
    }

    // MARK: - Ban

    @Test("MOD-3, MOD-8: a ban ends all connections of the user at its place in the order, also those without a socket")
    func ban() {
        var room = ModeratedRoom.usual()
        room.detach("bea")
        _ = room.takeEffects()
        let outcome = room.moderate(.ban(.connection(client("bob")), ModerationRequest.Terms(reason: "Spam")))
        #expect(outcome.testDescription == "moderated 5 user u")
        #expect(
            room.takeEffects() == [
                "ended bob forceDisconnected because of a ban", "ended bea forceDisconnected because of a ban",
            ])
        #expect(
            room.lines(of: "eve", after: 4) == [
                #"{"ev":"connectionDestroyed","seq":6,"connectionId":"bob","reason":"forceDisconnected"}"#,
                #"{"ev":"connectionDestroyed","seq":7,"connectionId":"bea","reason":"forceDisconnected"}"#,
            ])
        #expect(room.session.connections.map(\.connectionId) == [client("mod"), client("eve")])
    }

    @Test("M1, MOD-3: every way to come back is refused with 1570 while the ban holds, and then none")
    func bannedJoins() throws {
        var room = ModeratedRoom(resume: 10, recovery: 300)
        room.join("mod", .moderator, user: "m")
        for name in ["here", "away", "gone", "force"] { room.join(name, user: "u") }
        room.detach("gone")
        room.now += 20
        room.submit(.forceDisconnect(.server, client("force")))
        room.detach("away")
        room.moderate(.ban(.user("u"), ModerationRequest.Terms(seconds: 100, reason: "Spam")))
        room.now += 1
        let attempts: [(String, (inout ModeratedRoom) -> SessionOutcome)] = [
            ("new", { $0.join("n1", user: "u", token: "newer") }),
            ("with a socket", { $0.join("n2", user: "u", resuming: "here") }),
            ("resume", { $0.join("n3", user: "u", resuming: "away") }),
            ("expired ticket", { $0.join("n4", user: "u", resuming: "gone") }),
            ("forced", { $0.join("n5", user: "u", resuming: "force") }),
            ("lost", { $0.join("n6", user: "u", resuming: "never") }),
            ("another role", { $0.join("n7", .moderator, user: "u") }),
            ("untimely", { $0.join("n8", user: "u", resuming: "away", isUntimely: true) }),
        ]
        try room.reload()
        for (name, attempt) in attempts {
            let error = try #require(attempt(&room).error, "\(name)")
            #expect(error.code == .userBanned && error.retryAfter == .seconds(99), "\(name)")
            #expect(error.restriction?.reason == "Spam" && error.restriction?.kind == .ban)
        }
        #expect(room.session.connectionCount == 1)
        room.now += 99
        #expect(room.join("n9", user: "u").joined?.outcome == .new)
        #expect(room.join("x", user: "u", resuming: "gone", after: 5).joined?.outcome == .recovered)
    }

    @Test("MOD-1: a ban of a guest concerns the connections with the guest's token, and no user")
    func guests() {
        var room = ModeratedRoom.usual()
        room.join("eva", token: "eve")
        room.join("una", user: "u2", token: "eve")
        #expect(room.moderate(.ban(.connection(client("eve")))).testDescription == "moderated 7 guest eve")
        #expect(room.session.connections.map(\.connectionId.rawValue) == ["mod", "bob", "bea", "una"])
        #expect(room.join("evi", token: "eve").error?.code == .userBanned)
        #expect(room.join("ida", token: "other").error == nil)
        #expect(room.moderate(.unban(.ref(Seq(7)))).error == nil)
        #expect(room.join("evi", token: "eve").error == nil)
    }

    @Test("MOD-3, CON-12: a guest's ban concerns every token that the client has shown")
    func tokensOfGuests() throws {
        var room = ModeratedRoom.usual()
        #expect(room.refresh("eve", token: "newer").error == nil)
        room.join("eve 2", token: "last", resuming: "eve")
        room.join("tab", token: "newer")
        room.refresh("tab", token: "of the tab")
        room.join("ida", token: "other")
        try room.reload()
        let ref = try #require(room.moderate(.ban(.connection(client("eve")))).seq)
        #expect(room.session.connections.map(\.connectionId.rawValue) == ["mod", "bob", "bea", "ida"])
        try room.reload()
        for token in ["eve", "newer", "last", "of the tab"] {
            #expect(room.join("x", token: token).error?.code == .userBanned, "\(token)")
            #expect(room.refresh("ida", token: token).error?.code == .userBanned, "\(token)")
        }
        #expect(room.session.moderationReport(at: room.instant)?.restrictions.count == 1)
        room.moderate(.unban(.ref(ref)))
        for token in ["eve", "newer", "last", "of the tab"] {
            #expect(room.join("again with \(token)", token: token).error == nil)
        }
    }

    @Test("MOD-3: a connection has at most 33 tokens, and a ban 64")
    func tokenBounds() throws {
        var room = ModeratedRoom.usual()
        for number in 0..<100 { room.refresh("eve", token: "token \(number)") }
        room.join("ida", token: "token 99")
        for number in 100..<200 { room.refresh("ida", token: "token \(number)") }
        try room.reload()
        room.moderate(.ban(.connection(client("eve"))))
        try room.reload()
        let banned = (0..<200).filter { room.join("x \($0)", token: "token \($0)").error?.code == .userBanned }
        #expect(banned == Array(68..<99) + [99] + Array(168..<199))
        #expect(room.join("eve again", token: "eve").error?.code == .userBanned)
    }

    @Test("MOD-2: an action that waits for the log has the date of its entry, and its restriction ends at that `until`")
    func dates() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 3)), acceptedBefore: 4)
        let report = try #require(room.session.moderationReport(at: room.instant))
        let until = ModeratedRoom.clockLead + 1_003_000
        #expect(report.restrictions.map(\.restriction.until?.milliseconds) == [until])
        #expect(report.restrictions.map(\.time) == [room.wallTime])
        room.now = 1_002.999
        #expect(room.wallTime.milliseconds < until)
        #expect(room.signal("bob").error?.retryAfter == .milliseconds(1))
        room.now = 1_003
        #expect(room.signal("bob").error == nil)
    }

    @Test("MOD-1, HIS-9: a ban erases the user's messages if that is asked for, behind its departures")
    func erases() {
        var room = ModeratedRoom.usual(history: .all)
        room.signal("bob", "secret 1")
        room.signal("mod", "kept")
        room.signal("bea", "secret 2")
        room.moderate(.ban(.user("u"), erasesMessages: true))
        let lines = room.lines(of: "eve", after: 4)
        #expect(!lines.contains { $0.contains("secret") } && lines.contains { $0.contains("kept") })
        #expect(lines.last == #"{"ev":"erased","seq":11,"user":"u"}"#)
        #expect(room.session.unarchived.items.map(\.seq.rawValue) == [5, 6, 7, 11])
        #expect(!text(room.session.encoded()).contains("secret"))
        room.join("kim", user: "k")
        room.signal("kim", "public")
        room.moderate(.ban(.user("k")))
        #expect(room.lines(of: "eve", after: 11).contains { $0.contains("public") })
    }

    // MARK: - Told

    @Test("MOD-5, MOD-6: moderators get each action, users what concerns them, and a freeze everybody")
    func told() {
        var room = ModeratedRoom.usual()
        let terms = ModerationRequest.Terms(seconds: 600, reason: "Topic")
        room.moderate(.mute(.user("u"), terms))
        room.moderate(.unmute(.user("u")), by: nil)
        room.moderate(.freeze())
        room.moderate(.unfreeze)
        let by = #""by":{"connectionId":"mod","user":"m"}"#
        let until = ModeratedRoom.clockLead + 1_600_000
        let freeze = [
            #"{"ev":"restricted","seq":10,"kind":"freeze"}"#, #"{"ev":"unrestricted","seq":12,"kind":"freeze"}"#,
        ]
        let actions = [
            #"{"ev":"moderated","seq":5,"action":"mute","user":"u","reason":"Topic","until":\#(until),\#(by)}"#,
            #"{"ev":"moderated","seq":7,"action":"unmute","user":"u"}"#,
            #"{"ev":"moderated","seq":9,"action":"freeze",\#(by)}"#, freeze[0],
            #"{"ev":"moderated","seq":11,"action":"unfreeze",\#(by)}"#, freeze[1],
        ]
        for suppresses in [false, true] {
            func lines(_ name: String, _ user: UserID?, _ role: Role) -> [String] {
                room.lines(of: name, user: user, role: role, after: 4, suppressesPresence: suppresses)
            }
            #expect(lines("mod", "m", .moderator) == actions)
            #expect(
                lines("bob", "u", .publisher) == [
                    #"{"ev":"restricted","seq":6,"kind":"mute","until":\#(until),"reason":"Topic"}"#,
                    #"{"ev":"unrestricted","seq":8,"kind":"mute"}"#,
                ] + freeze)
            #expect(lines("eve", nil, .subscriber) == freeze)
        }
        #expect(room.lines(of: "new", role: .moderator, after: 4, recoversThrough: 12).isEmpty)
    }

    @Test("MOD-5: a shared batch leaves out exactly the members whom an action concerns")
    func batches() throws {
        var room = ModeratedRoom.usual()
        let start = room.session.log.lastSeq
        room.moderate(.mute(.user("u")))
        room.moderate(.freeze())
        room.signal(nil, "hello")
        let log = room.session.log
        for suppresses in [false, true] {
            var batch = SharedBatch(log: log, after: start, onlineOnly: [])
            for (name, user, role, isShared) in [
                ("mod", "m", Role.moderator, false), ("bob", "u", .publisher, false), ("bea", "u", .moderator, false),
                ("kim", "k", .publisher, true), ("eve", nil, .subscriber, true), ("amy", nil, .moderator, false),
            ] as [(String, UserID?, Role, Bool)] {
                func outbox() -> Outbox {
                    Outbox(owner: client(name), user: user, role: role, suppressesPresence: suppresses, cursor: start)
                }
                var (shared, own) = (outbox(), outbox())
                let bytes = batch.bytes(for: &shared, log: log)
                #expect((bytes != nil) == isShared, "\(name)")
                if let bytes { #expect(lines(bytes) == dequeueAll(&own, log), "\(name)") }
            }
        }
        // What concerns everybody leaves nobody out.
        var batch = SharedBatch(log: log, after: Seq(7), onlineOnly: [])
        var outbox = Outbox(
            owner: client("mod"), user: "m", role: .moderator, suppressesPresence: false, cursor: Seq(7))
        #expect(try #require(batch.bytes(for: &outbox, log: log)).isEmpty == false)
    }

    @Test("MOD-5: connected tells what holds for the client, and nothing that has ended or concerns others")
    func welcome() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 10)))
        room.moderate(.freeze())
        #expect(room.join("a", user: "u").joined?.restrictions.map(\.kind) == [.mute, .freeze])
        #expect(room.join("b", user: "v").joined?.restrictions.map(\.kind) == [.freeze])
        room.now += 10
        room.moderate(.unfreeze)
        #expect(room.join("c", user: "u").joined?.restrictions == [])
    }

    @Test("MOD-2, MOD-6: a moderator reads what holds, in the order of the actions, and other roles get 403")
    func reads() throws {
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 10)))
        room.moderate(.ban(.connection(client("eve"))), by: nil)
        room.moderate(.freeze(ModerationRequest.Terms(reason: "Pause")))
        let before = room.session.encoded()
        func read(_ name: String) -> SessionOutcome { room.submit(.restrictions(room.binding(name))) }
        #expect(
            read("mod").testDescription
                == #"restrictions ["5 mute user u", "7 ban guest eve", "9 freeze session"]"#)
        guard case .restrictions(let records) = read("mod") else { throw TestFailure() }
        let by = Moderator(connectionId: client("mod"), user: "m")
        #expect(records.map(\.by) == [by, nil, by] && records[2].restriction.reason == "Pause")
        #expect(records.allSatisfy { $0.time == room.wallTime })
        #expect(read("bob").error?.code == .permissionDenied)
        #expect(read("gone").error?.code == .notConnectedToModerate)
        #expect(room.session.encoded() == before)
        room.now += 10
        #expect(read("mod").testDescription == #"restrictions ["7 ban guest eve", "9 freeze session"]"#)
    }

    private struct TestFailure: Error {}

    // MARK: - Bounds

    @Test("MOD-9: ended restrictions make room for others, and an action over the bound gets 400")
    func bounds() {
        var room = ModeratedRoom.usual()
        for number in 1...Limits.restrictionCount {
            let terms = ModerationRequest.Terms(seconds: number == 7 ? 10 : nil)
            #expect(room.moderate(.ban(.user(UserID("x\(number)")), terms)).error == nil)
        }
        let last = room.session.log.lastSeq
        #expect(room.moderate(.freeze()).error?.code == .invalidParameter)
        #expect(room.moderate(.ban(.user("x3"), ModerationRequest.Terms(seconds: 5))).error == nil, "it replaces one")
        #expect(room.session.log.lastSeq == last.next)
        room.now += 20
        #expect(room.moderate(.freeze()).error == nil)
        #expect(room.moderate(.mute(.user("y"))).error == nil)
        #expect(room.moderate(.mute(.user("z"))).error?.code == .invalidParameter)
        #expect(room.moderate(.unban(.user("x9"))).error == nil)
        #expect(room.moderate(.mute(.user("z"))).error == nil)
        #expect(room.session.restrictions.actions.count == Limits.restrictionCount)
        #expect(room.session.restrictions.actions.last?.event.action == .mute(.user("z")))
    }

    @Test(
        "MOD-9, HIS-3, LOG-15: a session sleeps while a restriction holds by the time of the log, and ends afterwards")
    func sleeps() throws {
        func end(_ room: inout ModeratedRoom) -> SessionState? {
            var state: SessionState? = room.session
            let position = LogPosition(number: 20, id: CommandID(run: RunID(1), counter: 20))
            let entry = CommandEntry(
                session: CoreTestSupport.room, position: position, time: room.instant,
                bytes: LoggedCommand.end.encoded())
            var effects: [SessionEffect] = []
            LoggedCommand.end.carryOut(on: &state, as: entry, effects: &effects)
            return state
        }
        var room = ModeratedRoom(resume: 0, recovery: 0)
        room.join("ada")
        room.moderate(.ban(.user("u"), ModerationRequest.Terms(seconds: 100)), by: nil)
        room.leave("ada")
        #expect(!room.session.isNeeded)
        room.now += 99
        let asleep = try #require(end(&room))
        #expect(asleep.isAsleep && asleep.log.entries.isEmpty)
        let awake = try SessionState(decoding: asleep.encoded())
        #expect(awake.isAsleep)
        room.session = awake
        #expect(room.join("bob", user: "u").error?.code == .userBanned, "nothing is forgotten in its sleep")
        room.now += 1
        #expect(end(&room) == nil)
    }

    @Test("MOD-7: REST gets 404 for a session that nobody has joined, and reads the last actions of others")
    func rest() throws {
        var empty = ModeratedRoom()
        #expect(empty.moderate(.freeze(), by: nil).error?.code == .notFound)
        #expect(empty.session.moderationReport(at: empty.instant) == nil)
        var room = ModeratedRoom.usual()
        room.moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 5)))
        room.moderate(.freeze(), by: nil)
        room.now += 5
        let report = try #require(room.session.moderationReport(at: room.instant))
        #expect(report.restrictions.map(\.testDescription) == ["7 freeze session"])
        #expect(report.actions.map(\.seq) == [Seq(5), Seq(7)])
        #expect(report.actions[0].event.until == WallTime(milliseconds: ModeratedRoom.clockLead + 1_005_000))
    }
}
