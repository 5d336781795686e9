import SignalingProtocol

/// The time in which a client was cut off: from the cut of its network, or the end of its server, until the client is
/// connected again.
struct ServiceGap: Sendable {
    enum Cause: String, CaseIterable, Sendable {
        case cut, silence
        /// Measured from the moment at which the network is back.
        case absence
        case restart, kill
        /// Measured from the moment at which the node hung.
        case freeze
        /// The server closed the socket. Measured from the moment at which the client noticed it.
        case other
    }

    var client: String
    var cause: Cause
    var start: MonotonicInstant
    var end: MonotonicInstant

    var duration: Duration { end.duration(since: start) }
}

/// Percentiles of a number of durations.
struct Percentiles: Sendable {
    var count = 0
    var p50 = Duration.zero
    var p95 = Duration.zero
    var p99 = Duration.zero
    var max = Duration.zero

    /// The nearest rank: the smallest duration that is not exceeded by that share of all.
    init(_ durations: [Duration]) {
        let sorted = durations.sorted()
        guard let last = sorted.last else { return }
        func rank(_ percent: Int) -> Duration { sorted[Swift.max(0, (sorted.count * percent + 99) / 100 - 1)] }
        count = sorted.count
        p50 = rank(50)
        p95 = rank(95)
        p99 = rank(99)
        max = last
    }
}

/// A count of durations by powers of two: below 1 ms, below 2 ms, below 4 ms, and so on.
struct DurationCounts: Sendable {
    private(set) var counts = [Int](repeating: 0, count: 18)

    mutating func add(_ duration: Duration) {
        let milliseconds = UInt64(max(0, duration.wholeMilliseconds))
        counts[min(counts.count - 1, UInt64.bitWidth - milliseconds.leadingZeroBitCount)] += 1
    }

    mutating func add(_ other: DurationCounts) {
        for (index, count) in other.counts.enumerated() { counts[index] += count }
    }
}
