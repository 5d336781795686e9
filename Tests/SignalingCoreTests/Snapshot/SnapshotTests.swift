import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session that is written and read again. `stop` is when one process writes it, and `start` when the next process
/// reads it, by that process's clock.
func savedAndRestored(
    _ session: SessionState, stop: MonotonicInstant, start: MonotonicInstant, downtime: Duration = .zero,
    bounds: SessionState.Bounds? = nil
) throws -> SessionState {
    let text = stateText([session.snapshot(at: stop)], at: stop)
    let wallTime = WallTime(milliseconds: stateWallTime.milliseconds + downtime.wholeMilliseconds)
    let sessions = try readState(text, now: start, wallTime: wallTime)
    return SessionState(try #require(sessions.first), bounds: bounds ?? session.bounds, now: start)
}

/// When each text of these tests was written, by the wall clock.
let stateWallTime = WallTime(milliseconds: 1_700_000_000_000)

func stateText(_ sessions: [SessionSnapshot], at now: MonotonicInstant) -> [UInt8] {
    var writer = StateWriter(now: now, wallTime: stateWallTime)
    var text: [UInt8] = []
    for session in sessions {
        writer.append(session)
        text += writer.drainBytes()
    }
    return text + writer.finish()
}

func readState(
    _ text: [UInt8], now: MonotonicInstant = .seconds(0), wallTime: WallTime = stateWallTime, pieces: Int = .max
) throws(StateFault) -> [SessionSnapshot] {
    var reader = StateReader(now: now, wallTime: wallTime)
    var start = 0
    while start < text.count {
        let end = start + min(pieces, text.count - start)
        try reader.read(text[start..<end])
        start = end
    }
    return try reader.finish()
}

/// A session that is restored in the middle of a random scenario, next to the original that continues.
private struct TwoSessions {
    struct Participant {
        var id: ConnectionID
        var socket: UInt64
        var role: Role
        /// The resume secrets that the client has got, the newest first.
        var secrets: [String]
        var after: Int64
        var requests: Int64 = 0
        /// Whether its socket is open, as far as the client knows.
        var isHere = true
        var binding: SocketBinding { SocketBinding(id, SocketID(socket)) }
    }

    var random: SeededGenerator
    var original: SessionState
    var restored: SessionState?
    var now = MonotonicInstant.seconds(1_000)
    /// The clock of the restored session differs by this much.
    let shift = Duration.seconds(-5_000)
    var participants: [Participant] = []
    var nextName = 0
    var counts: [String: Int] = [:]
    var scenario: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let windows = [(4, 12), (8, 0), (0, 10), (6, 6)].randomElement(using: &random) ?? (4, 12)
        original = SessionState(
            id: room, epoch: Epoch("e"),
            bounds: .init(
                connectionCount: 8, logEventCount: Int.random(in: 8...60, using: &random),
                logByteCount: 100_000, resumeWindow: .seconds(windows.0), recoveryWindow: .seconds(windows.1),
                recoverableCount: Int.random(in: 1...4, using: &random),
                signalRate: Bool.random(using: &random) ? RateLimit(perSecond: 1, burst: 1) : nil,
                onlineOnlyRate: RateLimit(perSecond: 1, burst: 2)))
    }

    mutating func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }

    mutating func step() throws {
        // Of two connections that are lost in the same nanosecond either may expire first.
        now = now.advanced(by: .nanoseconds(1))
        if chance(3) { now = now.advanced(by: .milliseconds(Int.random(in: 0...3_000, using: &random))) }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: try join()
        case 12..<24: try lose()
        case 24..<27: try leave()
        case 27..<50: try comeBack()
        case 50..<55:
            if let participant = participants.randomElement(using: &random) { try handle(.heard(participant.binding)) }
        case 55..<92: for _ in 0..<(chance(6) ? 6 : 1) { try signal() }
        default: try forceDisconnect()
        }
    }

    @discardableResult
    mutating func handle(_ command: SessionCommand) throws -> SessionOutcome {
        var effects: [SessionEffect] = []
        let outcome = original.handle(command, now: now, effects: &effects)
        scenario.append("\(now.nanoseconds / 1_000_000) \(command.testDescription): \(outcome.testDescription)")
        guard restored != nil else { return outcome }
        var others: [SessionEffect] = []
        let other = restored?.handle(command, now: now.advanced(by: shift), effects: &others)
        try #require(other?.testDescription == outcome.testDescription)
        try #require(others.map(\.testDescription) == effects.map(\.testDescription))
        try #require(restored?.lines == original.lines)
        try #require(restored?.connections == original.connections)
        switch outcome {
        case .joined(let join): counts["\(join.outcome)", default: 0] += 1
        case .refused(let error): counts["refused \(error.code.number)", default: 0] += 1
        case .signalled(let seq?) where seq < original.log.lastSeq: counts["answered from the book", default: 0] += 1
        case .wasForceDisconnected, .done, .signalled, .forceDisconnected, .refreshed:
            counts[outcome.testDescription, default: 0] += 1
        }
        for case .presence(.connectionDestroyed(_, .networkDisconnected)) in effects {
            counts["expired", default: 0] += 1
        }
        return outcome
    }

    mutating func join() throws {
        nextName += 1
        let participant = Participant(
            id: client("c\(nextName)"), socket: UInt64(nextName * 100), role: chance(4) ? .moderator : .publisher,
            secrets: ["\(nextName)"], after: 0)
        try enter(participant, claim: nil)
    }

    /// Joins, with a claim to the earlier connection if there was one.
    mutating func enter(_ participant: Participant, claim: Resumption?, isExpired: Bool = false) throws {
        var request = JoinRequest(
            connectionId: participant.id, role: participant.role, data: "é\u{2028}\"\(participant.role)",
            suppressesPresence: chance(5),
            wallTime: WallTime(milliseconds: Int64.random(in: 0..<50, using: &random)), socket: participant.socket,
            resumption: claim, isExpired: isExpired)
        request.secretHash = hash(participant.secrets[0])
        guard case .joined(let join) = try handle(.join(request)) else { return }
        var participant = participant
        participant.id = join.connection.connectionId
        participant.after = join.seq.rawValue
        participant.isHere = true
        if join.outcome != .resumed { participant.requests = 0 }
        participants.append(participant)
    }

    mutating func lose() throws {
        guard let index = participants.indices.randomElement(using: &random), participants[index].isHere else { return }
        participants[index].isHere = false
        participants[index].after = Int64.random(
            in: participants[index].after...max(participants[index].after, original.log.lastSeq.rawValue),
            using: &random)
        try handle(.detach(participants[index].binding))
    }

    mutating func leave() throws {
        guard let index = participants.indices.randomElement(using: &random), participants[index].isHere else { return }
        try handle(.leave(participants.remove(at: index).binding, .clientDisconnected))
    }

    mutating func comeBack() throws {
        guard let index = participants.indices.randomElement(using: &random) else { return }
        var participant = participants[index]
        if !participant.isHere || chance(2) { participants.remove(at: index) }
        let secret = chance(6) ? "wrong" : participant.secrets.prefix(4).randomElement(using: &random) ?? ""
        let claim = Resumption(
            connectionId: participant.id, secretHash: hash(secret), epoch: Epoch(chance(12) ? "other" : "e"),
            after: Seq(chance(12) ? 1_000_000 : participant.after))
        participant.socket += 1
        nextName += 1
        participant.secrets = ["\(nextName)"] + participant.secrets.prefix(9)
        if chance(12) { participant.role = .subscriber }
        let isExpired = chance(6)
        var fresh = participant
        fresh.id = client("c\(nextName)")
        try enter(fresh, claim: claim, isExpired: isExpired)
    }

    mutating func signal() throws {
        let target = chance(4) ? participants.randomElement(using: &random)?.id : nil
        let request = SignalRequest(
            type: chance(2) ? "chat" : nil,
            data: chance(20) ? String(repeating: "€", count: 8193) : "\(scenario.count)\u{0}\n\u{1F600}",
            to: target, isOnlineOnly: chance(5))
        guard let index = participants.indices.randomElement(using: &random), !chance(10) else {
            try handle(.signal(.server, request))
            return
        }
        // Repeats an earlier request now and then.
        let isAgain = participants[index].requests > 0 && chance(4)
        if !isAgain { participants[index].requests += 1 }
        let number =
            isAgain ? Int64.random(in: 1...participants[index].requests, using: &random) : participants[index].requests
        try handle(.signal(.connection(participants[index].binding, RequestID(number)), request))
    }

    mutating func forceDisconnect() throws {
        guard let sender = participants.indices.randomElement(using: &random),
            let target = participants.randomElement(using: &random)
        else { return }
        participants[sender].requests += 1
        let who = CommandSender.connection(participants[sender].binding, RequestID(participants[sender].requests))
        try handle(.forceDisconnect(chance(2) ? .server : who, target.id))
    }

    /// One process stops, and every client loses its socket. Another process continues.
    mutating func restart() throws {
        now = now.advanced(by: .nanoseconds(1))
        original.advance(to: now)
        // In half of the cases the sockets are still attached when the process stops.
        let isOrderly = original.bounds.resumeWindow == .zero || chance(2)
        if isOrderly { detachAll() }
        let text = stateText([original.snapshot(at: now)], at: now)
        let downtime = Duration.milliseconds(Int.random(in: 0...5_000, using: &random))
        let read = try readState(text, now: now.advanced(by: shift), pieces: Int.random(in: 1...200, using: &random))
        #expect(stateText(read, at: now.advanced(by: shift)) == text, "everything written is read")
        restored = try savedAndRestored(
            original, stop: now, start: now.advanced(by: downtime).advanced(by: shift), downtime: downtime)
        if !isOrderly { detachAll() }
        for index in participants.indices { participants[index].isHere = false }
        now = now.advanced(by: downtime)
    }

    private mutating func detachAll() {
        var effects: [SessionEffect] = []
        for member in Array(original.roster.members) {
            guard case .attached(let socket) = member.attachment else { continue }
            let binding = SocketBinding(member.connection.connectionId, socket)
            _ = original.handle(.detach(binding), now: now, effects: &effects)
        }
    }
}

