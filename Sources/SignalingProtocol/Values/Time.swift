/// A moment on a clock that only goes forward, handed in by the caller; pure code never reads a clock.
///
/// The zero point means nothing; only differences do.
public struct MonotonicInstant: Hashable, Comparable, Sendable {
    public let nanoseconds: Int64
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Stops at the ends of the clock, so that "after the longest duration" is never, and not a fault.
    public func advanced(by duration: Duration) -> MonotonicInstant {
        let step = duration.wholeNanoseconds
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return MonotonicInstant(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// How much later than `earlier`; negative when it is earlier.
    public func duration(since earlier: MonotonicInstant) -> Duration {
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A date, in milliseconds since 1970 UTC. It labels things; nothing waits for it, since clocks of this kind jump.
public struct WallTime: Hashable, Comparable, Sendable {
    public let milliseconds: Int64
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension Duration {
    /// Saturates at about ±292 years.
    public var wholeNanoseconds: Int64 {
        // First, since the components of a still longer duration do not fit either.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Rounded towards zero.
    public var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
