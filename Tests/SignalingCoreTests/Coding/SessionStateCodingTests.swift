import CoreTestSupport
import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session next to copies of it that were written and read at different moments.
private struct Replicas {
    struct Copy {
        var state: SessionState
        let since: UInt64
    }

    var history: RandomHistory
    var original: SessionState
    var copies: [Copy] = []
    var counts: [String: Int] = [:]

    init(seed: UInt64) {
        history = RandomHistory(seed: seed)
        original = history.session()
    }

    mutating func step() throws {
        let command = history.next(for: original)
        if case .session(let signal) = command, signal.isOnlineOnly { return try stepUnlogged(signal) }
        var effects: [SessionEffect] = []
        let outcome = carryOut(
            command, at: history.position, on: &original, now: history.now, effects: &effects)
        let bytes = original.encoded()
        let (expectedOutcome, expectedEffects) = (portrait(outcome as Any), portrait(effects))
        for index in copies.indices {
            var others: [SessionEffect] = []
            let other = carryOut(
                command, at: history.position, on: &copies[index].state, now: history.now, effects: &others)
            let context: Comment = "command \(history.number), copied after \(copies[index].since)"
            try #require(portrait(other as Any) == expectedOutcome, context)
            try #require(portrait(others) == expectedEffects, context)
            try #require(copies[index].state.encoded() == bytes, context)
            try #require(copies[index].state.nextDeadline == original.nextDeadline, context)
            try #require(copies[index].state.isNeeded == original.isNeeded, context)
        }
        count(command, outcome, effects)
        if history.chance(12) {
            let copy = try SessionState(decoding: bytes)
            try #require(portrait(copy) == portrait(original), "command \(history.number)")
            try #require(copy.encoded() == bytes)
            copies.append(Copy(state: copy, since: history.number))
            if copies.count > 2 { copies.removeFirst() }
        }
    }

    /// An online-only signal is in no log: only its sender's node carries it out.
    private mutating func stepUnlogged(_ signal: SessionCommand) throws {
        let bytes = original.encoded()
        var effects: [SessionEffect] = []
        let outcome = original.handleUnlogged(signal, now: history.now, effects: &effects)
        try #require(original.encoded() == bytes, "command \(history.number) changed what is kept")
        if let outcome, case .signalled(nil) = outcome { counts["online-only", default: 0] += 1 }
    }

    private mutating func count(_ command: LoggedCommand, _ outcome: SessionOutcome?, _ effects: [SessionEffect]) {
        func note(_ what: String) { counts[what, default: 0] += 1 }
        switch outcome {
        case .joined(let join):
            note("\(join.outcome)")
            if case .inPages = join.others { note("pages") }
            if join.absences?.ids.isEmpty == false { note("told absences") }
        case .refused(let error): note("refused \(error.code.number)")
        case .signalled(let seq?) where seq < original.log.lastSeq: note("answered from the book")
        case .moderated: note("moderated")
        case .restrictions: note("restrictions")
        case .announced: note("announced")
        case .changed: note("changed")
        case .reacted: note("reacted")
        case .erased: note("erased")
        case .marked, .reactors, .wasForceDisconnected, .superseded, .done, .signalled, .forceDisconnected, .refreshed,
            .unavailable, nil:
            note(outcome?.testDescription ?? "")
        }
        if case .nodeLost(let run, _) = command, !original.isEmpty { note(run == nil ? "all nodes lost" : "node lost") }
        for case .presence(.connectionDestroyed(_, .networkDisconnected)) in effects { note("expired") }
        if !original.log.absences.ids.isEmpty { note("away") }
        if !original.untold.isEmpty { note("untold") }
        if original.roster.list.blockCounts.count > 1 { note("several blocks") }
    }
}

@Suite("The state of a session in bytes")
struct SessionStateCodingTests {
    @Test("LOG-5, LOG-9: a copy that was read in the middle of a random history goes on as the original")
    func lockstep() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<30 as Range<UInt64> {
            var replicas = Replicas(seed: seed)
            do { for _ in 0..<200 { try replicas.step() } } catch {
                Issue.record(error, "seed \(seed), command \(replicas.history.number)")
                return
            }
            counts.merge(replicas.counts, uniquingKeysWith: +)
        }
        for what in [
            "new", "resumed", "recovered", "lost", "pages", "told absences", "was force-disconnected", "expired",
            "answered from the book", "force-disconnected", "refreshed", "node lost", "away", "untold",
            "several blocks", "all nodes lost", "online-only",
            "refused 400", "refused 403", "refused 404", "refused 429", "refused 1004", "refused 1015", "refused 1027",
            "refused 1520", "refused 1570", "moderated", "announced", "changed", "reacted", "erased",
            "refused 1500",
        ] { #expect((counts[what] ?? 0) > 0, "no seed covered: \(what)") }
    }

    @Test("a new session is read as it was written, whatever its name")
    func empty() throws {
        for session in [
            SessionState(id: room, epoch: Epoch("")), SessionState(id: SessionID(""), epoch: Epoch("é")),
        ] {
            let copy = try SessionState(decoding: session.encoded())
            #expect(portrait(copy) == portrait(session))
        }
    }

