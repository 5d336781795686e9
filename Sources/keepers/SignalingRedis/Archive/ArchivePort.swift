import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What a ``RedisArchive`` needs of the world. Everything is called on one thread.
package protocol ArchivePort: AnyObject {
    var now: MonotonicInstant { get }
    /// Makes a link. The archive's `linkReady` or `linkLost` follows.
    func connect(_ shard: Int)
    /// Gives the link up. None of its events follows.
    func disconnect(_ shard: Int)
    /// The answer follows, unless the link is lost. The commands of a link are carried out in their order.
    func send(_ command: RedisCommand, to shard: Int, answer: @escaping (RedisReply) -> Void)
    /// Writes what was sent.
    func flush()
    /// The archive ends: no event follows.
    func shutDown()
}

extension RedisArchive {
    /// An archive in the Redis of a log.
    ///
    /// - Parameters:
    ///   - addresses: those of the log.
    ///   - loop: the loop on whose thread this method, and all others, are called.
    package static func open(
        _ addresses: [RedisAddress], bounds: HistoryBounds, projectOf: @escaping (SessionID) -> APIKey? = { _ in nil },
        loop: EventLoop, logger: Logger, times: LogTimes = LogTimes()
    ) -> RedisArchive {
        let links = ArchiveLinks(addresses, loop: loop)
        let archive = RedisArchive(
            addresses.map(\.description), bounds: bounds, times: times, projectOf: projectOf, port: links,
            logger: logger)
        links.serve(archive, tick: times.tick)
        return archive
    }
}

/// The port of an archive on a libuv loop: a link to each Redis, and a timer.
private final class ArchiveLinks: ArchivePort {
    private let addresses: [RedisAddress]
    private let loop: EventLoop
    private var links: [RedisLink?]
    private var ticker: TimerHandle?
    private weak var archive: RedisArchive?

    init(_ addresses: [RedisAddress], loop: EventLoop) {
        self.addresses = addresses
        self.loop = loop
        links = Array(repeating: nil, count: addresses.count)
    }

    func serve(_ archive: RedisArchive, tick: Duration) {
        self.archive = archive
        ticker = TimerHandle(on: loop) { [weak archive] in archive?.tick() }
        ticker?.start(every: tick)
        archive.tick()
    }

    var now: MonotonicInstant { EventLoop.now }

    func connect(_ shard: Int) {
        let link = RedisLink(address: addresses[shard], loop: loop, subscribes: false) { [weak archive] event in
            switch event {
            case .ready(let forgetsNothing): archive?.linkReady(shard, forgetsNothing: forgetsNothing)
            case .lost(let fault): archive?.linkLost(shard, fault)
            case .subscription, .message, .nodesMessage: break
            }
        }
        links[shard] = link
        link.connect()
    }

    func disconnect(_ shard: Int) {
        links[shard]?.close()
        links[shard] = nil
    }

    func send(_ command: RedisCommand, to shard: Int, answer: @escaping (RedisReply) -> Void) {
        links[shard]?.send([command]) { answer($0[0]) }
    }

    func flush() { for link in links { link?.flush() } }

    func shutDown() {
        ticker?.close()
        ticker = nil
        for shard in links.indices { disconnect(shard) }
    }
}
