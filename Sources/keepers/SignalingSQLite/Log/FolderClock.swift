import SignalingProtocol

/// The log's own time (LOG-4): nanoseconds since 1970 at opening, plus the monotonic time since then. So a step of the
/// wall clock changes nothing while the log is open, and moves no time backwards when it is opened again.
struct FolderClock {
    private let opened: MonotonicInstant
    private let start: MonotonicInstant
    private var last: MonotonicInstant

    /// - Parameters:
    ///   - opened: the moment of the process's clock at which the log is opened.
    ///   - wallTime: the date at that moment.
    ///   - lastKept: the latest time in the log. The clock begins there if the wall clock is behind it.
    init(opened: MonotonicInstant, wallTime: WallTime, lastKept: MonotonicInstant) {
        self.opened = opened
        let (nanoseconds, overflow) = wallTime.milliseconds.multipliedReportingOverflow(by: 1_000_000)
        start = max(MonotonicInstant(nanoseconds: overflow ? 0 : nanoseconds), lastKept)
        last = start
    }

    func time(at now: MonotonicInstant) -> MonotonicInstant { start.advanced(by: now.duration(since: opened)) }

    /// The time for new entries: never behind an earlier result of this method.
    mutating func stamp(_ now: MonotonicInstant) -> MonotonicInstant {
        last = max(last, time(at: now))
        return last
    }
}