@Suite("A session that another process continues")
struct SnapshotTests {
    @Test(
        "RES-15: in a random scenario the restored session answers as the original would have done")
    func continues() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<200 as Range<UInt64> {
            var sessions = TwoSessions(seed: seed)
            do {
                for _ in 0..<60 { try sessions.step() }
                try sessions.restart()
                for _ in 0..<80 { try sessions.step() }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(sessions.scenario.joined(separator: "\n"))")
                return
            }
            let end = sessions.now
            let other = sessions.restored?.snapshot(at: end.advanced(by: sessions.shift))
            #expect(
                stateText([sessions.original.snapshot(at: end)], at: end)
                    == stateText(other.map { [$0] } ?? [], at: end.advanced(by: sessions.shift)), "seed \(seed)")
            counts.merge(sessions.counts, uniquingKeysWith: +)
        }
        for what in [
            "new", "resumed", "recovered", "lost", "was force-disconnected", "expired", "answered from the book",
            "force-disconnected",
            "refused 404", "refused 413", "refused 429", "refused 500", "refused 1004", "refused 1520",
        ] { #expect((counts[what] ?? 0) > 0, "no seed covered: \(what)") }
    }

    /// Lists every stored property, so a new one fails here until it is saved or has a reason not to be.
    @Test("RES-15: every property of a session is saved, or has a reason not to be")
    func census() throws {
        var session = SessionState(id: room, epoch: Epoch("e"))
        session.join("ada")
        session.signal(from: "ada")
        _ = session.handle(.detach(SocketBinding("ada")))
        let member = try #require(session.roster[client("ada")])
        let isSaved = "saved"
        let made: [(Any, [String: String])] = [
            (
                session,
                [
                    "id": isSaved, "epoch": isSaved, "bounds": "the reader's own", "log": isSaved, "roster": isSaved,
                    "expiredTickets": isSaved, "forceDisconnectedTickets": isSaved,
                    "awayDeadlines": "begin anew (PRES-4)", "detachments": "follow from the members",
                    "lastCreationTime": isSaved, "untoldPresence": "the embedded engine keeps none",
                ]
            ),
            (
                session.log,
                [
                    "bounds": "the reader's own", "entries": isSaved, "byteCount": "a sum", "lastSeq": isSaved,
                    "absences": "begin anew (PRES-4)",
                ]
            ),
            (
                member,
                [
                    "connection": isSaved, "role": "the ticket's", "encodedConnection": "of the connection",
                    "suppressesPresence": isSaved, "isToldAbsences": isSaved, "attachment": "the moment of the loss",
                    "token": "counts the losses of one run only", "ticket": isSaved, "answers": isSaved,
                    "signalAllowance": isSaved, "onlineOnlyAllowance": isSaved,
                ]
            ),
            (
                member.ticket,
                [
                    "connectionId": isSaved, "role": isSaved, "data": isSaved, "begin": isSaved, "joined": isSaved,
                    "secrets": isSaved,
                ]
            ),
            (member.ticket.secrets, ["confirmed": isSaved, "unconfirmed": isSaved]),
            (member.connection, ["connectionId": isSaved, "creationTime": isSaved, "data": isSaved]),
            (
                member.answers,
                ["entries": isSaved, "highest": isSaved, "repeatedThrough": "set to `highest` by the next resume"]
            ),
            (member.signalAllowance, ["fullAt": isSaved]),
            (session.expiredTickets, ["limit": "the reader's own", "window": "the reader's own", "tickets": isSaved]),
            (RetainedTickets.Entry(ticket: member.ticket, since: .seconds(0)), ["ticket": isSaved, "since": isSaved]),
            (
                try #require(session.log.entries.first),
                [
                    "seq": "by the order of the lines", "audience": isSaved, "kind": isSaved, "appendedAt": isSaved,
                    "line": isSaved,
                ]
            ),
            (
                try #require(session.log.entries.last?.line),
                ["bytes": isSaved, "senderOffset": isSaved, "sender": isSaved]
            ),
        ]
        for (value, fates) in made {
            let names = Mirror(reflecting: value).children.compactMap(\.label)
            #expect(Set(names) == Set(fates.keys), "\(type(of: value))")
        }
    }

    /// Ada joined at 0 and sent a signal. She can resume for 60 s and recover for 300 s.
    private func adaAlone() -> SessionState {
        var session = SessionState(id: room, epoch: Epoch("e"))
        session.join("ada")
        session.signal(from: "ada", data: "hello")
        return session
    }

    private func comeBack(_ session: inout SessionState, at seconds: Double, after: Int64 = 1) -> String {
        let claim = Resumption(
            connectionId: client("ada"), secretHash: hash("ada-1"), epoch: Epoch("e"), after: Seq(after))
        var effects: [SessionEffect] = []
        return session.handle(
            .join(
                JoinRequest(
                    connectionId: client("ada2"), role: .publisher, data: "name=ada", wallTime: .init(milliseconds: 9),
                    socket: 2, resumption: claim)),
            now: .seconds(seconds), effects: &effects
        ).testDescription
    }

    @Test("RES-15: the resume and recovery windows run from the stop, the time between the processes included")
    func windowsRunFromTheStop() throws {
        for (downtime, wait, expected) in [
            (10.0, 49.9, "joined ada at 1 resumed through 2"), (10, 50.1, "joined ada2 at 1 recovered through 3"),
            (100, 0, "joined ada2 at 1 recovered through 3"), (250, 49, "joined ada2 at 1 recovered through 3"),
            (250, 51, "joined ada2 at 4 lost"),
        ] {
            var session = try savedAndRestored(
                adaAlone(), stop: .seconds(0.5), start: .seconds(7), downtime: .seconds(downtime))
            #expect(comeBack(&session, at: 7 + wait) == expected, "\(downtime) s and \(wait) s")
        }
    }

    @Test("RES-15: a connection that was lost before the stop keeps its deadline")
    func lostBeforeTheStop() throws {
        for (wait, expected) in [
            (39.0, "joined ada at 1 resumed through 2"), (41, "joined ada2 at 1 recovered through 3"),
        ] {
            var old = adaAlone()
            var effects: [SessionEffect] = []
            _ = old.handle(.detach(SocketBinding("ada")), now: .seconds(100), effects: &effects)
            var session = try savedAndRestored(old, stop: .seconds(120), start: .seconds(0))
            #expect(comeBack(&session, at: wait) == expected)
        }
    }

    @Test("RES-15: a wall clock set back gives the whole window and no more, and one set forward ends it")
    func wallClockJumps() throws {
        var session = try savedAndRestored(
            adaAlone(), stop: .seconds(10), start: .seconds(10), downtime: .seconds(-86_400 * 365))
        session.advance(to: .seconds(20))
        #expect(session.nextDeadline == .seconds(70))
        #expect(comeBack(&session, at: 69.9) == "joined ada at 1 resumed through 2")
        session = try savedAndRestored(
            adaAlone(), stop: .seconds(10), start: .seconds(10), downtime: .seconds(86_400 * 365))
        #expect(comeBack(&session, at: 10) == "joined ada2 at 4 lost")
    }

    @Test("G4, RES-14: the reader's bounds apply, and a client that needs a dropped event learns of the loss")
    func otherSettings() throws {
        var old = adaAlone()
        for _ in 0..<10 { old.signal(from: "ada", data: "more") }
        var session = try savedAndRestored(old, stop: .seconds(0), start: .seconds(0), bounds: .init(logEventCount: 4))
        #expect(session.log.entries.count == 4 && session.log.lastSeq == Seq(12))
        #expect(session.log.byteCount == session.log.entries.reduce(0) { $0 + $1.line.byteCount })
        #expect(comeBack(&session, at: 1, after: 7) == "joined ada2 at 10 lost through 13 without 8 to 10")
        session = try savedAndRestored(old, stop: .seconds(0), start: .seconds(0), bounds: .init(logByteCount: 200))
        #expect(session.log.byteCount <= 200 && session.log.entries.count > 1)
        #expect(comeBack(&session, at: 1, after: session.log.reachesBackTo.rawValue).contains("resumed"))
        session = try savedAndRestored(
            old, stop: .seconds(0), start: .seconds(0), bounds: .init(resumeWindow: .seconds(2)))
        #expect(session.nextDeadline == .seconds(2))
        #expect(comeBack(&session, at: 3, after: 7) == "joined ada2 at 7 recovered through 13")
        session = try savedAndRestored(
            old, stop: .seconds(0), start: .seconds(0), bounds: .init(resumeWindow: .zero, recoveryWindow: .zero))
        #expect(comeBack(&session, at: 0, after: 7).hasSuffix("lost"))
        #expect(!session.roster.members.contains { $0.ticket.connectionId == client("ada") })
    }

    @Test("SIG-11, SIG-12: a restart does not renew an allowance, and a new limit replaces the old one")
    func allowances() throws {
        let slow = RateLimit(perSecond: 1, burst: 1_000)
        var old = SessionState(id: room, epoch: Epoch("e"), bounds: .init(signalRate: slow))
        old.join("ada")
        for _ in 0..<1_000 { old.signal(from: "ada") }
        #expect(old.signal(from: "ada").testDescription == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        func isRefused(_ session: SessionState, at seconds: Double) -> Bool {
            var session = session
            #expect(comeBack(&session, at: seconds, after: session.log.lastSeq.rawValue).contains("resumed"))
            var effects: [SessionEffect] = []
            let sender = CommandSender.connection(SocketBinding("ada", 2), nil)
            return session.handle(.signal(sender, SignalRequest()), now: .seconds(seconds), effects: &effects)
                .testDescription == "refused 429 OT_RATE_LIMIT_EXCEEDED"
        }
        let same = try savedAndRestored(old, stop: .seconds(0), start: .seconds(50))
        #expect(isRefused(same, at: 50.9))
        #expect(!isRefused(same, at: 51.1))
        var quiet = SessionState(
            id: room, epoch: Epoch("e"), bounds: .init(onlineOnlyRate: RateLimit(perSecond: 1, burst: 1)))
        quiet.join("ada")
        quiet.signal(from: "ada", isOnlineOnly: true)
        quiet = try savedAndRestored(quiet, stop: .seconds(0), start: .seconds(50))
        #expect(comeBack(&quiet, at: 50).contains("resumed"))
        for (moment, expected) in [(50.9, "online-only dropped: tooOften"), (51.1, "online-only after 1: ")] {
            var effects: [SessionEffect] = []
            let sender = CommandSender.connection(SocketBinding("ada", 2), nil)
            _ = quiet.handle(
                .signal(sender, SignalRequest(isOnlineOnly: true)), now: .seconds(moment), effects: &effects)
            #expect(effects.first?.testDescription.hasPrefix(expected) == true, "\(effects.map(\.testDescription))")
        }
        let other = SessionState.Bounds(signalRate: RateLimit(perSecond: 10, burst: 10))
        #expect(isRefused(try savedAndRestored(old, stop: .seconds(0), start: .seconds(50), bounds: other), at: 50))
        #expect(!isRefused(try savedAndRestored(old, stop: .seconds(0), start: .seconds(50), bounds: other), at: 50.2))
    }

    @Test("RES-15, RES-12: an engine continues its sessions, expires connections, and deletes sessions that are over")
    func engine() throws {
        let observer = EffectRecorder()
        let old = makeEngine("old")
        old.observer = observer
        old.join("ada", room)
        old.join("bob", SessionID("1_other"))
        let empty = SessionID("1_empty")
        old.join("eve", empty)
        old.submit(.leave(client("eve"), .clientDisconnected), to: empty, ticket: .unanswered)
        observer.heard = []
        let snapshots = old.snapshots(at: .seconds(30))
        #expect(snapshots.map(\.id) == [SessionID("1_other"), room], "the empty session is not needed")

        let new = makeEngine("new")
        new.observer = observer
        new.restore(snapshots, now: .seconds(30))
        #expect(new.sessionCount == 2)
        #expect(new.connections(of: room).map(\.connectionId) == [client("ada")])
        #expect(new.nextDeadline == .seconds(40), "PRES-4")
        new.advance(to: .seconds(40))
        #expect(new.nextDeadline == .seconds(90))
        new.advance(to: .seconds(89))
        #expect(observer.heard.isEmpty, "a restart causes no presence event")
        new.advance(to: .seconds(90))
        #expect(
            observer.heard.sorted() == [
                "1_other: connectionDestroyed bob networkDisconnected", "1_other: sessionDestroyed",
                "1_room: connectionDestroyed ada networkDisconnected", "1_room: sessionDestroyed",
            ])
        #expect(new.sessionCount == 2, "their clients may recover")
        new.advance(to: .seconds(331))
        #expect(new.sessionCount == 0)
        #expect(new.nextDeadline == nil)
    }

    @Test("G5: sessions that were saved long ago are deleted at once, and their connections reported as destroyed")
    func longAgo() throws {
        let observer = EffectRecorder()
        let old = makeEngine("old")
        old.join("ada", room)
        let text = stateText(old.snapshots(at: .seconds(0)), at: .seconds(0))
        let wallTime = WallTime(milliseconds: stateWallTime.milliseconds + 86_400_000)
        let new = makeEngine("new")
        new.observer = observer
        new.restore(try readState(text, now: .seconds(5), wallTime: wallTime), now: .seconds(5))
        new.advance(to: .seconds(5))
        #expect(observer.heard.count == 2)
        #expect(new.sessionCount == 0)
    }

    private func makeEngine(_ epoch: String) -> MemoryEngine { MemoryEngine { Epoch(epoch) } }
}

extension CommandTicket {
    fileprivate static var unanswered: CommandTicket { CommandTicket(origin: 1, request: nil) }
}

extension MemoryEngine {
    fileprivate func join(_ name: String, _ session: SessionID) {
        submit(
            .join(
                JoinRequest(
                    connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 1))),
            to: session, ticket: .unanswered)
    }
}

private final class EffectRecorder: SessionEngineObserver {
    var heard: [String] = []
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {}
    func engine(sessionChanged session: SessionID) {}
    func engine(_ session: SessionID, caused effect: SessionEffect) {
        heard.append("\(session): \(effect.testDescription)")
    }
}
