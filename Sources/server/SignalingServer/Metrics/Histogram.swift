import SignalingProtocol

/// Counts observations in fixed buckets. A plain value of one thread: an observation is a search and two additions.
struct Histogram: Sendable, Equatable {
    /// Inclusive upper bounds, ascending.
    let bounds: [Int64]
    /// One more than the bounds: the last counts what is above them all.
    private(set) var counts: [Int64]
    private(set) var sum: Int64 = 0
    /// The sum of each bucket, from which a backend without buckets gets their means.
    private(set) var sums: [Int64]

    init(_ buckets: MetricDeclaration.Buckets) {
        bounds = buckets.bounds
        counts = [Int64](repeating: 0, count: bounds.count + 1)
        sums = counts
    }

    mutating func observe(_ value: Int64) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] += 1
        sums[index] += value
        sum += value
    }

    mutating func observe(_ duration: Duration) { observe(duration.wholeNanoseconds) }
}
