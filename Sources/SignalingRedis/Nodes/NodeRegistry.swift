import SignalingCore
import SignalingProtocol

/// What a node knows of the runs of all nodes on one Redis (LOG-32).
struct NodeRegistry {
    /// The times of the rules. Tests shorten them.
    struct Times {
        /// How often a node says that it lives.
        var beat = Duration.seconds(1)
        /// How long a sign of life is valid.
        var life = Duration.seconds(10)
        /// How long Redis must have answered this node without a pause before a missing sign of life means a death: if
        /// Redis pauses, the signs of all nodes lapse together.
        var steady = Duration.seconds(15)
        /// A longer time between two answers is a pause.
        var pause = Duration.seconds(4)
    }

    /// A run in the registry.
    struct Listed: Equatable {
        let run: RunID
        /// `nil` while the run may live.
        let lostAt: MonotonicInstant?
        let hasSignOfLife: Bool
        let hasSessions: Bool
    }

    private let times: Times
    private(set) var losses: [RunID: MonotonicInstant] = [:]
    private(set) var living: Set<RunID> = []
    private var suspects: Set<RunID> = []
    private var steadySince: MonotonicInstant?
    private var answeredAt: MonotonicInstant?
    private var hasList = false

    init(times: Times) { self.times = times }

    /// - Returns: the runs that were lost since the first list, and those whose sessions nobody has adopted.
    mutating func update(_ list: [Listed], now: MonotonicInstant) -> [RunID] {
        if let answeredAt, now.duration(since: answeredAt) <= times.pause {
            steadySince = steadySince ?? answeredAt
        } else {
            steadySince = now
        }
        answeredAt = now
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

extension NodeRegistry.Listed {
    /// The list in the reply of the function `hello`: run, value, sign of life, sessions.
    static func list(_ reply: RedisReply) -> [NodeRegistry.Listed] {
        let array = reply.array ?? []
        return stride(from: 0, to: array.count - 3, by: 4).compactMap { index in
            guard let run = array[index].text.flatMap({ RunID(hexadecimal: $0) }), let value = array[index + 1].text
            else { return nil }
            return NodeRegistry.Listed(
                run: run, lostAt: value.hasPrefix("a") ? nil : MonotonicInstant(microseconds: value),
                hasSignOfLife: array[index + 2].number == 1, hasSessions: array[index + 3].number == 1)
        }
    }
}
