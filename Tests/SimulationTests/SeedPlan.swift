import Foundation

/// The seeds of a run: fixed ones, which reach each rare situation, and others, which differ from commit to commit.
///
/// `SIGNALBOX_SEEDS` and `SIGNALBOX_NODE_SEEDS` choose them: `fixed`, a range such as `1-200`, or several of these with
/// commas between them. The default is `fixed`.
struct SeedPlan {
    let seeds: [UInt64]
    let hasFixedSeeds: Bool
    /// Whether the environment has chosen the seeds. Then the run prints the situations that it reached.
    let isChosen: Bool

    static var ofOneServer: Self { .init("SIGNALBOX_SEEDS", fixed: fixed(100, with: rare)) }
    static var ofNodes: Self { .init("SIGNALBOX_NODE_SEEDS", fixed: fixed(30, with: rareOfNodes)) }

    private init(_ variable: String, fixed: [UInt64]) {
        let chosen = ProcessInfo.processInfo.environment[variable]
        let parts = (chosen ?? "fixed").split(separator: ",")
        isChosen = chosen != nil
        hasFixedSeeds = parts.contains("fixed")
        seeds = parts.flatMap { part in
            if part == "fixed" { return fixed }
            let bounds = part.split(separator: "-").compactMap { UInt64($0) }
            precondition(
                bounds.count == 2 && bounds[0] <= bounds[1], "\(variable): \(part) is neither `fixed` nor a range")
            return Array(bounds[0]...bounds[1])
        }
    }

    /// The seeds of the table, and the first ones that are not in it.
    private static func fixed(_ count: Int, with table: KeyValuePairs<String, UInt64>) -> [UInt64] {
        let special = Set(table.map(\.value))
        return Array((special.sorted() + (1...UInt64(count)).filter { !special.contains($0) }).prefix(count))
    }

    // MARK: - Rare situations

    // A situation of `WholeSystemTests` that the first seeds do not reach, and a seed that does. A change of the rules or
    // of the simulation may move it to another seed. Then the run names the situation, and `scripts/simulate 1-4000`
    // prints a seed for each.

    private static let rare: KeyValuePairs<String, UInt64> = [
        "farewell": 129, "long session": 482, "refused by a freeze": 101, "erasure refused 403": 950,
        "erasure refused 404": 944,
        "superseded on the newest socket": 277,
        // The auditor did not know that what is due waits for what was due before, and each of them for a slow disk.
        "expired behind an absence": 2_588,
        // The judge took a marker for lost that had gone with its session.
        "a marker in a session that has ended": 439,
        // Nobody is told of a marker whose only reader is behind.
        "a marker of a client that reads nothing": 4_460,
        // The judge took a message for out of order that had got reactions while the list was read.
        "a change behind the list that has the message": 3_799,
        // The judge did not know of the last events, which no client gets.
        "a marker at an event that no client gets": 208_526_076,
    ]

    private static let rareOfNodes: KeyValuePairs<String, UInt64> = [
        "Redis forgets": 23,
        // A judge that did not know of the loss took the line for wrong.
        "told back of a loss that only the server noticed": 19_568_111,
        // The room had ended, and the client in it got no more messages.
        "entered a room that a flush had emptied": 30_631_831,
        // The node gave its clients events behind its loss. With these they could not come back.
        "delivered behind the node's own loss": 500_086, "expired behind the node's own loss": 30_631_856,
        // Redis may forget, and started when the faults were over: the judge took the new order for wrong.
        "began anew when the faults were over": 500_732,
        // The auditor forgot a third attempt when one of two earlier ones had resumed the connection.
        "an attempt that is behind a resume": 501_393,
        // A session had another order when a backend acted, and no client knew it.
        // The second time, the order that the clients had known has another event at that seq.
        "an action in an order that no client knows": 503_445,
        "an action at the seq of a departure in the order before": 150_292_965,
        // The socket closed after another client had come: the judge took that for the loss.
        "closed after it was taken for lost": 764,
    ]
}

/// How often each situation came up, and the first seed that had it.
struct Situations {
    private(set) var counts: [String: Int] = [:]
    private var firstSeeds: [String: UInt64] = [:]

    mutating func note(_ counts: [String: Int], of seed: UInt64) {
        self.counts.merge(counts, uniquingKeysWith: +)
        firstSeeds.merge(counts.mapValues { _ in seed }, uniquingKeysWith: min)
    }

    mutating func merge(_ other: Self) {
        counts.merge(other.counts, uniquingKeysWith: +)
        firstSeeds.merge(other.firstSeeds, uniquingKeysWith: min)
    }

    /// One line for each situation, the rarest first.
    var table: String {
        counts.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map { "\($0.value) \($0.key), first by seed \(firstSeeds[$0.key] ?? 0)" }.joined(separator: "\n")
    }
}
