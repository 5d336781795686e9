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
    static let actionCount = 14
    private static let chunkSize = 20

    /// One server, or the number of nodes that a seed asks for.
    enum Servers { case one, several }

    static func scenario(_ seed: UInt64, _ servers: Servers, isTraced: Bool = false) -> Scenario {
        Scenario(seed: seed, nodeCount: servers == .one ? 1 : 2 + Int(seed % 2), isTraced: isTraced)
    }
    /// A run stops early when this many seeds have failed.
    private static let failureLimit = 3

    @Test("G1, G2, G3, G4, G5, G6, G7, G8: the promises hold for any faults of the network and the server")
    func promises() async throws {
        await judge(.ofOneServer, .one, mustReach: Self.situations)
    }

    @Test("G1, G2, G3, G4, G5, G6, G7, G8: the promises hold on nodes that crash, freeze, stop and lose sessions")
    func promisesOfNodes() async throws {
        await judge(.ofNodes, .several, mustReach: Self.nodeSituations)
    }

    private func judge(_ plan: SeedPlan, _ servers: Servers, mustReach situations: [String]) async {
        guard let reached = await run(plan.seeds, servers) else { return }
        if plan.isChosen { print(reached.table) }
        guard plan.hasFixedSeeds else { return }
        for situation in situations where reached.counts[situation] == nil {
            Issue.record("no run had: \(situation). Find a seed with scripts/simulate, and add it to SeedPlan.swift")
        }
    }

    /// - Returns: the situations of the runs; nil if a run had a fault.
    private func run(_ seeds: [UInt64], _ servers: Servers) async -> Situations? {
        let failed = FailedSeeds()
        let watchdog = Watchdog()
        let reached = await withTaskGroup(of: Situations.self) { group in
            for start in stride(from: 0, to: seeds.count, by: Self.chunkSize) {
                let chunk = seeds[start..<min(start + Self.chunkSize, seeds.count)]
                group.addTask { Self.run(chunk, servers, failed, watchdog) }
            }
            return await group.reduce(into: Situations()) { $0.merge($1) }
        }
        for seed in failed.seeds.withLock({ $0 }).sorted() {
            let scenario = Self.scenario(seed, servers, isTraced: true)
            let faults = watchdog.watch(seed) { scenario.run(actionCount: Self.actionCount) }.joined(separator: "\n")
            let trace = scenario.world.readable(scenario.world.trace.joined(separator: "\n"))
            Issue.record("seed \(seed):\n\(faults)\n\(trace)")
        }
        return failed.seeds.withLock { $0.isEmpty } ? reached : nil
    }

    private static func run(
        _ seeds: ArraySlice<UInt64>, _ servers: Servers, _ failed: FailedSeeds, _ watchdog: Watchdog
    ) -> Situations {
        var reached = Situations()
        for seed in seeds where failed.seeds.withLock({ $0.count }) < failureLimit {
            let scenario = Self.scenario(seed, servers)
            let faults = watchdog.watch(seed) { scenario.run(actionCount: actionCount) }
            if !faults.isEmpty { failed.seeds.withLock { $0.append(seed) } }
            reached.note(scenario.world.counts, of: seed)
        }
        return reached
    }

    /// Those of several nodes.
    static let nodeSituations = [
        "new", "resumed", "recovered", "lost", "replayed", "acknowledged", "online-only", "by REST", "superseded",
        "node crash", "node freeze", "node drain", "session lost", "closed 1001", "declared lost alive",
        "Redis restart", "Redis forgets", "links broken", "witness", "edit acknowledged", "list of changes",
        "reactions told", "marker told",
    ]

    /// The situations that the fixed seeds must reach, so that a run is significant.
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
        "ban", "told of a ban", "refused by a mute", "end of a mute", "refused by a freeze", "end of a freeze",
        "moderated by REST", "user left", "lost after a restart",
        "edit acknowledged", "edit refused 403", "edit refused 404", "erasure acknowledged", "erasure refused 403",
        "erasure refused 404", "edit told", "archived an edit", "list of changes", "all changed",
        "reaction acknowledged", "reaction refused 403", "reactions told", "own reactions told", "marker acknowledged",
        "marker told",
    ]
}
