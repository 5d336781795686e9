import SignalingProtocol

/// How busy a loop is: the time that its turns took, without the time that it waited for input.
///
/// A pure value. Costs two reads of the clock per turn, however much the turn does.
public struct LoopUsage: Sendable {
    /// The longest turn is that of the last one to two windows of this length.
    static let window = Duration.seconds(30)

    /// The number of turns since the loop was started.
    public private(set) var turnCount = 0
    /// The sum of all turns since the loop was started.
    public private(set) var busyTime = Duration.zero
    private var lastAt: MonotonicInstant?
    private var lastIdle = Duration.zero
    private var windowEnd = MonotonicInstant(nanoseconds: 0)
    private var longestInWindow = Duration.zero
    private var longestBefore = Duration.zero

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
        if now >= windowEnd {
            longestBefore = now < windowEnd.advanced(by: Self.window) ? longestInWindow : .zero
            longestInWindow = .zero
            windowEnd = now.advanced(by: Self.window)
        }
        longestInWindow = max(longestInWindow, turn)
    }

    /// The longest turn of the last 30 to 60 seconds.
    public var longestTurn: Duration { max(longestInWindow, longestBefore) }
}
