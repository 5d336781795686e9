import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session whose clients write, with the archive that it would tell.
private struct Room {
    var session: SessionState
    var effects: [SessionEffect] = []
    private var requestCount: Int64 = 0

    init(_ kept: KeptTypes?, role: Role = .publisher) {
        var bounds = SessionState.Bounds(resumeWindow: .seconds(10), recoveryWindow: .seconds(10))
        bounds.history = kept
        session = SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
        for (name, role) in [("ada", role), ("bob", .publisher)] {
            let join = JoinRequest(
                connectionId: client(name), socket: socket1, role: role, data: "", wallTime: .init(milliseconds: 0),
                secretHash: hash(name))
            _ = session.handle(.join(join), now: .seconds(0), effects: &effects)
        }
    }

    @discardableResult
    mutating func submit(_ command: SessionCommand, at seconds: Double = 1) -> SessionOutcome {
        session.handle(command, now: .seconds(seconds), effects: &effects)
    }

    @discardableResult
    mutating func say(_ data: String, _ type: String? = "chat", to: ConnectionID? = nil, at seconds: Double = 1)
        -> SessionOutcome
    {
        requestCount += 1
        let sender = CommandSender.connection(SocketBinding(client("ada"), socket1), RequestID(requestCount))
        return submit(.signal(sender, SignalRequest(type: type, data: data, to: to)), at: seconds)
    }

    mutating func erase(_ erasure: Erasure, by name: String = "ada", at seconds: Double = 2) -> SessionOutcome {
        requestCount += 1
        let sender = CommandSender.connection(SocketBinding(client(name), socket1), RequestID(requestCount))
        return submit(.erase(sender, erasure), at: seconds)
    }

    mutating func leaveAll(at seconds: Double = 3) {
        for name in ["ada", "bob"] {
            submit(.leave(SocketBinding(client(name), socket1), .clientDisconnected), at: seconds)
        }
    }

    /// What the state carries for the archive, in short: `2 hello`, `2 erased`, `erase 2`.
    var unarchived: [String] {
        session.unarchived.items.map { item in
            switch item.content {
            case .message(let line):
                "\(item.seq) \(text(line.historyParts?.content ?? []).replacing(#","type":"chat","data":"#, with: ""))"
            case .erased: "\(item.seq) erased"
            case .form(let ref, _): "form of \(ref)"
            case .reactions(let ref, let counts): "\(counts.count) reactions to \(ref)"
            case .event(let members): text(members)
            case .missed(let first): "missed from \(first)"
            case .nothing: "nothing"
            case .erasure(.message(let seq)): "erase \(seq)"
            case .erasure(.through(let seq)): "erase through \(seq)"
            case .erasure(.user(let user)): "erase of \(user)"
            }
        }
    }
}

@Suite("The history of a session")
struct SessionHistoryTests {
    @Test("HIS-1: broadcasts of the kept types are kept: nothing directed, nothing online-only, no presence")
    func kept() {
        var room = Room(.only(["chat"]))
        room.say("a")
        room.say("b", "other")
        room.say("c", to: client("bob"))
        room.say("d", nil)
        let sender = CommandSender.connection(SocketBinding(client("ada"), socket1), nil)
        room.submit(.signal(sender, SignalRequest(type: "chat", data: "e", isOnlineOnly: true)))
        room.submit(.signal(.server, SignalRequest(type: "chat", data: "f")))
        #expect(room.unarchived == [#"3 "a""#, #"7 "f""#])
        var all = Room(.all)
        all.say("a", nil)
        all.say("b", "other")
        #expect(all.session.unarchived.items.map(\.seq) == [Seq(3), Seq(4)])
        var none = Room(nil)
        none.say("a")
        #expect(none.session.unarchived.isEmpty && !none.session.hasHistory)
    }

