import SignalingProtocol
import SignalingVerification
import Testing

/// Histories of one sender and one receiver, each with one fault.
@Suite("the history checker")
struct HistoryCheckerTests {
    private static func entry(
        _ id: String, _ outcome: Welcome.Outcome, seq: Int64, epoch: String = "e", through: Int64? = nil,
        others: [String] = []
    ) -> History.Action {
        .entered(
            History.Entry(
                Welcome(
                    connection: Connection(
                        connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: ""),
                    connections: others.map {
                        Connection(connectionId: ConnectionID($0), creationTime: WallTime(milliseconds: 0), data: "")
                    }, role: .publisher, epoch: Epoch(epoch), seq: Seq(seq), outcome: outcome,
                    replayThrough: through.map { Seq($0) },
                    resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))))
    }

    private static func got(_ data: String, _ seq: Int64?, from: String = "a") -> History.Action {
        .received(History.Reception(seq: seq.map { Seq($0) }, from: ConnectionID(from), data: data))
    }

    /// The broken promises for a receiver with this record. The sender sends 1, 2 and 3 and receives its own signals.
    private static func promises(
        _ receiver: [History.Action], isOnlineOnly: Bool = false, suppressesPresence: Bool = true
    ) -> [String] {
        var sender: [History.Action] = [.opening, entry("a", .new, seq: 2)]
        for number in 1...3 {
            let data = "\(number)"
            let seq = isOnlineOnly ? nil : Int64(number + 2)
            sender.append(.sent(History.Sending(data: data, isOnlineOnly: isOnlineOnly)))
            sender.append(got(data, seq))
            sender.append(.answered(data, .acknowledged(seq.map { Seq($0) })))
        }
        func steps(_ whats: [History.Action]) -> [History.Step] {
            whats.enumerated().map { History.Step(MonotonicInstant(nanoseconds: Int64($0)), $1) }
        }
        let history = History(clients: [
            History.Client("sender", suppressesPresence: true, steps: steps(sender)),
            History.Client("receiver", suppressesPresence: suppressesPresence, steps: steps(receiver)),
        ])
        return Set(HistoryChecker.violations(in: history).map(\.promise.rawValue)).sorted()
    }

    // MARK: - Users

    /// A watcher's record, with the users of the connections a1 and a2 (Ada), b1 (Bob) and w (the watcher itself).
    private static func promisesOfUsers(_ steps: [History.Action], isSettled: Bool = false) -> [String] {
        let users = ["a1": "ada", "a2": "ada", "b1": "bob", "w": "wim", "w2": "wim"]
        let record = History.Client(
            "watcher",
            users: Dictionary(uniqueKeysWithValues: users.map { (ConnectionID($0), UserID($1)) }),
            steps: steps.enumerated().map { History.Step(MonotonicInstant(nanoseconds: Int64($0)), $1) })
        let found = HistoryChecker.violations(in: History(clients: [record], isSettled: isSettled))
        return Set(found.filter { $0.text.contains("USR-3") }.map(\.promise.rawValue)).sorted()
    }

    private static func created(_ id: String) -> History.Action { .created(ConnectionID(id), nil) }
    private static func destroyed(_ id: String) -> History.Action { .destroyed(ConnectionID(id), nil) }

    @Test("USR-3: a user with two connections joins once and leaves once")
    func users() {
        let good: [History.Action] = [
            Self.entry("w", .new, seq: 1), Self.created("a1"), .userJoined(UserID("ada")), Self.created("a2"),
            Self.destroyed("a1"), Self.got("x", 5), Self.destroyed("a2"), .userLeft(UserID("ada")), Self.got("y", 6),
        ]
        #expect(Self.promisesOfUsers(good) == [])
    }

    @Test("USR-3: a user who joins twice, leaves with a connection left, or is not told", arguments: 0..<4)
    func wrongUsers(fault: Int) {
        var steps = [Self.entry("w", .new, seq: 1), Self.created("a1")]
        switch fault {
        case 0: steps += [.userJoined(UserID("ada")), Self.created("a2"), .userJoined(UserID("ada"))]
        case 1:
            steps += [.userJoined(UserID("ada")), Self.created("a2"), Self.destroyed("a1"), .userLeft(UserID("ada"))]
        case 2: steps += [Self.got("x", 5)]
        default: steps += [.userJoined(UserID("ada")), .userJoined(UserID("bob"))]
        }
        #expect(Self.promisesOfUsers(steps) == ["G7"])
    }

    @Test("USR-3: a user of the lists before and after a loss neither leaves nor joins", arguments: [true, false])
    func flicker(isGood: Bool) {
        var steps = [
            Self.entry("w", .new, seq: 1), Self.created("a1"), .userJoined(UserID("ada")),
            Self.entry("w2", .lost, seq: 9, others: ["a2", "b1"]), Self.destroyed("a1"),
        ]
        if !isGood { steps.append(.userLeft(UserID("ada"))) }
        steps += [Self.created("a2"), Self.created("b1")]
        if !isGood { steps.append(.userJoined(UserID("ada"))) }
        steps += [.userJoined(UserID("bob")), .reconnected, Self.got("x", 10)]
        #expect(Self.promisesOfUsers(steps) == (isGood ? [] : ["G7"]))
    }

    @Test("M1: a signal of a muted user, and the join of a banned one, behind the action", arguments: 0..<3)
    func moderation(fault: Int) {
        let ada = ModerationRequest.Subject.user(UserID("ada"))
        let action: ModerationRequest = fault == 0 ? .mute(ada) : .ban(ada)
        var events: [(Int64, History.Event)] = [
            (1, .created(ConnectionID("a1"))),
            (2, .signal(from: ConnectionID("a1"), data: "x", to: nil)),
            (3, .moderated(ModerationEvent(action: action, until: nil, by: nil))),
        ]
        if fault == 2 {
            events.append((4, .moderated(ModerationEvent(action: .unban(.ref(Seq(3))), until: nil, by: nil))))
        }
        events.append(
            fault == 0
                ? (5, .signal(from: ConnectionID("a1"), data: "y", to: nil)) : (5, .created(ConnectionID("a2"))))
        let users = [ConnectionID("a1"): UserID("ada"), ConnectionID("a2"): UserID("ada")]
        let history = History(
            clients: [History.Client("watcher", users: users)],
            logs: [Epoch("e"): events.map { History.LogRecord(Seq($0), $1) }], isSettled: false)
        let found = HistoryChecker.violations(in: history)
        #expect(found.map(\.promise) == (fault == 2 ? [] : [.m1]), "\(found)")
    }

    private static let start = [History.Action.opening, entry("b", .new, seq: 2)]

    @Test("a correct history has no violation: plain, resumed, recovered, or with a reported loss")
    func good() {
        let all = Self.start + [Self.got("1", 3), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(all) == [])
        let resumed =
            Self.start + [Self.got("1", 3), Self.entry("b", .resumed, seq: 3), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(resumed) == [])
        let recovered =
            Self.start + [
                Self.got("1", 3), Self.entry("c", .recovered, seq: 3, through: 5), Self.got("2", 4), Self.got("3", 5),
            ]
        #expect(Self.promises(recovered) == [])
        #expect(Self.promises(Self.start + [Self.got("1", 3), Self.entry("c", .lost, seq: 5)]) == [])
    }

    @Test("G1: out of order, or another event at the same seq")
    func order() {
        #expect(Self.promises(Self.start + [Self.got("2", 4), Self.got("1", 3), Self.got("3", 5)]).contains("G1"))
        #expect(Self.promises(Self.start + [Self.got("2", 3), Self.got("1", 4), Self.got("3", 5)]).contains("G1"))
    }

    @Test("G3, G4: a gap, at the end, in the middle, across a resume, across a recovery")
    func gaps() {
        #expect(Self.promises(Self.start + [Self.got("1", 3), Self.got("3", 5)]) == ["G3"])
        #expect(Self.promises(Self.start + [Self.got("1", 3)]) == ["G3"])
        let resumed = Self.start + [Self.got("1", 3), Self.entry("b", .resumed, seq: 4), Self.got("3", 5)]
        #expect(Self.promises(resumed) == ["G3"])
        let recovered =
            Self.start + [Self.entry("c", .recovered, seq: 3, through: 5), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(recovered) == ["G4"])
        let otherEpoch = Self.start + [Self.entry("b", .resumed, seq: 2, epoch: "f")]
        #expect(Self.promises(otherEpoch).contains("G4"))
    }

    @Test("G4: an order that was lost without a reason, even if each client received `lost`")
    func orders() {
        let steps = [Self.entry("b", .new, seq: 2), Self.entry("c", .lost, seq: 1, epoch: "f")].enumerated().map {
            History.Step(MonotonicInstant(nanoseconds: Int64($0)), $1)
        }
        func violations(_ most: Int?) -> [String] {
            let client = History.Client("b", suppressesPresence: true, steps: steps)
            return HistoryChecker.violations(in: History(clients: [client], epochLimit: most)).map(\.promise.rawValue)
        }
        #expect(violations(1) == ["G4"])
        #expect(violations(2) == [] && violations(nil) == [])
    }

    @Test("G3: an event twice, before and after a recovery")
    func twice() {
        let recovered =
            Self.start + [
                Self.got("1", 3), Self.entry("c", .recovered, seq: 2, through: 5), Self.got("1", 3), Self.got("2", 4),
                Self.got("3", 5),
            ]
        #expect(Self.promises(recovered) == ["G3"])
    }

    @Test("G6: online-only signals twice, out of order, or to a client that connected later")
    func onlineOnly() {
        #expect(Self.promises(Self.start + [Self.got("2", nil)], isOnlineOnly: true) == [], "at most once")
        #expect(Self.promises(Self.start + [Self.got("2", nil), Self.got("1", nil)], isOnlineOnly: true) == ["G6"])
        #expect(Self.promises(Self.start + [Self.got("2", nil), Self.got("2", nil)], isOnlineOnly: true) == ["G6"])
        let late = Array(repeating: History.Action.opening, count: 20) + Self.start.dropFirst() + [Self.got("1", nil)]
        #expect(Self.promises(late, isOnlineOnly: true) == ["G6"])
    }

    @Test("PRES-4: an absence begins and ends once, and only of a connection in the list")
    func absences() {
        let peer = ConnectionID("a")
        let whole = Self.start + [.created(peer, nil), Self.got("1", 3), Self.got("2", 4), Self.got("3", 5)]
        func promises(_ absences: [History.Action]) -> [String] {
            Self.promises(whole + absences, suppressesPresence: false)
        }
        #expect(promises([.away(peer), .back(peer), .away(peer)]) == [])
        #expect(promises([.away(peer), .away(peer)]) == ["G7"])
        #expect(promises([.back(peer)]) == ["G7"])
        #expect(promises([.away(ConnectionID("stranger"))]) == ["G7"])
    }

    @Test("G8: a signal with the wrong sender")
    func untrue() {
        #expect(
            Self.promises(Self.start + [Self.got("1", 3, from: "b"), Self.got("2", 4), Self.got("3", 5)]).contains("G8")
        )
    }
}
