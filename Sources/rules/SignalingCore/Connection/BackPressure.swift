import SignalingProtocol

/// Decides whether the server reads from a connection. It pauses reading while too many bytes or requests of that
/// client wait (G5, WIRE-13), and while the client is over its rate of lines (WIRE-15). Further input waits in TCP, and
/// none of it is lost.
///
/// Each measure has two bounds, so that reading does not pause and resume with each line.
public struct BackPressure: Sendable {
    /// When reading pauses. It resumes at a quarter of the bytes and half of the requests.
    public struct Bounds: Sendable {
        /// Unsent bytes that the client itself has caused. Each response is small, but without this bound a client that
        /// never reads could accumulate them.
        public var byteCount: Int
        /// Requests without an answer. A client that follows RES-9 never has more.
        public var requestCount: Int

        public init(byteCount: Int, requestCount: Int) {
            self.byteCount = byteCount
            self.requestCount = requestCount
        }

        public static let standard = Bounds(
            byteCount: Limits.waitingByteCount, requestCount: Limits.unansweredRequests)

        var resumeByteCount: Int { byteCount / 4 }
        var resumeRequestCount: Int { requestCount / 2 }
    }

    /// A change in reading.
    enum Change: Hashable, Sendable { case pause, resume }

    let bounds: Bounds
    private(set) var isPaused = false
    /// The shell's latest count.
    private(set) var waitingByteCount = 0
    private var acknowledgedByteCount: UInt64 = 0
    /// While the client is over its rate: when the server reads again (``InputRate``).
    private(set) var overRateUntil: MonotonicInstant?
    /// When a measure last fell, or when the pause began.
    private var progressAt = MonotonicInstant(nanoseconds: .min)

    init(bounds: Bounds) { self.bounds = bounds }

    /// Records the unsent bytes, and the bytes that the client's system has acknowledged since the socket was opened: a
    /// client that reads, however slowly, is alive.
    mutating func note(waitingByteCount: Int, acknowledgedByteCount: UInt64, now: MonotonicInstant) {
        if waitingByteCount < self.waitingByteCount || acknowledgedByteCount > self.acknowledgedByteCount {
            progressAt = now
        }
        self.waitingByteCount = waitingByteCount
        self.acknowledgedByteCount = acknowledgedByteCount
    }

    /// A request was answered.
    mutating func noteAnswer(now: MonotonicInstant) { progressAt = now }

    /// The client is over its rate until this moment.
    mutating func noteOverRate(until moment: MonotonicInstant) { overRateUntil = moment }

    mutating func judge(unansweredCount: Int, now: MonotonicInstant) -> Change? {
        if let moment = overRateUntil, moment <= now { overRateUntil = nil }
        if isPaused {
            guard overRateUntil == nil, waitingByteCount <= bounds.resumeByteCount,
                unansweredCount <= bounds.resumeRequestCount
            else { return nil }
            isPaused = false
            return .resume
        }
        guard waitingByteCount > bounds.byteCount || unansweredCount > bounds.requestCount || overRateUntil != nil
        else { return nil }
        isPaused = true
        progressAt = now
        return .pause
    }

    /// Whether a backlog of this size matters: it may pause or resume reading, or prove that the client is alive.
    func isAffected(byBacklog waitingByteCount: Int) -> Bool { isPaused || waitingByteCount > bounds.byteCount }

    /// During a pause for bytes that the client must read: when to close the connection, unless a measure falls before.
    func stallLimit(heartbeat: Duration) -> MonotonicInstant? {
        hasBacklog ? progressAt.advanced(by: heartbeat.doubled) : nil
    }

    /// Whether a paused client has enough bytes to read without a ping.
    var hasBacklog: Bool { isPaused && waitingByteCount > bounds.resumeByteCount }
}
