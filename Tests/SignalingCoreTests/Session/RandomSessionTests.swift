import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A naive model of `docs/PROTOCOL.md`: it writes every event in full for every member, without a log, cursors or
/// shared bytes. It encodes each line separately, without ``EncodedLine``'s insertion.
private struct Model {
    struct Member {
        let connection: Connection
        let role: Role
        let suppressesPresence: Bool
        /// The events and answers that it must get, in order.
        var lines: [String] = []
        /// How many of the lines are events of the session.
        var eventCount = 0
        /// The online-only signals that it must get, each with the number of events before it.
        var onlineOnly: [(line: String, eventsBefore: Int)] = []
    }

    /// An online-only signal that has not been flushed.
    struct Waiting {
        let event: SignalEvent
        /// For each receiver: the number of events before the signal.
        var eventsBefore: [ConnectionID: Int]
        let after: Int64
    }

    var members: [Member] = []
    var lastSeq: Int64 = 0
    var lastCreationTime = Int64.min
    var waiting: [Waiting] = []

    func index(of name: ConnectionID) -> Int? { members.firstIndex { $0.connection.connectionId == name } }

    mutating func tellEverybody(_ line: (Member) -> ServerMessage?) {
        for index in members.indices {
            guard let message = line(members[index]) else { continue }
            members[index].lines.append(text(message.encoded()))
            members[index].eventCount += 1
        }
    }

    mutating func join(_ request: JoinRequest) -> [Connection] {
        lastSeq += 1
        lastCreationTime = max(request.wallTime.milliseconds, lastCreationTime == .min ? .min : lastCreationTime + 1)
        let connection = Connection(
            connectionId: request.connectionId, creationTime: WallTime(milliseconds: lastCreationTime),
            data: request.data)
        let seq = Seq(lastSeq)
        tellEverybody { $0.suppressesPresence ? nil : .connectionCreated(seq, connection) }
        members.append(
            Member(connection: connection, role: request.role, suppressesPresence: request.suppressesPresence))
        return request.suppressesPresence ? [connection] : members.map(\.connection)
    }

    mutating func leave(_ name: ConnectionID, _ reason: DisconnectReason) -> Member? {
        guard let index = index(of: name) else { return nil }
        let member = members.remove(at: index)
        lastSeq += 1
        let seq = Seq(lastSeq)
        tellEverybody { $0.suppressesPresence ? nil : .connectionDestroyed(seq, name, reason) }
        return member
    }

    /// The code of the refusal; `nil` when the signal is accepted.
    mutating func signal(from name: ConnectionID?, _ request: SignalRequest) -> Int? {
        let sender = name.flatMap { name in members.first { $0.connection.connectionId == name } }
        if name != nil, sender == nil { return 500 }
        if sender?.role == .publisherOnly { return 403 }
        if (request.data ?? "").utf16.count > 8192 { return 413 }
        if let to = request.to, index(of: to) == nil { return 404 }
        if members.isEmpty { return 404 }
        var event = SignalEvent(
            seq: nil, from: name, type: request.type, data: request.data, isJSON: request.isJSON, to: request.to)
        func receives(_ member: Member) -> Bool { event.to == nil || event.to == member.connection.connectionId }
        if request.isOnlineOnly {
            waiting.removeAll {
                $0.event.from == event.from && $0.event.type == event.type && $0.event.to == event.to
            }
            let counts = members.filter(receives).map { ($0.connection.connectionId, $0.eventCount) }
            waiting.append(
                Waiting(event: event, eventsBefore: Dictionary(uniqueKeysWithValues: counts), after: lastSeq))
            return nil
        }
        lastSeq += 1
        event.seq = Seq(lastSeq)
        tellEverybody { member in
            guard receives(member) else { return nil }
            var event = event
            event.sender = member.suppressesPresence ? sender?.connection : nil
            return .signal(event)
        }
        return nil
    }

    mutating func answer(_ name: ConnectionID, _ message: ServerMessage) {
        if let index = index(of: name) { members[index].lines.append(text(message.encoded())) }
    }

    /// Delivers the pending online-only signals to members that are not behind. The others never get them.
    mutating func flush(except behind: Set<ConnectionID>) {
        for signal in waiting {
            for (name, count) in signal.eventsBefore {
                guard !behind.contains(name), let index = index(of: name) else { continue }
                var event = signal.event
                if members[index].suppressesPresence, let from = event.from { event.sender = connections[from] }
                members[index].onlineOnly.append((text(ServerMessage.signal(event).encoded()), count))
            }
        }
        waiting = []
    }

