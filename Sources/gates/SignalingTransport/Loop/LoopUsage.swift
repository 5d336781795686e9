import SignalingProtocol

/// How busy a loop is: the time that its turns took, without the time that it waited for input.
///
/// A pure value. Costs two reads of the clock per turn, however much the turn does.
public struct LoopUsage: Sendable {
    /// The longest turn is that of the last one to two windows of this length.
    static let window = Duration.seconds(30)
    /// The recent load is that of the last one to two spans of this length, or of one turn that was longer.
    static let loadSpan = Duration.milliseconds(50)
    /// From this share of its time on, the loop is busy.
    static let busyPercent = 50

    /// The number of turns since the loop was started.
    public private(set) var turnCount = 0
    /// The sum of all turns since the loop was started.
    public private(set) var busyTime = Duration.zero
    private var lastAt: MonotonicInstant?
    private var lastIdle = Duration.zero
    private var windowEnd = MonotonicInstant(nanoseconds: 0)
    private var longestInWindow = Duration.zero
    private var longestBefore = Duration.zero
    private var span = Span()
    private var spanBefore = Span()

    private struct Span {
        var busy = Duration.zero
        var total = Duration.zero
    }

    init() {}

    /// A turn has ended.
    ///
    /// - Parameter idle: the time that the loop has waited for input since it was started.
    mutating func noteTurn(now: MonotonicInstant, idle: Duration) {
        defer {
            lastAt = now
            lastIdle = idle
        }
        guard let lastAt else {
            windowEnd = now.advanced(by: Self.window)
            return
        }
        let turn = max(.zero, now.duration(since: lastAt) - (idle - lastIdle))
        turnCount += 1
        busyTime += turn
        span.busy += turn
        span.total += max(.zero, now.duration(since: lastAt))
        if span.total >= Self.loadSpan {
            spanBefore = span
            span = Span()
        }
        if now >= windowEnd {
            longestBefore = now < windowEnd.advanced(by: Self.window) ? longestInWindow : .zero
            longestInWindow = .zero
            windowEnd = now.advanced(by: Self.window)
        }
        longestInWindow = max(longestInWindow, turn)
    }

    /// The share of the time that the last turns took, up to the end of the last one: 0 to 100. It knows a change of the
    /// load after 50 ms.
    var loadPercent: Int {
        let total = (spanBefore.total + span.total).wholeNanoseconds
        return total > 0 ? Int(clamping: (spanBefore.busy + span.busy).wholeNanoseconds * 100 / total) : 0
    }

    /// Whether the loop has no time to spare. Below that, more turns cost nobody anything: nothing has to wait so that the
    /// loop saves work.
    public var isBusy: Bool { loadPercent >= Self.busyPercent }

    /// The longest turn of the last 30 to 60 seconds.
    public var longestTurn: Duration { max(longestInWindow, longestBefore) }
}
