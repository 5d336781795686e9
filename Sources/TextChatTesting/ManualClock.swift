import SignalingProtocol

/// Time that is moved by hand.
public struct ManualClock: Sendable {
    /// The time for people.
    public private(set) var now: WallTime
    /// The time that typing goes by; starts at 0, and never goes back.
    public private(set) var instant = MonotonicInstant(nanoseconds: 0)

    /// Starts on 14 November 2023, 22:13:20 UTC, unless it is told otherwise.
    public init(_ now: WallTime = WallTime(milliseconds: 1_700_000_000_000)) { self.now = now }

    /// Negative durations set the time for people back, as wall clocks are.
    public mutating func advance(by duration: Duration) {
        now = WallTime(milliseconds: now.milliseconds + duration.wholeMilliseconds)
        instant = instant.advanced(by: max(duration, .zero))
    }
}
