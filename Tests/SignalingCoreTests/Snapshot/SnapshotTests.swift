import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session's way through a file: written when one process stops at `stop`, read when the next has its clock at `start`.
func kept(
    _ session: SessionState, stop: MonotonicInstant, start: MonotonicInstant, downtime: Duration = .zero,
    bounds: SessionState.Bounds? = nil
) throws -> SessionState {
    let text = stateText([session.snapshot(at: stop)], at: stop)
    let wallTime = WallTime(milliseconds: stateWallTime.milliseconds + downtime.wholeMilliseconds)
    let sessions = try readState(text, now: start, wallTime: wallTime)
    return SessionState(try #require(sessions.first), bounds: bounds ?? session.bounds)
}

/// When every text of these tests was written, by the clock on the wall.
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
    var place = 0
    while place < text.count {
        let end = place + min(pieces, text.count - place)
        try reader.read(text[place..<end])
        place = end
    }
    return try reader.finish()
}

/// A session that is kept in the middle of its story, and goes on as if nothing had been.
private struct TwoSessions {
    struct Person {
        var id: ConnectionID
        var socket: UInt64
        var role: Role
        /// What it holds, and what it held before.
        var secrets: [String]
        var after: Int64
        var requests: Int64 = 0
        /// Whether its socket is open, for all that it knows.
        var isHere = true
        var binding: SocketBinding { SocketBinding(id, SocketID(socket)) }
    }

