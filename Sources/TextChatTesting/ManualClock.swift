import SignalingProtocol

/// The time for people, moved by hand.
public struct ManualClock: Sendable {
    public private(set) var now: WallTime

    /// Starts on 14 November 2023, 22:13:20 UTC, unless it is told otherwise.
    public init(_ now: WallTime = WallTime(milliseconds: 1_700_000_000_000)) { self.now = now }

    /// Negative durations set it back, as wall clocks are.
    public mutating func advance(by duration: Duration) {
        now = WallTime(milliseconds: now.milliseconds + duration.wholeMilliseconds)
    }
}
