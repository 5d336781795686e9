import SignalingProtocol
import SignalingVerification
import Testing

/// Histories of one sender and one receiver, each with one fault.
@Suite("the history checker")
struct HistoryCheckerTests {
    private static func entry(
        _ id: String, _ outcome: Welcome.Outcome, seq: Int64, epoch: String = "e", through: Int64? = nil
    )
        -> History.Action
    {
        .entered(
            History.Entry(
                Welcome(
                    connection: Connection(
                        connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: ""),
                    connections: [], role: .publisher, epoch: Epoch(epoch), seq: Seq(seq), outcome: outcome,
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