    var random: SeededGenerator
    var original: SessionState
    var restored: SessionState?
    var now = MonotonicInstant.seconds(1_000)
    /// The restored one lives on another machine's clock.
    let shift = Duration.seconds(-5_000)
    var people: [Person] = []
    var nextName = 0
    var counts: [String: Int] = [:]
    var story: [String] = []

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
        // Of two that lose their sockets in the same nanosecond either may be given up first.
        now = now.advanced(by: .nanoseconds(1))
        if chance(3) { now = now.advanced(by: .milliseconds(Int.random(in: 0...3_000, using: &random))) }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: try join()
        case 12..<24: try lose()
        case 24..<27: try leave()
        case 27..<50: try comeBack()
        case 50..<55: if let person = people.randomElement(using: &random) { try handle(.heard(person.binding)) }
        case 55..<92: for _ in 0..<(chance(6) ? 6 : 1) { try signal() }
        default: try forceDisconnect()
        }
    }

    @discardableResult
    mutating func handle(_ command: SessionCommand) throws -> SessionOutcome {
        var effects: [SessionEffect] = []
        let outcome = original.handle(command, now: now, effects: &effects)
        story.append("\(now.nanoseconds / 1_000_000) \(command.testDescription): \(outcome.testDescription)")
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
        case .signalled(let seq?) where seq < original.log.lastSeq: counts["answered from memory", default: 0] += 1
        case .wasForceDisconnected, .done, .signalled, .forceDisconnected:
            counts[outcome.testDescription, default: 0] += 1
        }
        for case .presence(.connectionDestroyed(_, .networkDisconnected)) in effects {
            counts["given up", default: 0] += 1
        }
        return outcome
    }

    mutating func join() throws {
        nextName += 1
        let person = Person(
            id: client("c\(nextName)"), socket: UInt64(nextName * 100), role: chance(4) ? .moderator : .publisher,
            secrets: ["\(nextName)"], after: 0)
        try enter(person, claim: nil)
    }

    /// With what it held of the connection before, if there was one.
    mutating func enter(_ person: Person, claim: Resumption?, isExpired: Bool = false) throws {
        var request = JoinRequest(
            connectionId: person.id, role: person.role, data: "é\u{2028}\"\(person.role)",
            suppressesPresence: chance(5),
            wallTime: WallTime(milliseconds: Int64.random(in: 0..<50, using: &random)), socket: person.socket,
            resumption: claim, isExpired: isExpired)
        request.secretHash = hash(person.secrets[0])
        guard case .joined(let join) = try handle(.join(request)) else { return }
        var person = person
        person.id = join.connection.connectionId
        person.after = join.seq.rawValue
        person.isHere = true
        if join.outcome != .resumed { person.requests = 0 }
        people.append(person)
    }

    mutating func lose() throws {
        guard let place = people.indices.randomElement(using: &random), people[place].isHere else { return }
        people[place].isHere = false
        people[place].after = Int64.random(
            in: people[place].after...max(people[place].after, original.log.lastSeq.rawValue), using: &random)
        try handle(.detach(people[place].binding))
    }

    mutating func leave() throws {
        guard let place = people.indices.randomElement(using: &random), people[place].isHere else { return }
        try handle(.leave(people.remove(at: place).binding, .clientDisconnected))
    }

    mutating func comeBack() throws {
        guard let place = people.indices.randomElement(using: &random) else { return }
        var person = people[place]
        if !person.isHere || chance(2) { people.remove(at: place) }
        let secret = chance(6) ? "wrong" : person.secrets.prefix(2).randomElement(using: &random) ?? ""
        let claim = Resumption(
            connectionId: person.id, secretHash: hash(secret), epoch: Epoch(chance(12) ? "other" : "e"),
            after: Seq(chance(12) ? 1_000_000 : person.after))
        person.socket += 1
        nextName += 1
        person.secrets = ["\(nextName)"] + person.secrets.prefix(2)
        if chance(12) { person.role = .subscriber }
        let isExpired = chance(6)
        var fresh = person
        fresh.id = client("c\(nextName)")
        try enter(fresh, claim: claim, isExpired: isExpired)
    }

    mutating func signal() throws {
        let target = chance(4) ? people.randomElement(using: &random)?.id : nil
        let request = SignalRequest(
            type: chance(2) ? "chat" : nil,
            data: chance(20) ? String(repeating: "€", count: 8193) : "\(story.count)\u{0}\n\u{1F600}",
            to: target, isOnlineOnly: chance(5))
        guard let place = people.indices.randomElement(using: &random), !chance(10) else {
            try handle(.signal(.server, request))
            return
        }
        // Some come again.
        let isAgain = people[place].requests > 0 && chance(4)
        if !isAgain { people[place].requests += 1 }
        let number = isAgain ? Int64.random(in: 1...people[place].requests, using: &random) : people[place].requests
        try handle(.signal(.connection(people[place].binding, RequestID(number)), request))
    }

    mutating func forceDisconnect() throws {
        guard let sender = people.indices.randomElement(using: &random),
            let target = people.randomElement(using: &random)
        else { return }
        people[sender].requests += 1
        let who = CommandSender.connection(people[sender].binding, RequestID(people[sender].requests))
        try handle(.forceDisconnect(chance(2) ? .server : who, target.id))
    }

    /// One process stops: everybody loses their socket. Another goes on.
    mutating func restart() throws {
        now = now.advanced(by: .nanoseconds(1))
        original.advance(to: now)
        // Some are still there when it stops, as far as the session knows.
        let isOrderly = original.bounds.resumeWindow == .zero || chance(2)
        if isOrderly { detachAll() }
        let text = stateText([original.snapshot(at: now)], at: now)
        let downtime = Duration.milliseconds(Int.random(in: 0...5_000, using: &random))
        let read = try readState(text, now: now.advanced(by: shift), pieces: Int.random(in: 1...200, using: &random))
        #expect(stateText(read, at: now.advanced(by: shift)) == text, "all that is written is read")
        restored = try kept(
            original, stop: now, start: now.advanced(by: downtime).advanced(by: shift), downtime: downtime)
        if !isOrderly { detachAll() }
        for place in people.indices { people[place].isHere = false }
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

@Suite("A session that goes on in another process")
struct SnapshotTests {
    @Test(
        "RES-15: whatever has happened, and whatever comes, the restored session does what the old one would have done")
    func goesOn() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<200 as Range<UInt64> {
            var sessions = TwoSessions(seed: seed)
            do {
                for _ in 0..<60 { try sessions.step() }
                try sessions.restart()
                for _ in 0..<80 { try sessions.step() }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(sessions.story.joined(separator: "\n"))")
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
            "new", "resumed", "recovered", "lost", "expelled", "given up", "answered from memory", "forced out",
            "refused 404", "refused 413", "refused 429", "refused 500", "refused 1004", "refused 1520",
        ] { #expect((counts[what] ?? 0) > 0, "nothing was about: \(what)") }
    }

    /// A new property shows up here: it is to be kept, or there is a reason.
    @Test("RES-15: all that a session is made of is kept, or does not have to be")
    func census() throws {
        var session = SessionState(id: room, epoch: Epoch("e"))
        session.join("ada")
        session.signal(from: "ada")
        _ = session.handle(.detach(SocketBinding("ada")))
        let member = try #require(session.roster[client("ada")])
        let isKept = "kept"
        let made: [(Any, [String: String])] = [
            (
                session,
                [
                    "id": isKept, "epoch": isKept, "bounds": "the reader's own", "log": isKept, "roster": isKept,
                    "expiredTickets": isKept, "forceDisconnectedTickets": isKept,
                    "detachments": "follow from the members",
                    "lastCreationTime": isKept,
                ]
            ),
            (
                session.log,
                ["bounds": "the reader's own", "entries": isKept, "byteCount": "a sum", "lastSeq": isKept]
            ),
            (
                member,
                [
                    "connection": isKept, "role": "the ticket's", "encodedConnection": "of the connection",
                    "attachment": "the moment of the loss", "ticket": isKept, "answers": isKept,
                    "signalAllowance": isKept, "onlineOnlyAllowance": isKept,
                ]
            ),
            (
                member.ticket,
                [
                    "connectionId": isKept, "role": isKept, "data": isKept, "begin": isKept, "joined": isKept,
                    "secretHash": isKept, "previousSecretHash": isKept,
                ]
            ),
            (member.connection, ["connectionId": isKept, "creationTime": isKept, "data": isKept]),
            (
                member.answers,
                ["entries": isKept, "highest": isKept, "repeatedThrough": "`highest`, for whoever comes back"]
            ),
            (member.signalAllowance, ["fullAt": isKept]),
            (session.expiredTickets, ["limit": "the reader's own", "window": "the reader's own", "tickets": isKept]),
            (RetainedTickets.Entry(ticket: member.ticket, since: .seconds(0)), ["ticket": isKept, "since": isKept]),
            (
                try #require(session.log.entries.first),
                ["seq": "by place", "audience": isKept, "kind": isKept, "appendedAt": isKept, "line": isKept]
            ),
            (
                try #require(session.log.entries.last?.line),
                ["bytes": isKept, "senderOffset": isKept, "sender": isKept]
            ),
        ]
        for (value, fates) in made {
            let names = Mirror(reflecting: value).children.compactMap(\.label)
            #expect(Set(names) == Set(fates.keys), "\(type(of: value))")
        }
    }

    /// Ada joined at 0 and said something; she is resumable for 60 s and recoverable for 300 s.
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

    @Test("RES-15: the time to come back runs from the stop, the time between the processes included")
    func windowsRunFromTheStop() throws {
        for (downtime, wait, expected) in [
            (10.0, 49.9, "joined ada at 1 resumed through 2"), (10, 50.1, "joined ada2 at 1 recovered through 3"),
            (100, 0, "joined ada2 at 1 recovered through 3"), (250, 49, "joined ada2 at 1 recovered through 3"),
            (250, 51, "joined ada2 at 4 lost"),
        ] {
            var session = try kept(
                adaAlone(), stop: .seconds(0.5), start: .seconds(7), downtime: .seconds(downtime))
            #expect(comeBack(&session, at: 7 + wait) == expected, "\(downtime) s and \(wait) s")
        }
    }

    @Test("RES-15: whoever had lost their socket before the stop has as much less time after it")
    func lostBeforeTheStop() throws {
        for (wait, expected) in [
            (39.0, "joined ada at 1 resumed through 2"), (41, "joined ada2 at 1 recovered through 3"),
        ] {
            var old = adaAlone()
            var effects: [SessionEffect] = []
            _ = old.handle(.detach(SocketBinding("ada")), now: .seconds(100), effects: &effects)
            var session = try kept(old, stop: .seconds(120), start: .seconds(0))
            #expect(comeBack(&session, at: wait) == expected)
        }
    }

    @Test("RES-15: a wall clock that was set back gives the whole time and no more; one set forward ends it")
    func wallClockJumps() throws {
        var session = try kept(adaAlone(), stop: .seconds(10), start: .seconds(10), downtime: .seconds(-86_400 * 365))
        #expect(session.nextDeadline == .seconds(70))
        #expect(comeBack(&session, at: 69.9) == "joined ada at 1 resumed through 2")
        session = try kept(adaAlone(), stop: .seconds(10), start: .seconds(10), downtime: .seconds(86_400 * 365))
        #expect(comeBack(&session, at: 10) == "joined ada2 at 4 lost")
    }

    @Test("G4, RES-14: the reader's settings rule, and what they do not allow is told as a loss")
    func otherSettings() throws {
        var old = adaAlone()
        for _ in 0..<10 { old.signal(from: "ada", data: "more") }
        var session = try kept(old, stop: .seconds(0), start: .seconds(0), bounds: .init(logEventCount: 4))
        #expect(session.log.entries.count == 4 && session.log.lastSeq == Seq(12))
        #expect(session.log.byteCount == session.log.entries.reduce(0) { $0 + $1.line.byteCount })
        #expect(comeBack(&session, at: 1, after: 7) == "joined ada2 at 14 lost")
        session = try kept(old, stop: .seconds(0), start: .seconds(0), bounds: .init(logByteCount: 200))
        #expect(session.log.byteCount <= 200 && session.log.entries.count > 1)
        #expect(comeBack(&session, at: 1, after: session.log.reachesBackTo.rawValue).contains("resumed"))
        session = try kept(old, stop: .seconds(0), start: .seconds(0), bounds: .init(resumeWindow: .seconds(2)))
        #expect(session.nextDeadline == .seconds(2))
        #expect(comeBack(&session, at: 3, after: 7) == "joined ada2 at 7 recovered through 13")
        session = try kept(
            old, stop: .seconds(0), start: .seconds(0), bounds: .init(resumeWindow: .zero, recoveryWindow: .zero))
        #expect(comeBack(&session, at: 0, after: 7).hasSuffix("lost"))
        #expect(!session.roster.members.contains { $0.ticket.connectionId == client("ada") })
    }

    @Test("SIG-11: a restart is no way around a limit, and a limit that is no more does not bind")
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
        let same = try kept(old, stop: .seconds(0), start: .seconds(50))
        #expect(isRefused(same, at: 50.9))
        #expect(!isRefused(same, at: 51.1))
        var quiet = SessionState(
            id: room, epoch: Epoch("e"), bounds: .init(onlineOnlyRate: RateLimit(perSecond: 1, burst: 1)))
        quiet.join("ada")
        quiet.signal(from: "ada", isOnlineOnly: true)
        quiet = try kept(quiet, stop: .seconds(0), start: .seconds(50))
        #expect(comeBack(&quiet, at: 50).contains("resumed"))
        for (moment, expected) in [(50.9, "online-only dropped: tooOften"), (51.1, "online-only after 1: ")] {
            var effects: [SessionEffect] = []
            let sender = CommandSender.connection(SocketBinding("ada", 2), nil)
            _ = quiet.handle(
                .signal(sender, SignalRequest(isOnlineOnly: true)), now: .seconds(moment), effects: &effects)
            #expect(effects.first?.testDescription.hasPrefix(expected) == true, "\(effects.map(\.testDescription))")
        }
        let other = SessionState.Bounds(signalRate: RateLimit(perSecond: 10, burst: 10))
        #expect(isRefused(try kept(old, stop: .seconds(0), start: .seconds(50), bounds: other), at: 50))
        #expect(!isRefused(try kept(old, stop: .seconds(0), start: .seconds(50), bounds: other), at: 50.2))
    }

    @Test("RES-15: an engine goes on with its sessions, gives up who does not come back, and lets go of what is over")
    func engine() throws {
        let observer = PresenceNotes()
        let old = makeEngine("old")
        old.observer = observer
        old.join("ada", room)
        old.join("bob", SessionID("1_other"))
        let empty = SessionID("1_empty")
        old.join("eve", empty)
        old.submit(.leave(client("eve"), .clientDisconnected), to: empty, ticket: .nobodys)
        observer.heard = []
        let snapshots = old.snapshots(at: .seconds(30))
        #expect(snapshots.map(\.id) == [SessionID("1_other"), room], "nobody comes back to the empty one")

        let new = makeEngine("new")
        new.observer = observer
        new.restore(snapshots)
        #expect(new.sessionCount == 2)
        #expect(new.connections(of: room).map(\.connectionId) == [client("ada")])
        #expect(new.nextDeadline == .seconds(90))
        new.advance(to: .seconds(89))
        #expect(observer.heard.isEmpty, "they did not come and did not go")
        new.advance(to: .seconds(90))
        #expect(
            observer.heard.sorted() == [
                "1_other: connectionDestroyed bob networkDisconnected", "1_other: sessionDestroyed",
                "1_room: connectionDestroyed ada networkDisconnected", "1_room: sessionDestroyed",
            ])
        #expect(new.sessionCount == 2, "they may recover")
        new.advance(to: .seconds(331))
        #expect(new.sessionCount == 0)
        #expect(new.nextDeadline == nil)
    }

    @Test("G5: sessions of long ago are gone at once, and those who were in them are told as gone")
    func longAgo() throws {
        let observer = PresenceNotes()
        let old = makeEngine("old")
        old.join("ada", room)
        let text = stateText(old.snapshots(at: .seconds(0)), at: .seconds(0))
        let wallTime = WallTime(milliseconds: stateWallTime.milliseconds + 86_400_000)
        let new = makeEngine("new")
        new.observer = observer
        new.restore(try readState(text, now: .seconds(5), wallTime: wallTime))
        new.advance(to: .seconds(5))
        #expect(observer.heard.count == 2)
        #expect(new.sessionCount == 0)
    }

    private func makeEngine(_ epoch: String) -> MemoryEngine { MemoryEngine { Epoch(epoch) } }
}

extension CommandTicket {
    fileprivate static var nobodys: CommandTicket { CommandTicket(origin: 1, request: nil) }
}

extension MemoryEngine {
    fileprivate func join(_ name: String, _ session: SessionID) {
        submit(
            .join(
                JoinRequest(
                    connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 1))),
            to: session, ticket: .nobodys)
    }
}

private final class PresenceNotes: SessionEngineObserver {
    var heard: [String] = []
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {}
    func engine(sessionChanged session: SessionID) {}
    func engine(_ session: SessionID, caused effect: SessionEffect) {
        heard.append("\(session): \(effect.testDescription)")
    }
}
