import SignalingClient
import SignalingProtocol
import Synchronization

/// What happened to the signals and members of a ``LoadTest``.
///
/// Latencies count from the planned moment of a signal, not from the moment of sending. A server, a network or a program
/// that stalls delays the signals behind it, and that delay is a part of what a user waits for. To leave it out is known
/// as coordinated omission.
final class LoadRecord: Sendable {
    struct Figures: Sendable {
        var sent = 0
        var acknowledged = 0
        /// By the error's code and message.
        var refused: [String: Int] = [:]
        var deliveries = 0
        var reconnects = 0
        var disconnects = 0
        var acknowledgementLatency = LatencyHistogram()
        var deliveryLatency = LatencyHistogram()
        /// How long after its planned moment a signal was handed over to the client.
        var lateness = LatencyHistogram()

        var refusedCount: Int { refused.values.reduce(0, +) }
        var unansweredCount: Int { sent - acknowledged - refusedCount }
    }

    private struct State {
        var figures = Figures()
        /// When the measurement begins, since the start of the load. Before it, only reconnects and disconnects count.
        var measuredFrom = Duration.zero
        var start: ContinuousClock.Instant?
        /// The members leave by themselves.
        var isOver = false
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - start: the start of the load.
    ///   - measuredFrom: when the measurement begins, since the start.
    func begin(at start: ContinuousClock.Instant, measuredFrom: Duration) {
        state.withLock {
            $0.start = start
            $0.measuredFrom = measuredFrom
        }
    }

    func end() { state.withLock { $0.isOver = true } }

    var figures: Figures { state.withLock(\.figures) }

    func sent(plannedAt: Duration, delay: Duration) {
        state.withLock { state in
            guard plannedAt >= state.measuredFrom else { return }
            state.figures.sent += 1
            state.figures.lateness.add(max(.zero, delay))
        }
    }

    func acknowledged(plannedAt: Duration) {
        note(plannedAt, \.acknowledged, \.acknowledgementLatency)
    }

    func refused(plannedAt: Duration, _ error: SignalingError) {
        state.withLock { state in
            guard plannedAt >= state.measuredFrom else { return }
            state.figures.refused["\(error.code.number) \(error.message)", default: 0] += 1
        }
    }

    func delivered(plannedAt: Duration) {
        note(plannedAt, \.deliveries, \.deliveryLatency)
    }

    private func note(
        _ plannedAt: Duration, _ count: WritableKeyPath<Figures, Int>,
        _ latency: WritableKeyPath<Figures, LatencyHistogram>
    ) {
        let now = ContinuousClock.now
        state.withLock { state in
            guard let start = state.start, plannedAt >= state.measuredFrom else { return }
            state.figures[keyPath: count] += 1
            state.figures[keyPath: latency].add(start.duration(to: now) - plannedAt)
        }
    }

    func reconnected() { state.withLock { $0.figures.reconnects += 1 } }

    func disconnected() { state.withLock { if !$0.isOver { $0.figures.disconnects += 1 } } }
}
