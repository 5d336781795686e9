import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Trims the history from time to time (HIS-2). Confined to the loop.
final class HistorySweep {
    private static let interval = Duration.seconds(60)

    private let loop: LoopThread
    private let engine: any SessionEngine
    private var timer: LoopTimer?

    init(loop: LoopThread, engine: any SessionEngine) {
        self.loop = loop
        self.engine = engine
        timer = LoopTimer(loop: loop) { [weak self] in self?.sweep() }
        schedule()
    }

    private func sweep() {
        engine.sweepHistory(now: .current)
        schedule()
    }

    private func schedule() { timer?.schedule(at: loop.now.advanced(by: Self.interval)) }
}
