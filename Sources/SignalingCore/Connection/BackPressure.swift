import SignalingProtocol

/// Whether a connection is read from: not while too much waits for it (G5, WIRE-13). What it sends then waits in its own system, and
/// nothing of it is lost.
///
/// There are two bounds to each measure, so that reading is not switched at each line.
public struct BackPressure: Sendable {
    /// Bytes that wait to be sent to a connection for its own requests, above which it is not read from. Answers are
    /// small, but a client that only asks would pile them up.
    public static let pauseByteCount = Limits.waitingByteCount
    /// It is read from again when no more than these are left.
    public static let resumeByteCount = Limits.waitingByteCount / 4
    /// Requests without an answer, above which it is not read from. Who keeps to RES-9 never has more.
    public static let pauseRequestCount = Limits.unansweredRequests
    /// It is read from again when no more than these are left.
    public static let resumeRequestCount = Limits.unansweredRequests / 2

    /// What has to be done about reading.
    enum Change: Hashable, Sendable { case pause, resume }

    private(set) var isPaused = false
    /// As the shell has last counted them.
    private(set) var waitingByteCount = 0
    private var takenByteCount: UInt64 = 0
    /// When something was last seen to get less, or the pause began.
    private var progressAt = MonotonicInstant(nanoseconds: .min)

    /// Takes what waits to be sent, and what the client's system has taken since the socket was opened: a client that reads, however slowly, is
    /// alive.
    mutating func note(waitingByteCount: Int, takenByteCount: UInt64, now: MonotonicInstant) {
        if waitingByteCount < self.waitingByteCount || takenByteCount > self.takenByteCount { progressAt = now }
        self.waitingByteCount = waitingByteCount
        self.takenByteCount = takenByteCount
    }

    /// A request was answered.
    mutating func noteAnswer(now: MonotonicInstant) { progressAt = now }

    mutating func judge(unansweredCount: Int, now: MonotonicInstant) -> Change? {
        if isPaused {
            guard waitingByteCount <= Self.resumeByteCount, unansweredCount <= Self.resumeRequestCount else {
                return nil
            }
            isPaused = false
            return .resume
        }
        guard waitingByteCount > Self.pauseByteCount || unansweredCount > Self.pauseRequestCount else { return nil }
        isPaused = true
        progressAt = now
        return .pause
    }

    /// While it is paused: when it has to be given up, unless something gets less until then.
    func stallLimit(heartbeat: Duration) -> MonotonicInstant? {
        isPaused ? progressAt.advanced(by: heartbeat * 2) : nil
    }

    /// Whether a client that is not read from has something to hear without a ping.
    var hasBacklog: Bool { isPaused && waitingByteCount > Self.resumeByteCount }
}
