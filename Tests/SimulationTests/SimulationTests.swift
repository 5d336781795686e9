import Foundation
import Synchronization
import Testing

private final class FailedSeeds: Sendable {
    let seeds = Mutex<[UInt64]>([])
}

@Suite("the whole system in made-up time, over a network that fails")
struct WholeSystemTests {
    /// `SIGNALBOX_SEEDS=first-last` runs others; scripts/test runs 20,000, by themselves: they leave no time to others.
    static var seeds: ClosedRange<UInt64> {
        let parts =
            ProcessInfo.processInfo.environment["SIGNALBOX_SEEDS"]?.split(separator: "-").compactMap { UInt64($0) }
            ?? []
        return parts.count == 2 ? parts[0]...parts[1] : 1...1_000
    }

    static let actionCount = 12

    @Test("G1, G2, G3, G4, G5, G6, G7, G8: whatever the network and the server do, the promises hold")
    func promises() async throws {
        let seeds = Self.seeds
        let chunks = stride(from: seeds.lowerBound, through: seeds.upperBound, by: 250).map {
            $0...min($0 + 249, seeds.upperBound)
        }
        let failed = FailedSeeds()
        let counts = await withTaskGroup(of: [String: Int].self) { group in
            for chunk in chunks {
                group.addTask {
                    var counts: [String: Int] = [:]
                    for seed in chunk where failed.seeds.withLock({ $0.count }) < 3 {
                        let world = World(seed: seed)
                        if !world.run(actionCount: Self.actionCount).isEmpty {
                            failed.seeds.withLock { $0.append(seed) }
                        }
                        counts.merge(world.counts, uniquingKeysWith: +)
                    }
                    return counts
                }
            }
            var counts: [String: Int] = [:]
            for await more in group { counts.merge(more, uniquingKeysWith: +) }
            return counts
        }
        for seed in failed.seeds.withLock({ $0 }).sorted() {
            let world = World(seed: seed, isTraced: true)
            let faults = world.run(actionCount: Self.actionCount)
            Issue.record("seed \(seed):\n\(faults.joined(separator: "\n"))\n\(world.script.joined(separator: "\n"))")
        }
        if ProcessInfo.processInfo.environment["SIGNALBOX_SEEDS"] != nil {
            print(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        // Some of it is rare.
        guard failed.seeds.withLock({ $0.isEmpty }), seeds.count >= 10_000 else { return }
        for what in Self.interesting { #expect((counts[what] ?? 0) > 0, "nothing was about: \(what)") }
    }

    static let interesting = [
        "new", "resumed", "recovered", "lost", "replayed", "given up", "answered from memory", "acknowledged",
        "refused",
        "unknown fate", "online-only", "directed", "by REST", "superseded", "forced out", "left", "restart", "kept",
        "restored", "resumed after a restart", "recovered after a restart", "stall",
        "backlogged", "in parts", "served together", "silence", "slow way", "closed 4001", "closed 4002", "closed 4500",
        "closed 4501", "closed 4502", "closed 4504", "cut both", "cut silent", "cut silentUp", "cut silentDown",
        "cut clientOnly", "cut serverOnly",
    ]
}
