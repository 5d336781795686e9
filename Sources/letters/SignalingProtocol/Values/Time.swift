/// A moment on a clock that never goes back. The caller reads the clock: pure code gets the time as an argument.
///
/// The zero point has no meaning; use only differences.
public struct MonotonicInstant: Hashable, Comparable, Sendable {
    public let nanoseconds: Int64
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Saturates at the ends of the clock: a moment after an endless duration never comes.
    public func advanced(by duration: Duration) -> MonotonicInstant {
        let step = duration.wholeNanoseconds
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return MonotonicInstant(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// The time since `earlier`; negative when `earlier` is later than this moment.
    public func duration(since earlier: MonotonicInstant) -> Duration {
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The earlier of two moments that may not come.
    public static func earlier(_ left: MonotonicInstant?, _ right: MonotonicInstant?) -> MonotonicInstant? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }
}

/// A date, in milliseconds since 1970 UTC. Use it as a label only: this clock may jump, so no deadline depends on it.
public struct WallTime: Hashable, Comparable, Sendable {
    public let milliseconds: Int64
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero. Saturates at about ±292 years.
    public var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Twice as long. `duration * 2` is generic, and takes ten times as long; each message asks for it.
    public var doubled: Duration { self + self }

    /// The duration in milliseconds, rounded towards zero. Saturates at about ±292 years.
    public var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