    /// A member that caught up outside of a flush is past the online-only signals before the last event.
    mutating func servedOutOfTurn(_ name: ConnectionID) {
        for index in waiting.indices where waiting[index].after < lastSeq { waiting[index].eventsBefore[name] = nil }
    }

    /// All connections that ever joined: a signal's sender may have left before the flush.
    var connections: [ConnectionID: Connection] = [:]
}

/// A session with its members' outboxes, as a server has them, next to the model.
private struct Simulation {
    struct Member {
        var outbox: Outbox
        var isBehind = false
        var received: [String] = []
        var nextRequest: Int64 = 1
    }

    var random: SeededGenerator
    var session: SessionState
    var model = Model()
    var members: [ConnectionID: Member] = [:]
    var pendingOnlineOnly = PendingOnlineOnly()
    var flushedTo = Seq.zero
    var nextName = 0
    var invariantPace = InvariantPace()
    /// How often each case has occurred, so that a test can check that it covered every case.
    var counts: [String: Int] = [:]

    init(seed: UInt64, bounds: SessionLog.Bounds) {
        random = SeededGenerator(seed: seed)
        session = SessionState(
            connectionCount: 12, logEventCount: bounds.eventCount, logByteCount: bounds.byteCount)
    }

    var names: [ConnectionID] { session.connections.map(\.connectionId) }

