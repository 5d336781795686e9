/// A count of durations with a relative error of at most 3 %, from a microsecond to hours, in constant memory.
///
/// Each power of two is divided into 32 buckets of equal width.
package struct LatencyHistogram: Sendable, Equatable {
    private static let linearCount: UInt64 = 64

    private var counts: [Int] = []
    package private(set) var count = 0
    /// The exact longest duration.
    package private(set) var longest = Duration.zero

    package init() {}

    package mutating func add(_ duration: Duration) {
        let index = Self.index(of: Self.microseconds(duration))
        if index >= counts.count { counts += [Int](repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        count += 1
        longest = max(longest, duration)
    }

    /// The shortest duration that at least this share of all does not exceed, rounded up to the end of its bucket.
    /// Zero without durations.
    package func percentile(_ percent: Double) -> Duration {
        guard count > 0 else { return .zero }
        let rank = max(1, Int((Double(count) * percent / 100).rounded(.up)))
        var seen = 0
        for (index, count) in counts.enumerated() {
            seen += count
            if seen >= rank { return min(longest, .microseconds(Int64(clamping: Self.end(of: index)))) }
        }
        return longest
    }

    /// The counts by powers of two of a microsecond, from the first to the last that is not zero.
    package var octaves: [(below: Duration, count: Int)] {
        var sums: [Int: Int] = [:]
        for (index, count) in counts.enumerated() where count > 0 {
            sums[UInt64.bitWidth - (Self.end(of: index) - 1).leadingZeroBitCount, default: 0] += count
        }
        guard let first = sums.keys.min(), let last = sums.keys.max() else { return [] }
        return (first...last).map { (.microseconds(Int64(1) << min($0, 62)), sums[$0] ?? 0) }
    }

    private static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 1 << 40)) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
    }

    private static func index(of value: UInt64) -> Int {
        let shift = shift(of: value)
        return shift * 32 + Int(value >> UInt64(shift))
    }

    private static func shift(of value: UInt64) -> Int {
        value < linearCount ? 0 : UInt64.bitWidth - value.leadingZeroBitCount - 6
    }

    /// The first value behind the bucket.
    private static func end(of index: Int) -> UInt64 {
        let shift = index < Int(linearCount) ? 0 : index / 32 - 1
        return UInt64(index - shift * 32 + 1) << UInt64(shift)
    }
}
