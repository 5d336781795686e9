import SignalingCore
import SignalingProtocol

/// What a node knows of the runs of all nodes on one Redis (LOG-32).
package struct NodeRegistry {
    /// The times of the rules. Tests shorten them.
    package struct Times {
        /// How often a node says that it lives.
        package var beat = Duration.seconds(1)
        /// How long a sign of life is valid.
        package var life = Duration.seconds(10)
        /// How long Redis must have answered this node without a pause before a missing sign of life means a death: if
        /// Redis pauses, the signs of all nodes lapse together.
        package var steady = Duration.seconds(15)
        /// A longer time between two answers is a pause.
        package var pause = Duration.seconds(4)

        package init() {}
    }

    /// A run in the registry.
    package struct Listed: Equatable {
        let run: RunID
        /// `nil` while the run may live.
        let lostAt: MonotonicInstant?
        let hasSignOfLife: Bool
        let hasSessions: Bool
    }

    private let times: Times
    /// How long Redis keeps a loss (`LOSS_LIFE` in signalbox.lua).
    private static let lossLife = Duration.seconds(7 * 86_400)

    private(set) var losses: [RunID: MonotonicInstant] = [:]
    private(set) var living: Set<RunID> = []
    private var suspects: Set<RunID> = []
    private var steadySince: MonotonicInstant?
    private var answeredAt: MonotonicInstant?
    private var hasList = false

    init(times: Times) { self.times = times }

    /// - Returns: the runs that were lost since the first list, and those whose sessions nobody has adopted.
    mutating func update(_ list: [Listed], now: MonotonicInstant, logTime: MonotonicInstant) -> [RunID] {
        if let answeredAt, now.duration(since: answeredAt) <= times.pause {
            steadySince = steadySince ?? answeredAt
        } else {
            steadySince = now
        }
        answeredAt = now
        // Redis has forgotten those that are older, so no session names them any more.
        losses = losses.filter { logTime.duration(since: $0.value) <= Self.lossLife }
        let isFirst = !hasList
        hasList = true
        // A run that is missing was forgotten by Redis. It registers again, or it is dead.
        let missing = living.subtracting(list.map(\.run))
        living = missing
        suspects = missing
        var news: [RunID] = []
        for listed in list {
            if let lostAt = listed.lostAt {
                let isNew = losses.updateValue(lostAt, forKey: listed.run) == nil
                if listed.hasSessions || isNew && !isFirst { news.append(listed.run) }
            } else {
                living.insert(listed.run)
                if !listed.hasSignOfLife { suspects.insert(listed.run) }
            }
        }
        return news
    }

    /// All losses, in the same order in every process.
    var allLosses: [(run: RunID, time: MonotonicInstant)] {
        losses.map { (run: $0.key, time: $0.value) }.sorted { $0.run.rawValue < $1.run.rawValue }
    }

    /// A session names a run that Redis does not know: it may be late after Redis has forgotten it, or be dead.
    mutating func suspect(_ run: RunID) {
        guard losses[run] == nil, living.insert(run).inserted else { return }
        suspects.insert(run)
    }

    /// - Returns: whether this is news.
    mutating func lose(_ run: RunID, at time: MonotonicInstant) -> Bool {
        living.remove(run)
        suspects.remove(run)
        if losses[run] != nil { return false }
        losses[run] = time
        return true
    }

    /// The connection to Redis was lost.
    mutating func interrupt() {
        steadySince = nil
        answeredAt = nil
    }

    /// The runs that may be declared lost.
    func overdue(now: MonotonicInstant) -> [RunID] {
        guard let steadySince, now.duration(since: steadySince) >= times.steady else { return [] }
        return suspects.sorted { $0.rawValue < $1.rawValue }
    }
}
