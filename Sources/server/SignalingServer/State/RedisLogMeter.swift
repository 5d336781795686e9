import SignalingRedis

/// Measures how long Redis takes to confirm what this server appends. Confined to the loop.
final class RedisLogMeter {
    private(set) var appendLatency = Histogram(.durations)

    init(_ log: RedisCommandLog) { log.onConfirmed = { [weak self] in self?.appendLatency.observe($0) } }
}
