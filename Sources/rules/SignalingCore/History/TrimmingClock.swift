import SignalingProtocol

/// The time by which messages become too old (HIS-2). It follows the wall clock, but does not believe a jump: a clock that
/// was wrong for a minute must not have deleted a month.
///
/// While the wall clock is ahead, this time goes faster than the monotonic clock, and so catches up at last. A server that
/// was away for ten days catches up within ten hours.
public struct TrimmingClock: Sendable {
    /// How much faster this time goes while it is behind the wall clock.
    public static let rate = 24
    /// A wall clock that is further ahead has jumped.
    public static let jump = Duration.seconds(3_600)

    /// Never goes back.
    private(set) var time: WallTime
    private var moment: MonotonicInstant
    /// How far the wall clock was ahead after the last step.
    public private(set) var lag = Duration.zero

    /// - Parameter time: of the last sweep, also of an earlier process; otherwise that of the wall clock.
    public init(_ time: WallTime, at moment: MonotonicInstant) {
        self.time = time
        self.moment = moment
    }

    /// Whether the wall clock has jumped, and is not believed.
    public var isBehind: Bool { lag > Self.jump }

    /// The time for a sweep.
    public mutating func step(_ wall: WallTime, at now: MonotonicInstant) -> WallTime {
        let elapsed = max(.zero, now.duration(since: moment))
        moment = max(moment, now)
        let (limit, overflow) = time.milliseconds.addingReportingOverflow((elapsed * Self.rate).wholeMilliseconds)
        let reachable = WallTime(milliseconds: overflow ? .max : limit)
        time = max(time, min(wall, reachable))
        let (ahead, isFar) = wall.milliseconds.subtractingReportingOverflow(time.milliseconds)
        lag = isFar ? (wall < time ? .zero : .milliseconds(Int64.max / 1_000)) : .milliseconds(max(0, ahead))
        // A clock that was set back keeps more.
        return min(time, wall)
    }
}
