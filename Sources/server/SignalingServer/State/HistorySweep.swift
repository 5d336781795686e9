import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Trims the history from time to time (HIS-2). Confined to the loop.
final class HistorySweep {
    private let engine: any SessionEngine
    private let logger: Logger
    private var clock: TrimmingClock
    private var wasBehind = false
    private var timer: RepeatingTimer?

    init(loop: LoopThread, sessions: SessionHost, logger: Logger) {
        engine = sessions.engine
        self.logger = logger
        clock = TrimmingClock(sessions.archive.lastSweep ?? .current, at: loop.now)
        timer = RepeatingTimer(loop: loop, every: .seconds(60)) { [weak self, unowned loop] in self?.sweep(loop.now) }
    }

    private func sweep(_ now: MonotonicInstant) {
        let time = clock.step(.current, at: now)
        if clock.isBehind, !wasBehind {
            logger.notice(
                "the clock has jumped, or no server has run for long: old messages are trimmed a little at a time",
                metadata: ["seconds": .stringConvertible(clock.lag.components.seconds)])
        }
        wasBehind = clock.isBehind
        engine.sweepHistory(now: time)
    }
}

/// Calls its handler again and again. Confined to its loop.
final class RepeatingTimer {
    private let loop: LoopThread
    private let interval: Duration
    private var timer: LoopTimer?

    /// - Parameter handler: called after the interval for the first time.
    init(loop: LoopThread, every interval: Duration, handler: @escaping () -> Void) {
        self.loop = loop
        self.interval = interval
        timer = LoopTimer(loop: loop) { [weak self] in
            handler()
            self?.schedule()
        }
        schedule()
    }

    private func schedule() { timer?.schedule(at: loop.now.advanced(by: interval)) }
}