    /// The vector has commands as a log keeps them, with their times, and the state after the last. Each process orders
    /// its dictionaries and sets differently, so each run of this test is another process that replays the same log.
    @Test(
        "LOG-5, LOG-7: the kept logs of version 1 end with the kept states",
        arguments: try Vectors.cases("coding/logs.json"))
    func golden(_ one: VectorCase) throws {
        var session: SessionState?
        for (index, entry) in try #require(one["entries"]?.arrayValue).enumerated() {
            let parts = try #require(entry.arrayValue)
            try #require(parts.count == 3)
            let number = UInt64(index + 1)
            let run = RunID(UInt64(try #require(parts[1].integerValue)))
            let bytes = try #require(parts[2].stringValue.flatMap { Hexadecimal.decoded($0.utf8) })
            let position = LogPosition(number: number, id: CommandID(run: run, counter: number))
            let time = MonotonicInstant(nanoseconds: try #require(parts[0].integerValue))
            var effects: [SessionEffect] = []
            try LoggedCommand(decoding: bytes).carryOut(
                on: &session, as: CommandEntry(session: room, position: position, time: time, bytes: bytes),
                effects: &effects)
        }
        let state = try #require(session)
        let kept = try #require(one["state"]?.stringValue.flatMap { Hexadecimal.decoded($0.utf8) })
        #expect(Hexadecimal.text(state.encoded()) == Hexadecimal.text(kept))
        #expect(portrait(try SessionState(decoding: kept)) == portrait(state))
    }

    /// The states of random histories, each after its last command.
    private func states(_ seeds: Range<UInt64>, commandCount: Int) -> [(history: RandomHistory, state: SessionState)] {
        seeds.map { seed in
            var history = RandomHistory(seed: seed)
            var session = history.session()
            for _ in 0..<commandCount {
                let command = history.next(for: session)
                var effects: [SessionEffect] = []
                _ = carryOut(command, at: history.position, on: &session, now: history.now, effects: &effects)
            }
            return (history, session)
        }
    }

    @Test("a state that ends at any other place than its end is refused")
    func truncated() throws {
        for (_, state) in states(0..<3, commandCount: 40) {
            let bytes = state.encoded()
            for end in bytes.indices {
                #expect(throws: CodingFault.self) { try SessionState(decoding: Array(bytes[..<end])) }
            }
            #expect(throws: CodingFault.trailingBytes) { try SessionState(decoding: bytes + [0]) }
        }
    }

    @Test("another version is refused by its number")
    func otherVersion() {
        var bytes = SessionState(id: room, epoch: Epoch("e")).encoded()
        bytes[0] = 8
        #expect(throws: CodingFault.version(8)) { try SessionState(decoding: bytes) }
        #expect(throws: CodingFault.truncated) { try SessionState(decoding: []) }
    }

    /// A damaged state may read as another one. That one must take any command and can be written again.
    @Test("damaged bytes are refused, or are a state that carries out commands")
    func damaged() throws {
        var random = SeededGenerator(seed: 5)
        var counts: [String: Int] = [:]
        for (history, state) in states(10..<30, commandCount: 80) {
            let bytes = state.encoded()
            for _ in 0..<120 {
                var damaged = bytes
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    let index = Int.random(in: damaged.indices, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: damaged[index] = .random(in: 0 ... .max, using: &random)
                    case 1: damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case 2: damaged.remove(at: index)
                    default: damaged.insert(.random(in: 0...3, using: &random), at: index)
                    }
                }
                do throws(CodingFault) {
                    var read = try SessionState(decoding: damaged)
                    counts["read", default: 0] += 1
                    var history = history
                    for _ in 0..<10 {
                        let command = history.next(for: read)
                        var effects: [SessionEffect] = []
                        _ = carryOut(command, at: history.position, on: &read, now: history.now, effects: &effects)
                    }
                    _ = read.encoded()
                } catch {
                    counts["\(error)", default: 0] += 1
                }
            }
        }
        #expect((counts["read"] ?? 0) > 50)
        #expect((counts["\(CodingFault.truncated)"] ?? 0) > 50)
        #expect((counts["\(CodingFault.malformed)"] ?? 0) > 50)
    }

    @Test("states that contradict themselves are refused")
    func contradictions() throws {
        var twice = SessionState(id: room, epoch: Epoch("e"))
        twice.join("ada")
        twice.join("bob")
        let names = twice.encoded()
        // Bob's ticket with Ada's name.
        let bob = try #require(names.indices.last { names[$0...].starts(with: [3] + Array("bob".utf8)) })
        var bytes = names
        bytes.replaceSubrange(bob..<(bob + 4), with: [3] + Array("ada".utf8))
        #expect(throws: CodingFault.malformed) { try SessionState(decoding: bytes) }

        var session = twice
        var effects: [SessionEffect] = []
        _ = session.handle(.detach(SocketBinding("bob")), now: .seconds(0), effects: &effects)
        session.detachments = Detachments()
        let withoutLoss = session.encoded()
        #expect(throws: CodingFault.malformed, "a connection without a socket that never expires") {
            try SessionState(decoding: withoutLoss)
        }
        session = twice
        session.detachments.add(Detachments.Loss(connectionId: client("ada"), until: .seconds(9), token: nil))
        let attached = session.encoded()
        #expect(throws: CodingFault.malformed, "a connection with a socket that expires") {
            try SessionState(decoding: attached)
        }
    }
}

extension SessionCommand {
    fileprivate var isOnlineOnly: Bool {
        if case .signal(_, let request) = self { request.isOnlineOnly } else { false }
    }
}