    mutating func count(_ what: String) { counts[what, default: 0] += 1 }
    mutating func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8: try join()
        case 8..<13: try leave()
        case 13..<15: try forceDisconnect()
        case 15..<65: try signal()
        case 65..<70: fallBehind()
        case 70..<78: try drain()
        default: try flush()
        }
        try checkInvariants()
    }

    mutating func join() throws {
        let request = JoinRequest(
            connectionId: client("c\(nextName)"), role: Role.allCases.randomElement(using: &random) ?? .publisher,
            data: ["", "name=é\"\n"].randomElement(using: &random) ?? "", suppressesPresence: chance(3),
            wallTime: WallTime(milliseconds: Int64.random(in: 0..<500, using: &random)))
        nextName += 1
        let isFull = model.members.count == 12
        switch session.handle(.join(request)) {
        case .joined(let join):
            try #require(!isFull)
            let expected = model.join(request)
            model.connections[request.connectionId] = expected.last
            try #require(join.connections == expected)
            try #require(join.seq == Seq(model.lastSeq))
            members[request.connectionId] = Member(
                outbox: Outbox(
                    owner: request.connectionId, suppressesPresence: request.suppressesPresence,
                    cursor: join.seq))
            count("join")
        case .refused(let error):
            try #require(isFull && error.code == .connectionLimitExceeded)
            count("full")
        case .wasForceDisconnected, .superseded, .done, .signalled, .forceDisconnected, .changed, .erased,
            .reacted, .marked, .reactors, .moderated, .announced, .restrictions, .refreshed, .unavailable:
            Issue.record("a join got another kind of answer")
        }
    }

    mutating func leave() throws {
        guard let name = names.randomElement(using: &random) else { return }
        try leave(name, DisconnectReason.allCases.randomElement(using: &random) ?? .clientDisconnected)
    }

    mutating func leave(_ name: ConnectionID, _ reason: DisconnectReason) throws {
        _ = session.handle(.leave(name, reason))
        try drainLeaver(name, reason)
    }

    /// A connection that has left gets its missing events and nothing else; not its own `connectionDestroyed`.
    mutating func drainLeaver(_ name: ConnectionID, _ reason: DisconnectReason) throws {
        let left = model.leave(name, reason)
        let removed = members.removeValue(forKey: name)
        let expected = try #require(left)
        var member = try #require(removed)
        var bytes: [UInt8] = []
        let cursor = member.outbox.cursor
        switch member.outbox.dequeue(from: session.log, onlineOnly: [], byteLimit: .max, into: &bytes) {
        case .complete:
            member.received += lines(bytes)
            try check(member, against: expected, isComplete: true)
            count("left with everything")
        case .partial: Issue.record("there is no limit here")
        case .overrun:
            try #require(cursor < session.log.reachesBackTo)
            try #require(bytes.isEmpty)
            try check(member, against: expected, isComplete: false)
            count("left behind")
        }
    }

    mutating func forceDisconnect() throws {
        guard let target = names.randomElement(using: &random) else { return }
        let sender = chance(4) ? nil : names.randomElement(using: &random)
        let maySend =
            sender == nil
            || model.members.contains {
                $0.connection.connectionId == sender && $0.role == .moderator
            }
        var effects: [SessionEffect] = []
        let outcome = session.handle(
            .forceDisconnect(sender.map { .connection($0) } ?? .server, target), now: .seconds(0), effects: &effects)
        try #require(outcome.testDescription == (maySend ? "force-disconnected" : "refused 1520 OT_PERMISSION_DENIED"))
        let expected =
            ["connectionDestroyed \(target) forceDisconnected"] + (session.isEmpty ? ["sessionDestroyed"] : [])
            + ["ended \(target) forceDisconnected"]
        try #require(effects.map(\.testDescription) == (maySend ? expected : []))
        if maySend {
            try drainLeaver(target, .forceDisconnected)
            count("force-disconnected")
        }
    }

    mutating func signal() throws {
        let sender = chance(10) ? nil : names.randomElement(using: &random)
        let request = SignalRequest(
            type: ["chat", "typing", nil].randomElement(using: &random) ?? nil,
            data: chance(50)
                ? String(repeating: "€", count: 8193)
                : String(repeating: "x\"é", count: Int.random(in: 0..<30, using: &random)),
            to: chance(3) ? (chance(8) ? client("nobody") : names.randomElement(using: &random)) : nil,
            isOnlineOnly: chance(4), isJSON: chance(8))
        let refusal = model.signal(from: sender, request)
        var effects: [SessionEffect] = []
        let outcome = session.handle(
            .signal(sender.map { .connection($0) } ?? .server, request), now: .seconds(0), effects: &effects)
        let answer: (ServerMessage, Seq)
        let requestID = RequestID(sender.flatMap { members[$0]?.nextRequest } ?? 0)
        switch outcome {
        case .signalled(let seq):
            try #require(refusal == nil)
            try #require(seq == (request.isOnlineOnly ? nil : Seq(model.lastSeq)))
            answer = (.ack(requestID, seq), seq ?? session.log.lastSeq)
            count(request.isOnlineOnly ? "online-only" : request.to == nil ? "broadcast" : "directed")
        case .refused(let error):
            try #require(error.code.number == refusal)
            try #require(effects.isEmpty)
            answer = (.error(requestID, error), session.log.lastSeq)
            count("refused \(error.code.number)")
        case .joined, .wasForceDisconnected, .superseded, .done, .forceDisconnected, .changed, .erased, .moderated,
            .reacted, .marked, .reactors, .announced, .restrictions, .refreshed, .unavailable:
            Issue.record("a signal got another kind of answer")
            return
        }
        for effect in effects {
            guard case .onlineOnly(let signal) = effect else { continue }
            pendingOnlineOnly.append(signal)
        }
        if let sender {
            members[sender]?.nextRequest += 1
            members[sender]?.outbox.append(EncodedLine(answer.0), after: answer.1)
            model.answer(sender, answer.0)
        }
    }

    mutating func fallBehind() {
        guard let name = names.randomElement(using: &random) else { return }
        members[name]?.isBehind = true
        count("fell behind")
    }

    /// The socket of a member that is behind accepts bytes again.
    mutating func drain() throws {
        guard let name = names.filter({ members[$0]?.isBehind == true }).randomElement(using: &random),
            var member = members[name]
        else { return }
        var bytes: [UInt8] = []
        let cursor = member.outbox.cursor
        let progress = member.outbox.dequeue(
            from: session.log, onlineOnly: [], byteLimit: Int.random(in: 1..<2_000, using: &random), into: &bytes)
        member.received += lines(bytes)
        try #require((progress == .overrun) == (cursor < session.log.reachesBackTo))
        members[name] = member
        switch progress {
        case .complete:
            members[name]?.isBehind = false
            model.servedOutOfTurn(name)
            count("caught up")
        case .partial: count("caught up in part")
        case .overrun:
            count("overrun")
            try leave(name, .networkDisconnected)
        }
    }

    /// Sends everything to the members that are not behind: by a shared batch where possible, and alone to compare.
    mutating func flush() throws {
        var batch = SharedBatch(log: session.log, after: flushedTo, onlineOnly: pendingOnlineOnly.signals)
        for name in names {
            guard var member = members[name], !member.isBehind else { continue }
            var alone: [UInt8] = []
            var outbox = member.outbox
            let progress = outbox.dequeue(
                from: session.log, onlineOnly: pendingOnlineOnly.signals, byteLimit: .max, into: &alone)
            if progress == .overrun {
                let shared = batch.bytes(for: &member.outbox, log: session.log)
                try #require(shared == nil)
                count("overrun in a flush")
                members[name]?.isBehind = true
                continue
            }
            if let shared = batch.bytes(for: &member.outbox, log: session.log) {
                try #require(text(shared) == text(alone), "the shared batch has the same bytes")
                try #require(member.outbox.cursor == outbox.cursor)
                try #require(!outbox.hasPrivateLines)
                count("got a shared batch")
            } else {
                member.outbox = outbox
                count("got bytes of its own")
            }
            try #require(member.outbox.cursor == session.log.lastSeq)
            member.received += lines(alone)
            members[name] = member
        }
        model.flush(except: Set(members.filter(\.value.isBehind).keys))
        pendingOnlineOnly.removeAll()
        flushedTo = session.log.lastSeq
        count("flush")
    }

    mutating func finish() throws {
        while let name = names.first { try leave(name, .clientDisconnected) }
        try #require(session.isEmpty)
    }

    /// The member received what the model expects, or a prefix of it.
    func check(_ member: Member, against expected: Model.Member, isComplete: Bool) throws {
        var sequenced: [String] = []
        var onlineOnly: [(line: String, eventsBefore: Int)] = []
        var eventCount = 0
        var lastSeq = Int64.min
        for line in member.received {
            switch try #require(try decoded(line)) {
            case .signal(let event) where event.seq == nil:
                onlineOnly.append((line, eventCount))
                continue
            case .signal(let event):
                try #require((event.seq?.rawValue ?? .min) > lastSeq, "G1, G3")
                lastSeq = event.seq?.rawValue ?? lastSeq
                eventCount += 1
            case .connectionCreated(let seq, _), .connectionDestroyed(let seq, _, _):
                try #require(seq.rawValue > lastSeq, "G1, G3")
                lastSeq = seq.rawValue
                eventCount += 1
            case .ack(_, let seq): if let seq { try #require(seq.rawValue >= lastSeq, "SIG-6") }
            case .error: break
            case .connected, .connections, .history, .change, .reactions, .reacted, .reactors, .read, .erased,
                .connectionAway, .connectionBack, .moderated,
                .restricted, .unrestricted, .restrictions, .disconnected, .ping:
                Issue.record("unexpected line \(line)")
            }
            sequenced.append(line)
        }
        if isComplete {
            try #require(sequenced == expected.lines)
        } else {
            try #require(sequenced == Array(expected.lines.prefix(sequenced.count)))
        }
        try #require(onlineOnly.map(\.line) == expected.onlineOnly.map(\.line), "G6")
        try #require(onlineOnly.map(\.eventsBefore) == expected.onlineOnly.map(\.eventsBefore), "SIG-10")
    }

    mutating func checkInvariants() throws {
        try #require(session.log.lastSeq == Seq(model.lastSeq))
        try #require(session.connections == model.members.map(\.connection))
        try #require(pendingOnlineOnly.violation == nil)
        for member in members.values {
            try #require(member.outbox.violation(in: session.log.end, absences: session.log.absences.version) == nil)
        }
        guard invariantPace.isDue(itemCount: session.itemCount, countPerTurn: 64) else { return }
        try #require(session.violation == nil)
    }
}

