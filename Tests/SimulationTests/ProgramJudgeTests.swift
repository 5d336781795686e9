import SignalingProtocol
import SignalingVerification
import Testing

/// What one sender and one receiver saw, each time with one fault, beside a wire without one.
@Suite("the judge of programs")
struct ProgramJudgeTests {
    static func entry(
        _ id: String, _ outcome: Welcome.Outcome, seq: Int64, epoch: String = "e", through: Int64? = nil,
        others: [String] = []
    ) -> ProgramRecord.Action {
        .entered(
            ProgramRecord.Entry(
                Welcome(
                    connection: Connection(
                        connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: ""),
                    connections: others.map {
                        Connection(connectionId: ConnectionID($0), creationTime: WallTime(milliseconds: 0), data: "")
                    }, role: .publisher, epoch: Epoch(epoch), seq: Seq(seq), outcome: outcome,
                    replayThrough: through.map { Seq($0) },
                    resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))))
    }

    private static func got(_ data: String, _ seq: Int64?, from: String = "a") -> ProgramRecord.Action {
        .received(ProgramRecord.Reception(seq: seq.map { Seq($0) }, from: ConnectionID(from), data: data))
    }

    /// A wire that carries everything: a sends 1, 2 and 3 at the seqs 3 to 5, and gets its own signals, as b does.
    private static func wire(isOnlineOnly: Bool = false) -> Wire {
        var wire = Wire()
        wire.connect(1, as: "a", seq: 1)
        wire.connect(2, as: "b", seq: 2, others: ["a"])
        wire.down(1, created("b", 2))
        for number in 1...3 {
            let seq = isOnlineOnly ? nil : number + 2
            wire.up(1, signal("\(number)", number + 1, onlineOnly: isOnlineOnly))
            wire.down(1, received("\(number)", seq, from: "a"), ack(number + 1, seq))
            wire.down(2, received("\(number)", seq, from: "a"))
        }
        return wire
    }

    private static func steps(_ actions: [ProgramRecord.Action]) -> [ProgramRecord.Step] {
        actions.enumerated().map { ProgramRecord.Step(MonotonicInstant(nanoseconds: Int64($0)), $1) }
    }

    /// The broken promises for a receiver that saw these, beside a sender that saw everything.
    private static func promises(
        _ receiver: [ProgramRecord.Action], on wire: Wire? = nil, isOnlineOnly: Bool = false,
        suppressesPresence: Bool = true
    ) -> [String] {
        var sender = [entry("a", .new, seq: 1), .created(ConnectionID("b"), Seq(2))]
        for number in 1...3 {
            let seq = isOnlineOnly ? nil : Int64(number + 2)
            sender += [
                .sent("\(number)"), got("\(number)", seq),
                .answered("\(number)", .acknowledged(seq.map { Seq($0) })),
            ]
        }
        let programs = [
            ProgramRecord("sender", suppressesPresence: true, steps: steps(sender)),
            ProgramRecord("receiver", suppressesPresence: suppressesPresence, steps: steps(receiver)),
        ]
        let judge = (wire ?? Self.wire(isOnlineOnly: isOnlineOnly)).judge
        return Set(judge.violations(of: programs, isSettled: true).map(\.promise.rawValue)).sorted()
    }

    // MARK: - Users

    /// A watcher's record, with the users of the connections a1 and a2 (Ada), b1 (Bob) and w (the watcher itself).
    private static func promisesOfUsers(_ actions: [ProgramRecord.Action], isSettled: Bool = false) -> [String] {
        let users = ["a1": "ada", "a2": "ada", "b1": "bob", "w": "wim", "w2": "wim"]
        let record = ProgramRecord(
            "watcher", users: Dictionary(uniqueKeysWithValues: users.map { (ConnectionID($0), UserID($1)) }),
            steps: steps(actions))
        let found = Wire().judge.violations(of: [record], isSettled: isSettled)
        return Set(found.filter { $0.text.contains("USR-3") }.map(\.promise.rawValue)).sorted()
    }

    private static func creation(of id: String) -> ProgramRecord.Action { .created(ConnectionID(id), nil) }
    private static func destruction(of id: String) -> ProgramRecord.Action { .destroyed(ConnectionID(id), nil) }

    @Test("USR-3: a user with two connections joins once and leaves once")
    func users() {
        let good: [ProgramRecord.Action] = [
            Self.entry("w", .new, seq: 1), Self.creation(of: "a1"), .userJoined(UserID("ada")), Self.creation(of: "a2"),
            Self.destruction(of: "a1"), Self.got("x", 5), Self.destruction(of: "a2"), .userLeft(UserID("ada")),
            Self.got("y", 6),
        ]
        #expect(Self.promisesOfUsers(good) == [])
    }

    @Test("USR-3: a user who joins twice, leaves with a connection left, or is not told", arguments: 0..<4)
    func wrongUsers(fault: Int) {
        var steps = [Self.entry("w", .new, seq: 1), Self.creation(of: "a1")]
        switch fault {
        case 0: steps += [.userJoined(UserID("ada")), Self.creation(of: "a2"), .userJoined(UserID("ada"))]
        case 1:
            steps += [
                .userJoined(UserID("ada")), Self.creation(of: "a2"), Self.destruction(of: "a1"),
                .userLeft(UserID("ada")),
            ]
        case 2: steps += [Self.got("x", 5)]
        default: steps += [.userJoined(UserID("ada")), .userJoined(UserID("bob"))]
        }
        #expect(Self.promisesOfUsers(steps) == ["G7"])
    }

    @Test("USR-3: a user of the lists before and after a loss neither leaves nor joins", arguments: [true, false])
    func flicker(isGood: Bool) {
        var steps = [
            Self.entry("w", .new, seq: 1), Self.creation(of: "a1"), .userJoined(UserID("ada")),
            Self.entry("w2", .lost, seq: 9, others: ["a2", "b1"]), Self.destruction(of: "a1"),
        ]
        if !isGood { steps.append(.userLeft(UserID("ada"))) }
        steps += [Self.creation(of: "a2"), Self.creation(of: "b1")]
        if !isGood { steps.append(.userJoined(UserID("ada"))) }
        steps += [.userJoined(UserID("bob")), .reconnected, Self.got("x", 10)]
        #expect(Self.promisesOfUsers(steps) == (isGood ? [] : ["G7"]))
    }

    private static let start = [entry("b", .new, seq: 2)]

    /// The connection c follows b, from seq 3 on.
    private static func wireOfTwo(_ outcome: String, seq: Int, through: Int? = nil, epoch: String = "e") -> Wire {
        var wire = Self.wire()
        wire.judge.closed(2, at: wire.now)
        wire.resume(3, "b", after: seq, outcome, as: "c", seq: seq, replayThrough: through, others: ["a"], epoch: epoch)
        return wire
    }

    @Test("a correct record has no violation: plain, resumed, recovered, or with a reported loss")
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
        #expect(Self.promises(recovered, on: Self.wireOfTwo("recovered", seq: 3, through: 5)) == [])
        let lost = Self.start + [Self.got("1", 3), Self.entry("c", .lost, seq: 6)]
        #expect(Self.promises(lost, on: Self.wireOfTwo("lost", seq: 6)) == [])
    }

    @Test("G1: out of order, or another event at the same seq")
    func order() {
        #expect(Self.promises(Self.start + [Self.got("2", 4), Self.got("1", 3), Self.got("3", 5)]) == ["G1"])
        #expect(Self.promises(Self.start + [Self.got("2", 3), Self.got("1", 4), Self.got("3", 5)]) == ["G1"])
        let early = [Self.entry("b", .new, seq: 3), Self.got("1", 3), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(early) == ["G1"])
    }

    @Test("G1: an action that nobody has taken, or another one than the wire has", arguments: 0..<4)
    func action(fault: Int) {
        var wire = Self.wire()
        wire.down(2, #"{"ev":"moderated","seq":6,"action":"mute","user":"ada","until":9}"#)
        var event = ModerationEvent(action: .mute(.user(UserID("ada"))), until: WallTime(milliseconds: 9), by: nil)
        switch fault {
        case 1: event.action = .mute(.user(UserID("bob")))
        case 2: event.action = .freeze()
        case 3: event.until = nil
        default: break
        }
        let all = Self.start + [Self.got("1", 3), Self.got("2", 4), Self.got("3", 5), .moderated(event, Seq(6))]
        #expect(Self.promises(all, on: wire) == (fault == 0 ? [] : ["G1"]))
    }

    @Test("G2: a signal that was refused or not answered in its turn, and is in the order", arguments: 0..<3)
    func answers(fault: Int) {
        let answers: [ProgramRecord.Action] = [
            .answered("1", .refused), .answered("1", .acknowledged(Seq(4))), .answered("1", .acknowledged(nil)),
        ]
        let all = Self.start + [Self.got("1", 3), Self.got("2", 4), Self.got("3", 5), answers[fault]]
        #expect(Self.promises(all) == ["G2"])
    }

    @Test("SIG-6: the program learns of its ack before its signal")
    func earlyAck() {
        let record = ProgramRecord(
            "sender", suppressesPresence: true,
            steps: Self.steps([Self.entry("a", .new, seq: 1), .sent("1"), .answered("1", .acknowledged(Seq(3)))]))
        let found = Self.wire().judge.violations(of: [record], isSettled: false)
        #expect(found.map(\.promise) == [.g2, .g3], "\(found)")
    }

    @Test("a program may get what passes behind the loss of its socket: `connected`, events and an ack")
    func behindLoss() {
        var wire = Wire()
        wire.connect(1, as: "a", seq: 1)
        wire.judge.opened(2, at: wire.now)
        wire.up(2, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
        wire.judge.closed(2, at: wire.now, isSilent: true)
        wire.down(2, wire.connected("b", seq: 2, "new", others: ["a"]))
        wire.up(2, signal("1", 2))
        wire.down(2, received("1", 3, from: "b"), ack(2, 3))
        let program = ProgramRecord(
            "b", suppressesPresence: true,
            steps: Self.steps([
                Self.entry("b", .new, seq: 2), .sent("1"), Self.got("1", 3, from: "b"),
                .answered("1", .acknowledged(Seq(3))),
            ]))
        let found = wire.judge.violations(of: [program], isSettled: false)
        #expect(found.isEmpty, "\(found)")
    }

    @Test("G3, G4: a gap, at the end, in the middle, across a resume, across a recovery")
    func gaps() {
        #expect(Self.promises(Self.start + [Self.got("1", 3), Self.got("3", 5)]) == ["G3"])
        #expect(Self.promises(Self.start + [Self.got("1", 3)]) == ["G3"])
        let resumed = Self.start + [Self.got("1", 3), Self.entry("b", .resumed, seq: 4), Self.got("3", 5)]
        #expect(Self.promises(resumed) == ["G3"])
        let recovered =
            Self.start + [Self.entry("c", .recovered, seq: 3, through: 5), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(recovered, on: Self.wireOfTwo("recovered", seq: 3, through: 5)) == ["G4"])
        let otherEpoch = Self.start + [Self.entry("b", .resumed, seq: 2, epoch: "f")]
        #expect(Self.promises(otherEpoch).contains("G4"))
    }

    @Test("G3: a program with presence is not told that a peer came")
    func presence() {
        var wire = Self.wire()
        wire.connect(3, as: "c", seq: 6, others: ["a", "b"])
        wire.down(1, created("c", 6))
        wire.down(2, created("c", 6))
        let all = Self.start + [.created(ConnectionID("a"), nil), Self.got("1", 3), Self.got("2", 4), Self.got("3", 5)]
        #expect(Self.promises(all, on: wire, suppressesPresence: false).contains("G3"))
    }

    @Test("G4: an order that was lost without a reason, even if each client received `lost`")
    func orders() {
        let judge = Self.wireOfTwo("lost", seq: 1, epoch: "f").judge
        let client = ProgramRecord(
            "b", suppressesPresence: true,
            steps: Self.steps([Self.entry("b", .new, seq: 2), Self.entry("c", .lost, seq: 1, epoch: "f")]))
        func violations(_ most: Int?) -> [String] {
            judge.violations(of: [client], isSettled: true, epochLimit: most).map(\.promise.rawValue)
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
        #expect(Self.promises(recovered, on: Self.wireOfTwo("recovered", seq: 2, through: 5)) == ["G3"])
    }

    @Test("G6: online-only signals twice, or out of order")
    func onlineOnly() {
        #expect(Self.promises(Self.start + [Self.got("2", nil)], isOnlineOnly: true) == [], "at most once")
        #expect(Self.promises(Self.start + [Self.got("2", nil), Self.got("1", nil)], isOnlineOnly: true) == ["G6"])
        #expect(Self.promises(Self.start + [Self.got("2", nil), Self.got("2", nil)], isOnlineOnly: true) == ["G6"])
    }

    @Test("SIG-10: a program whose connection is another one now sends in its order")
    func onlineOnlyOfTwoConnections() {
        var wire = Self.wire()
        wire.judge.closed(1, at: wire.now)
        wire.connect(3, as: "c", seq: 6, others: ["b"])
        wire.up(3, signal("4", 2, onlineOnly: true))
        wire.down(2, created("c", 6), received("4", nil, from: "c"))
        let sender = ProgramRecord(
            "sender", suppressesPresence: true, steps: Self.steps(["4", "1"].map { .sent($0) }))
        let receiver = ProgramRecord(
            "receiver", suppressesPresence: true,
            steps: Self.steps(
                Self.start + [Self.got("1", 3), Self.got("2", 4), Self.got("3", 5), Self.got("4", nil, from: "c")]))
        let found = wire.judge.violations(of: [sender, receiver], isSettled: true)
        #expect(found.map(\.promise) == [.g6], "\(found)")
    }

    @Test("SIG-10: an online-only signal before or behind those of the log")
    func onlineOnlyAndLog() {
        var wire = Self.wire()
        wire.up(1, signal("4", 5, onlineOnly: true), signal("5", 6))
        wire.down(1, received("4", nil, from: "a"), ack(5, nil), received("5", 6, from: "a"), ack(6, 6))
        wire.down(2, received("4", nil, from: "a"), received("5", 6, from: "a"))
        let (one, two, three) = (Self.got("1", 3), Self.got("2", 4), Self.got("3", 5))
        let (four, five) = (Self.got("4", nil), Self.got("5", 6))
        let sender = ProgramRecord(
            "sender", suppressesPresence: true, steps: Self.steps((1...5).map { .sent("\($0)") }))
        func found(_ receiver: [ProgramRecord.Action]) -> [String] {
            let record = ProgramRecord("receiver", suppressesPresence: true, steps: Self.steps(Self.start + receiver))
            return wire.judge.violations(of: [sender, record], isSettled: true).map(\.promise.rawValue)
        }
        #expect(found([one, two, three, four, five]) == [])
        #expect(found([one, two, four, three, five]) == ["G6"])
        #expect(found([one, two, three, five, four]) == ["G6"])
    }

    @Test("PRES-4: an absence begins and ends once, and only of a connection in the list")
    func absences() {
        let peer = ConnectionID("a")
        let whole =
            [Self.entry("b", .new, seq: 2, others: ["a"])] + [Self.got("1", 3), Self.got("2", 4), Self.got("3", 5)]
        func promises(_ absences: [ProgramRecord.Action]) -> [String] {
            Self.promises(whole + absences, suppressesPresence: false)
        }
        #expect(promises([.away(peer), .back(peer), .away(peer)]) == [])
        #expect(promises([.away(peer), .away(peer)]) == ["G7"])
        #expect(promises([.back(peer)]) == ["G7"])
        #expect(promises([.away(ConnectionID("stranger"))]) == ["G7"])
    }

    @Test("G8: a signal with the wrong sender, and one that nobody has sent")
    func untrue() {
        let (two, three) = (Self.got("2", 4), Self.got("3", 5))
        #expect(Self.promises(Self.start + [Self.got("1", 3, from: "b"), two, three]).contains("G8"))
        #expect(Self.promises(Self.start + [Self.got("1", 3), two, three, Self.got("9", 6)]) == ["G8"])
    }

    // MARK: - The log

    /// The violations that the log shows; its lines begin at seq 1, and nil is a gap.
    private static func violations(ofLog lines: [String?], beside wire: Wire) -> [Violation] {
        let log = lines.enumerated().compactMap { index, line in
            line.map { (seq: Seq(Int64(index + 1)), line: Array($0.utf8)) }
        }
        return wire.judge.violations(ofLog: log, of: Epoch("e"), in: "s")
    }

    @Test("G1, G3, G7: the log of the server has what clients have, and clients what the log has", arguments: 0..<8)
    func log(fault: Int) {
        var log: [String?] = [created("a", 1), created("b", 2)] + (1...3).map { received("\($0)", $0 + 2, from: "a") }
        switch fault {
        case 1: log[3] = received("3", 4, from: "a")
        case 2: log[3] = nil
        case 3: log.append(created("c", 6))
        case 4: log[1] = nil
        case 5: log.append(destroyed("a", 6))
        case 6: log.append(ack(9, 6))
        case 7: log[4] = #"{"ev":"moderated","seq":5,"action":"freeze"}"#
        default: break
        }
        let found = Self.violations(ofLog: log, beside: Self.wire())
        let expected: [Set<Violation.Promise>] = [
            [], [.g1, .g3], [.g1], [.g3], [.g1, .g7], [.g3, .g7], [.g1], [.g1],
        ]
        #expect(Set(found.map(\.promise)) == expected[fault], "\(found)")
    }

    @Test("M1: the log has a signal of a muted user, or the join of a banned one, behind the action", arguments: 0..<4)
    func moderatedLog(fault: Int) {
        var wire = Wire()
        wire.users = ["a": "ada", "b": "ada"]
        wire.connect(1, as: "a", seq: 1, options: #"{"connectionEventsSuppressed":true}"#)
        wire.up(1, signal("1", 2))
        let kind = fault == 1 ? "mute" : "ban"
        var log = [
            created("a", 1, user: "ada"), #"{"ev":"moderated","seq":2,"action":"\#(kind)","user":"ada"}"#,
            fault == 1 ? #"{"ev":"restricted","seq":3,"kind":"mute"}"# : destroyed("a", 3, "forceDisconnected"),
        ]
        switch fault {
        case 1: log.append(received("1", 4, from: "a"))
        case 2: log.append(created("b", 4, user: "ada"))
        case 3: log += [#"{"ev":"moderated","seq":4,"action":"unban","user":"ada"}"#, created("b", 5, user: "ada")]
        default: break
        }
        let found = Self.violations(ofLog: log, beside: wire).filter { $0.promise == .m1 }
        #expect(found.count == (fault == 1 || fault == 2 ? 1 : 0), "\(found)")
    }

    @Test("MOD-9: the log need not have an action of which only the backend was told", arguments: [true, false])
    func actionByREST(isTold: Bool) {
        var wire = Self.wire()
        guard let asked = wire.judge.asksByREST(#"{"action":"unban","user":"ada"}"#, in: "s", at: wire.now) else {
            Issue.record("the judge does not know the action")
            return
        }
        wire.judge.moderatedByREST(asked, seq: 6, at: wire.now)
        if isTold { wire.down(1, #"{"ev":"moderated","seq":6,"action":"unban","user":"ada"}"#) }
        let log = [created("a", 1), created("b", 2)] + (1...3).map { received("\($0)", $0 + 2, from: "a") }
        let found = Self.violations(ofLog: log, beside: wire).filter { $0.promise == .g1 }
        #expect(found.isEmpty == !isTold, "\(found)")
    }
}