    @Test("HIS-3: a session is needed until its archive has its messages, and then sleeps instead of ending")
    func sleep() throws {
        var room = Room(.all)
        room.say("a")
        room.say("b")
        room.leaveAll()
        #expect(!room.session.isOccupied && room.session.isNeeded)
        room.session.archived(through: Seq(3))
        #expect(room.unarchived == [#"4 "b""#] && room.session.isNeeded)
        room.session.archived(through: Seq(4))
        #expect(!room.session.isNeeded)
        var state: SessionState? = room.session
        var effects: [SessionEffect] = []
        let end = CommandEntry(
            session: room.session.id, position: LogPosition(number: 20, id: CommandID(run: RunID(1), counter: 20)),
            time: .seconds(5), bytes: LoggedCommand.end.encoded())
        LoggedCommand.end.carryOut(on: &state, as: end, effects: &effects)
        let asleep = try #require(state)
        #expect(asleep.isAsleep && asleep.keeper == nil && asleep.log.entries.isEmpty)
        #expect(asleep.encoded().count < 250, "a sleeper is small")
        var awake = try SessionState(decoding: asleep.encoded())
        let join = JoinRequest(
            connectionId: client("eve"), socket: socket1, role: .publisher, data: "",
            wallTime: .init(milliseconds: -5), secretHash: hash("eve"))
        guard case .joined(let answer) = awake.handle(.join(join), now: .seconds(9), effects: &effects) else {
            Issue.record("the join was refused")
            return
        }
        #expect(answer.epoch == Epoch("e") && answer.seq == Seq(7), "the epoch and the seqs go on")
        #expect(answer.connection.creationTime.milliseconds > 0, "creation times go on, too")
        var silent: SessionState? = Room(.all).session
        silent?.handleLeaves()
        LoggedCommand.end.carryOut(on: &silent, as: end, effects: &effects)
        #expect(silent == nil, "a session without a message ends")
    }

    @Test("HIS-3: a position from before the sleep is told as lost, since the events are gone")
    func positionAcrossSleep() {
        var room = Room(.all)
        room.say("a")
        room.leaveAll()
        room.session.archived(through: Seq(3))
        room.session.sleep()
        #expect(room.session.log.reachesBackTo == room.session.log.lastSeq)
        #expect(room.session.log.entries(after: Seq(2)) == nil)
    }

