import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

extension RedisCommandLog {
    /// Connects to Redis, checks that it can keep a log, and registers this node.
    ///
    /// - Parameters:
    ///   - addresses: one Redis, or several, over which the sessions are spread. Every node needs the same list in the same
    ///     order.
    ///   - run: a random name for this life of the process.
    ///   - loop: the loop on whose thread this method, and all others, are called.
    ///   - onOpened: called on the loop with the log, or with the reason why it cannot be used. The caller keeps the log; it
    ///     gives up everything when it is released.
    package static func open(
        _ addresses: [RedisAddress], run: RunID, loop: EventLoop, logger: Logger, times: LogTimes = LogTimes(),
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        let links = RedisLinks(addresses, loop: loop)
        let log = RedisCommandLog(
            ShardSettings.list(addresses.map(\.description)), run: run, seed: .random(in: .min ... .max), times: times,
            port: links, logger: logger, onOpened: onOpened)
        links.serve(log, tick: times.tick)
    }
}
