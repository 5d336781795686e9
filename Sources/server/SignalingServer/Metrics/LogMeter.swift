import SignalingCore
import SignalingRedis
import SignalingTransport

/// How long a log takes to confirm what this server appends, and to keep snapshots. Confined to the loop.
final class LogMeter {
    @exclusivity(unchecked) private(set) var appendLatency = Histogram(.durations)
    private(set) var snapshotDuration = Histogram(.durations)

    init(_ log: RedisCommandLog) { log.onConfirmed = { [weak self] in self?.appendLatency.observe($0) } }

    init(_ engine: LocalEngine, on loop: LoopThread) {
        engine.stopwatch = LogStopwatch(
            now: { [loop] in loop.now }, onConfirmed: { [weak self] in self?.appendLatency.observe($0) },
            onKept: { [weak self] in self?.snapshotDuration.observe($0) })
    }
}