    @Test("HIS-1: by REST a signal of a kept type is accepted where nobody is; one of another type is not")
    func emptyRoom() {
        var room = Room(.only(["chat"]))
        room.leaveAll()
        guard case .signalled(let seq?) = room.submit(.signal(.server, SignalRequest(type: "chat", data: "x")), at: 4)
        else {
            Issue.record("the signal was refused")
            return
        }
        #expect(room.unarchived == [#"\#(seq) "x""#])
        #expect(
            room.submit(.signal(.server, SignalRequest(type: "other", data: "x")), at: 4).testDescription
                == "refused 404 OT_NOT_FOUND")
    }

    @Test("G5, HIS-3: too many messages that the archive does not take are refused with 429, and none is left out")
    func archiveBehind() {
        var room = Room(.all)
        var accepted = 0
        while accepted < 2_000, case .signalled = room.say(String(repeating: "x", count: 8000)) { accepted += 1 }
        #expect(room.session.unarchived.items.count == accepted)
        #expect(accepted * 8000 < Unarchived.byteLimit + 16_384)
        #expect(room.say("y").testDescription == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(room.say("y", to: client("bob")).testDescription.hasPrefix("signalled"), "only what would be kept")
        room.session.archived(through: room.session.log.lastSeq)
        #expect(room.say("z").testDescription.hasPrefix("signalled"))
    }

    @Test("HIS-9: an erased message has no content in the state, in the log and in snapshots; its seq stays")
    func erasing() throws {
        var room = Room(.all, role: .moderator)
        room.say("first secret")
        room.say("second")
        guard case .erased(let seq) = room.erase(.message(Seq(3))) else {
            Issue.record("refused")
            return
        }
        #expect(seq == Seq(5))
        #expect(room.unarchived == ["3 erased", #"4 "second""#, "erase 3"])
        let bytes = text(room.session.encoded().filter { $0 < 128 })
        #expect(!bytes.contains("first secret") && bytes.contains("second"))
        #expect(room.session.log.entries.map(\.seq.rawValue) == [1, 2, 3, 4, 5])
        var outbox = Outbox(owner: client("bob"), suppressesPresence: false, cursor: Seq(2))
        let lines = dequeueAll(&outbox, room.session.log)
        #expect(lines.count == 2 && lines[1] == #"{"ev":"erased","seq":5,"ref":3}"#)
        #expect(portrait(try SessionState(decoding: room.session.encoded())) == portrait(room.session))
    }

    @Test("HIS-9: everything up to a seq is erased, and nothing that follows")
    func erasingThrough() {
        var room = Room(.all, role: .moderator)
        for text in ["a", "b", "c"] { room.say(text) }
        #expect(room.erase(.through(Seq(4))).testDescription == "erased 6")
        #expect(room.unarchived == ["3 erased", "4 erased", #"5 "c""#, "erase through 4"])
        #expect(room.erase(.through(Seq(1_000))).testDescription == "erased 7")
        room.say("d", at: 3)
        #expect(room.unarchived.last == #"8 "d""#, "an erasure concerns what is there")
        #expect(room.unarchived.contains("erase through 6"))
    }

    @Test(
        "G4, HIS-9: nothing covers the event that tells of an erasure",
        arguments: [Erasure.message(Seq(5)), .through(Seq(5))])
    func erasingAnErasure(second: Erasure) throws {
        var room = Room(.all, role: .moderator)
        for text in ["a", "b"] { room.say(text) }
        #expect(room.erase(.message(Seq(3))).testDescription == "erased 5")
        #expect(room.erase(second).testDescription == "erased 6")
        room.session = try SessionState(decoding: room.session.encoded())
        var outbox = Outbox(owner: client("bob"), suppressesPresence: false, cursor: Seq(4))
        let lines = dequeueAll(&outbox, room.session.log)
        #expect(lines.first == #"{"ev":"erased","seq":5,"ref":3}"#)
        #expect(lines.count == 2, "an erasure is told to who was away")
    }

    @Test("HIS-9: only moderators and REST erase, and only where there is a history")
    func mayErase() {
        var room = Room(.all)
        room.say("a")
        #expect(room.erase(.message(Seq(3))).testDescription == "refused 403 OT_PERMISSION_DENIED")
        #expect(room.submit(.erase(.server, .message(Seq(3)))).testDescription.hasPrefix("erased"))
        #expect(room.submit(.erase(.server, .message(Seq(900)))).testDescription.hasPrefix("erased"), "no error")
        var none = Room(nil, role: .moderator)
        #expect(none.erase(.message(Seq(3))).testDescription == "refused 404 OT_NOT_FOUND")
    }

    @Test("RES-9: a repeated erasure gets its first answer")
    func repeatedErasure() {
        var room = Room(.all, role: .moderator)
        room.say("a")
        let sender = CommandSender.connection(SocketBinding(client("ada"), socket1), RequestID(50))
        #expect(room.submit(.erase(sender, .message(Seq(3)))).testDescription == "erased 4")
        // The socket changes in between, since a client repeats requests only then.
        room.submit(.detach(SocketBinding(client("ada"), socket1)), at: 2)
        let claim = Resumption(connectionId: client("ada"), secretHash: hash("ada"), epoch: Epoch("e"), after: Seq(4))
        var join = JoinRequest(
            connectionId: client("ada2"), socket: SocketID(77), role: .moderator, data: "",
            wallTime: .init(milliseconds: 0), secretHash: hash("next"))
        join.resumption = claim
        #expect(room.submit(.join(join), at: 3).testDescription.contains("resumed"))
        let again = CommandSender.connection(SocketBinding(client("ada"), SocketID(77)), RequestID(50))
        #expect(room.submit(.erase(again, .message(Seq(3))), at: 4).testDescription == "signalled 4")
    }
}

extension SessionState {
    fileprivate mutating func handleLeaves() {
        var effects: [SessionEffect] = []
        for name in ["ada", "bob"] {
            _ = handle(
                .leave(SocketBinding(client(name), socket1), .clientDisconnected), now: .seconds(3),
                effects: &effects)
        }
    }
}
