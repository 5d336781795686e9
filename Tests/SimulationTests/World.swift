import HeapModule
import JSONText
import Logging
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingVerification
import TestSupport

/// Virtual time, randomness and the record of one run. The same seed gives the same run on every machine.
///
/// One event queue serves all clients and the server. The events of one moment are one turn of the server's loop.
final class World {
    private struct Event: Comparable {
        let at: MonotonicInstant
        let number: Int
        let run: () -> Void
        static func < (left: Event, right: Event) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    var random: SeededGenerator
    private(set) var now = MonotonicInstant(nanoseconds: 0)
    private var events = Heap<Event>()
    private var eventCount = 0
    /// The error of the wall clock, in milliseconds. A server that is restored after a jump misjudges how long it was
    /// away, so the judge of the wire no longer judges its windows.
    var clockError: Int64 = 0 { didSet { judge.terms.tolerance = .seconds(3_600) } }
    /// Sees every line that a server reads or writes.
    var judge = WireJudge(
        terms: WireJudge.Terms(
            resumeWindow: .zero, recoveryWindow: .zero, heartbeat: .zero, awayDelay: .zero, logEventCount: 0,
            logByteCount: 0,
            tolerance: .zero))

    /// Whether Redis has restarted, and may have forgotten something: then the session may lose its order once.
    var mayLoseOrder = false

    /// Whom somebody has asked to ban. Nothing is owed to them any more.
    var bannedUsers: Set<UserID> = []
    var bansGuests = false

    /// The newest secret that a client has, by its connection.
    var newestSecrets: [ConnectionID: ResumeSecretHash] = [:]

    private(set) var counts: [String: Int] = [:]
    private(set) var faults: [String] = []
    private(set) var trace: [String] = []
    private let isTraced: Bool
    /// Short names for connections, for the trace.
    private var connectionNames: [(id: String, name: String)] = []
    private var parser = JSONParser(limits: JSONLimits(depth: Limits.jsonDepth, byteCount: 1 << 20))
    private var decodings: [[UInt8]: ServerMessage] = [:]

    init(seed: UInt64, isTraced: Bool) {
        random = SeededGenerator(seed: seed)
        self.isTraced = isTraced
    }

    // MARK: - Time

    /// An arbitrary day.
    static let wallTimeAtStart = WallTime(milliseconds: 1_800_000_000_000)
    var wallTime: WallTime {
        WallTime(milliseconds: Self.wallTimeAtStart.milliseconds + now.nanoseconds / 1_000_000 + clockError)
    }

    /// Time passes in whole milliseconds, as in a state file.
    func schedule(at moment: MonotonicInstant, _ run: @escaping () -> Void) {
        eventCount += 1
        let milliseconds = (max(moment, now).nanoseconds + 999_999) / 1_000_000
        let moment = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
        events.insert(Event(at: moment, number: eventCount, run: run))
    }

    func schedule(after delay: Duration, _ run: @escaping () -> Void) { schedule(at: now.advanced(by: delay), run) }

    /// The most turns of one moment. A run without a fault has a few dozen, and a loop that spins has no end.
    private static let turnLimit = 5_000
    private var turnCount = 0

    /// Runs all events up to `end`, and `endTurn` after each turn. Ends early when time no longer advances.
    func run(until end: MonotonicInstant, endTurn: () -> Void) {
        // The world is used on the thread of its run.
        nonisolated(unsafe) let world = self
        Invariants.$onViolation.withValue({ world.fail($0) }) { runTurns(until: end, endTurn: endTurn) }
        now = max(now, end)
    }

    private func runTurns(until end: MonotonicInstant, endTurn: () -> Void) {
        while let first = events.min, first.at <= end {
            turnCount = first.at == now ? turnCount + 1 : 0
            if turnCount >= Self.turnLimit {
                if turnCount == Self.turnLimit { fail("G5: time stands still after \(turnCount) turns in one moment") }
                return
            }
            now = first.at
            // An event that is scheduled for now belongs to the next turn.
            let last = eventCount
            while let next = events.min, next.at == now, next.number <= last {
                events.removeMin()
                next.run()
            }
            endTurn()
        }
    }

    /// Releases everything that events hold.
    func removeAllEvents() { events = Heap() }

    // MARK: - Randomness

    /// True with a probability of 1 in `count`.
    func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }

    // MARK: - The record

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func note(_ line: @autoclosure () -> String) {
        if isTraced { trace.append("\(Double(now.nanoseconds / 1_000_000) / 1000) s: \(line())") }
    }

    func fail(_ fault: String) {
        note("FAULT \(fault)")
        // What does not hold once may not hold at the end of every later turn.
        if faults.contains(fault) { return }
        faults.append(fault)
    }

    func name(_ connection: ConnectionID, of client: String) {
        guard isTraced, !connectionNames.contains(where: { $0.id == connection.rawValue }) else { return }
        let number = connectionNames.count { $0.name.hasPrefix("\(client)#") } + 1
        connectionNames.append((connection.rawValue, "\(client)#\(number)"))
    }

    /// The text with short names for connections: `c1#2` is the second connection of client c1.
    func readable(_ text: String) -> String {
        connectionNames.reduce(text) { $0.replacing($1.id, with: $1.name) }
    }

    /// The message in a line. Lines that many clients get are decoded once.
    func decoded(_ line: [UInt8]) -> ServerMessage? {
        if let known = decodings[line] { return known }
        let message = try? line.withUnsafeBytes { try ServerMessage.decode(line: $0, parser: &parser) }
        decodings[line] = message
        return message
    }
}

extension World {
    /// Notes the lines of a log.
    var logger: Logger { Logger(label: "simulation") { [unowned self] _ in Handler(world: self) } }

    /// The world is used on the thread of its run.
    private struct Handler: LogHandler, @unchecked Sendable {
        unowned let world: World
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { world.note("log: \(event.message)") }
    }
}

extension World: SimulatedTime {
    func random(below count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
}

/// The world's randomness, for code that keeps its own generator.
struct WorldRandomness: RandomNumberGenerator {
    unowned let world: World
    mutating func next() -> UInt64 { world.random.next() }
}
