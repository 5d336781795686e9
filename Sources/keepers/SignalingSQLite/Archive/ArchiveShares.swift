import SignalingProtocol

/// What each project has, by ``ArchivedSession/storedByteCount``, and what is too much of it when the common bound is
/// exceeded (HIS-2).
struct ArchiveShares {
    /// The projects that are trimmed at once. The others follow.
    private static let limit = 16

    private var projects: [APIKey?: Int] = [:]

    mutating func add(_ byteCount: Int, of project: APIKey?) { projects[project, default: 0] += byteCount }

    /// What projects have to lose: those that have the most, and none that has less than the bound divided by the number
    /// of projects.
    ///
    /// - Parameter used: what all of them take together.
    func excesses(used: Int, bound: Int) -> [APIKey?: Int] {
        let sum = projects.values.reduce(0, +)
        guard used > bound, sum > 0 else { return [:] }
        // The sizes of sessions are estimates, so they are taken as parts of the whole.
        let scale = Double(sum) / Double(used)
        let share = Int(Double(bound) * scale) / projects.count
        let over = projects.filter { $0.value > share }.sorted { $0.value > $1.value }
        // A little more than needed, so that not every sweep begins here.
        let excess = Int(Double(used - (bound - bound / 64)) * scale) + 1
        let level = Self.level(of: over.map(\.value), excess: excess)
        let losing = over.prefix(Self.limit).filter { $0.value > level }
        return Dictionary(uniqueKeysWithValues: losing.map { ($0.key, $0.value - level) })
    }

    /// The size to which the largest must be reduced so that this excess goes: each loses what it has more than the others.
    ///
    /// - Parameters:
    ///   - sizes: the largest first.
    ///   - areAll: whether there are no others. Otherwise none is reduced far below the smallest of these.
    static func level(of sizes: [Int], excess: Int, areAll: Bool = true) -> Int {
        let floor = areAll ? 0 : (sizes.last ?? 0) / 10 * 9
        var sum = 0
        for (index, size) in sizes.enumerated() {
            sum += size
            let level = (sum - excess) / (index + 1)
            let next = index + 1 < sizes.count ? sizes[index + 1] : 0
            if level >= next { return max(level, floor) }
        }
        return floor
    }
}

/// The largest sessions of the projects that have too much.
struct LargestSessions {
    /// A session, and the size to which it is trimmed.
    struct Trimmed {
        let id: [UInt8]
        let project: APIKey?
        let level: Int
    }

    private struct Candidate {
        let id: [UInt8]
        let byteCount: Int
        let oldest: Int64
    }

    private struct Project {
        var candidates: [Candidate] = []
        var areAll = true

        mutating func keepLargest(_ limit: Int) {
            // Of sessions of one size those with the oldest messages come first.
            candidates.sort { ($1.byteCount, $0.oldest) < ($0.byteCount, $1.oldest) }
            guard candidates.count > limit else { return }
            candidates.removeSubrange(limit...)
            areAll = false
        }
    }

    /// The sessions of all projects: choosing reads the rows of all, and a row may be small.
    private static let limit = 16_384

    /// What the projects have too much.
    let excesses: [APIKey?: Int]
    private var projects: [APIKey?: Project]
    private let limit: Int

    init(_ excesses: [APIKey?: Int]) {
        self.excesses = excesses
        projects = excesses.mapValues { _ in Project() }
        limit = Self.limit / max(1, excesses.count)
    }

    mutating func add(_ row: ArchivedSession, of project: APIKey?) {
        let candidate = Candidate(id: row.id, byteCount: row.storedByteCount, oldest: row.oldest)
        guard projects[project]?.candidates.append(candidate) != nil else { return }
        if projects[project]?.candidates.count ?? 0 > 2 * limit { projects[project]?.keepLargest(limit) }
    }

    mutating func trimmed() -> [Trimmed] {
        for project in projects.keys { projects[project]?.keepLargest(limit) }
        return projects.flatMap { key, project in
            let level = ArchiveShares.level(
                of: project.candidates.map(\.byteCount), excess: excesses[key] ?? 0, areAll: project.areAll)
            return project.candidates.filter { $0.byteCount > level }
                .map { Trimmed(id: $0.id, project: key, level: level) }
        }
    }
}
