import SignalingProtocol
import SignalingTransport

/// Feeds the watchdog of a service manager from the loop. When the loop hangs, the feeding stops, and the service
/// manager ends the process and starts another one. Confined to the loop.
final class LoopWatchdog {
    private let loop: LoopThread
    private let notifier: ServiceNotifier
    private let interval: Duration
    private var timer: LoopTimer?

    /// - Returns: nil if the service manager has no watchdog.
    init?(loop: LoopThread, notifier: ServiceNotifier) {
        guard let time = notifier.watchdogTime else { return nil }
        self.loop = loop
        self.notifier = notifier
        // sd_watchdog_enabled(3) recommends half of the time.
        interval = time / 2
        timer = LoopTimer(loop: loop) { [weak self] in self?.feed() }
        feed()
    }

    private func feed() {
        notifier.feedWatchdog()
        timer?.schedule(at: loop.now.advanced(by: interval))
    }
}
