import Logging
import SignalingCore
import SignalingRedis
import SignalingRedisCore

extension RedisCommandLog {
    /// Opens the real log over simulated links.
    ///
    /// - Parameter seed: the names that the log makes follow from it.
    package static func open(
        over links: SimulatedLinks, run: RunID, seed: UInt64, times: LogTimes, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        let addresses = links.servers.indices.map { "redis://simulated-\($0)" }
        links.serve(
            RedisCommandLog(
                ShardSettings.list(addresses), run: run, seed: seed, times: times, port: links, logger: logger,
                onOpened: onOpened))
    }
}
