import Foundation
import Synchronization
import Testing

/// The seeds whose runs have faults. Chunks of seeds run side by side.
private final class FailedSeeds: Sendable {
    let seeds = Mutex<[UInt64]>([])
}

/// Ends the program when a seed does not end, and names the seed: an endless loop within one event stops virtual time
/// for good, so the run itself cannot report it.
private final class Watchdog: Sendable {
    /// A run takes a few milliseconds; this suits any busy machine.
    private static let patience = Duration.seconds(120)
    private let startedAt = Mutex<[UInt64: ContinuousClock.Instant]>([:])

    func watch<Result>(_ seed: UInt64, _ run: () -> Result) -> Result {
        startedAt.withLock { $0[seed] = .now }
        defer { startedAt.withLock { $0[seed] = nil } }
        return run()
    }

    init() {
        Thread.detachNewThread { [weak self] in
            while let running = self?.startedAt.withLock({ $0 }) {
                if let hung = running.first(where: { $0.value.duration(to: .now) > Self.patience }) {
                    FileHandle.standardError.write(Data("↳ seed \(hung.key):\n  the run does not end\n".utf8))
                    exit(1)
                }
                Thread.sleep(forTimeInterval: 1)
            }
        }
    }
}

@Suite("the whole system in virtual time, over a network that fails")
struct WholeSystemTests {
    /// `SIGNALBOX_SEEDS=first-last` chooses others, and `SIGNALBOX_NODE_SEEDS` those of several nodes. scripts/test runs
    /// these tests alone, since they leave no processor time to other tests.
    static var seeds: ClosedRange<UInt64> { range("SIGNALBOX_SEEDS") ?? 1...1_000 }

    private static func range(_ variable: String) -> ClosedRange<UInt64>? {
        let parts =
            ProcessInfo.processInfo.environment[variable]?.split(separator: "-").compactMap { UInt64($0) } ?? []
        return parts.count == 2 ? parts[0]...parts[1] : nil
    }

    static let actionCount = 14
    private static let chunkSize: UInt64 = 250

    /// One server, or the number of nodes that a seed asks for.
    enum Servers { case one, several }

    static func scenario(_ seed: UInt64, _ servers: Servers, isTraced: Bool = false) -> Scenario {
        Scenario(seed: seed, nodeCount: servers == .one ? 1 : 2 + Int(seed % 2), isTraced: isTraced)
    }
    /// A run stops early when this many seeds have failed.
    private static let failureLimit = 3

    @Test("G1, G2, G3, G4, G5, G6, G7, G8: the promises hold for any faults of the network and the server")
    func promises() async throws {
        let counts = await run(Self.seeds, .one)
        // Some situations are rare.
        guard let counts, Self.seeds.count >= 4_000 else { return }
        for situation in Self.situations { #expect((counts[situation] ?? 0) > 0, "no run had: \(situation)") }
    }

    @Test("G1, G2, G3, G4, G5, G6, G7, G8: the promises hold on nodes that crash, freeze, stop and lose sessions")
    func promisesOfNodes() async throws {
        let seeds = Self.range("SIGNALBOX_NODE_SEEDS") ?? Self.seeds
        let counts = await run(seeds, .several)
        guard let counts, seeds.count >= 1_000 else { return }
        for situation in Self.nodeSituations { #expect((counts[situation] ?? 0) > 0, "no run had: \(situation)") }
    }

    /// - Returns: how often each situation came up; nil if a run had a fault.
    private func run(_ seeds: ClosedRange<UInt64>, _ servers: Servers) async -> [String: Int]? {
        let chunks = stride(from: seeds.lowerBound, through: seeds.upperBound, by: Int(Self.chunkSize)).map {
            $0...min($0 + Self.chunkSize - 1, seeds.upperBound)
        }
        let failed = FailedSeeds()
        let watchdog = Watchdog()
        let counts = await withTaskGroup(of: [String: Int].self) { group in
            for chunk in chunks { group.addTask { Self.run(chunk, servers, failed, watchdog) } }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        for seed in failed.seeds.withLock({ $0 }).sorted() {
            let scenario = Self.scenario(seed, servers, isTraced: true)
            let faults = watchdog.watch(seed) { scenario.run(actionCount: Self.actionCount) }.joined(separator: "\n")
            let trace = scenario.world.readable(scenario.world.trace.joined(separator: "\n"))
            Issue.record("seed \(seed):\n\(faults)\n\(trace)")
        }
        if ProcessInfo.processInfo.environment["SIGNALBOX_SEEDS"] != nil {
            print(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        return failed.seeds.withLock { $0.isEmpty } ? counts : nil
    }

    /// - Returns: how often each situation came up.
    private static func run(
        _ seeds: ClosedRange<UInt64>, _ servers: Servers, _ failed: FailedSeeds, _ watchdog: Watchdog
    ) -> [String: Int] {
        var counts: [String: Int] = [:]
        for seed in seeds where failed.seeds.withLock({ $0.count }) < failureLimit {
            let scenario = Self.scenario(seed, servers)
            let faults = watchdog.watch(seed) { scenario.run(actionCount: actionCount) }
            if !faults.isEmpty { failed.seeds.withLock { $0.append(seed) } }
            counts.merge(scenario.world.counts, uniquingKeysWith: +)
        }
        return counts
    }

    /// Those of several nodes.
    static let nodeSituations = [
        "new", "resumed", "recovered", "lost", "replayed", "acknowledged", "online-only", "by REST", "superseded",
        "node crash", "node freeze", "node drain", "session lost", "closed 1001", "declared lost alive",
        "Redis restart", "Redis forgets", "links broken", "witness",
    ]

    /// The situations that a long run must reach, so that it is significant.
    static let situations = [
        "new", "resumed", "recovered", "lost", "missing", "replayed", "expired", "answered from memory", "acknowledged",
        "refused", "unknown fate", "online-only", "directed", "by REST", "superseded", "force-disconnected", "left",
        "restart", "kept", "restored", "resumed after a restart", "recovered after a restart", "stall", "backlogged",
        "client backlogged", "reading stopped", "farewell", "in parts", "served together", "silence", "slow way",
        "list in pages", "message in parts", "away", "back", "drain", "hurried drain", "served while draining",
        "expiring token",
        "closed 1000", "closed 1001", "closed 4001", "closed 4002", "closed 4003", "closed 4004", "closed 4501",
        "closed 4502", "late connect", "arrived late", "superseded on the newest socket", "cut both", "cut late",
        "cut silent", "cut silentUp", "cut silentDown", "cut clientOnly", "cut serverOnly",
        "long session", "history", "empty history", "page", "archived", "archive failed", "all left",
    ]
}