@Suite("A session under thousands of random steps, against a model")
struct RandomSessionTests {
    @Test(
        "G1, G3, G6: each member gets its events once and in order, by a shared batch or alone, at once or late",
        arguments: 101...104 as ClosedRange<UInt64>)
    func longLog(seed: UInt64) throws {
        var simulation = Simulation(seed: seed, bounds: .init(eventCount: 100_000, byteCount: .max))
        try run(&simulation, seed)
        #expect(simulation.counts["overrun"] == nil && simulation.counts["left behind"] == nil, "seed \(seed)")
    }

    @Test(
        "G4, G5: members that overrun a short log are notified, and have received an unbroken prefix",
        arguments: 201...204 as ClosedRange<UInt64>)
    func shortLog(seed: UInt64) throws {
        var simulation = Simulation(seed: seed, bounds: .init(eventCount: 20, byteCount: 2_000))
        try run(&simulation, seed)
        #expect((simulation.counts["overrun"] ?? 0) > 0, "seed \(seed): \(simulation.counts)")
    }

    private func run(_ simulation: inout Simulation, _ seed: UInt64) throws {
        for step in 0..<2_000 {
            do { try simulation.step() } catch {
                Issue.record(error, "seed \(seed), step \(step)")
                return
            }
        }
        try simulation.finish()
        for what in [
            "join", "full", "left with everything", "force-disconnected", "broadcast", "directed", "online-only",
            "refused 403",
            "refused 404", "refused 413", "caught up", "caught up in part", "got a shared batch",
            "got bytes of its own",
        ] {
            #expect((simulation.counts[what] ?? 0) > 0, "seed \(seed) never covered: \(what)")
        }
    }
}
