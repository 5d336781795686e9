import SignalingProtocol

/// A clock that the test moves.
public struct ManualClock: Sendable {
    /// The wall-clock time.
    public private(set) var now: WallTime
    /// The monotonic time for typing; starts at 0 and never goes back.
    public private(set) var instant = MonotonicInstant(nanoseconds: 0)

    /// Starts on 14 November 2023, 22:13:20 UTC by default.
    public init(_ now: WallTime = WallTime(milliseconds: 1_700_000_000_000)) { self.now = now }

    /// Advances both times. A negative duration sets back the wall-clock time only.
    public mutating func advance(by duration: Duration) {
        now = WallTime(milliseconds: now.milliseconds + duration.wholeMilliseconds)
        instant = instant.advanced(by: max(duration, .zero))
    }
}
