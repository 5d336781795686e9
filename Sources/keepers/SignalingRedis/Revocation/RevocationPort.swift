import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What a ``RedisRevocationTable`` needs of the world. Everything is called on one thread.
package protocol RevocationPort: AnyObject {
    var now: MonotonicInstant { get }
    /// Makes a link. The table's `linkReady` or `linkLost` follows.
    func connect()
    /// Gives the link up. None of its events follows.
    func disconnect()
    /// The answer follows, unless the link is lost. The calls are carried out in their order.
    func send(_ call: RevocationCall, answer: @escaping (RedisReply) -> Void)
    /// Writes what was sent.
    func flush()
    /// The table ends: no event follows.
    func shutDown()
}

extension RedisRevocationTable {
    /// Begins to read the table of the nodes on a Redis.
    ///
    /// - Parameters:
    ///   - loop: the loop on whose thread this method, and all others, are called.
    ///   - onOpened: called when the table has been read.
    package static func open(
        _ address: RedisAddress, limit: Int, loop: EventLoop, logger: Logger, times: LogTimes = LogTimes(),
        onOpened: @escaping () -> Void
    ) -> RedisRevocationTable {
        let link = RevocationLink(address, loop: loop)
        let table = RedisRevocationTable(
            redis: address.description, limit: limit, times: times, port: link, logger: logger, onOpened: onOpened)
        link.serve(table, tick: times.tick)
        return table
    }
}

/// The port of a table on a libuv loop: a link to Redis, and a timer.
private final class RevocationLink: RevocationPort {
    private let address: RedisAddress
    private let loop: EventLoop
    private var link: RedisLink?
    private var ticker: TimerHandle?
    private weak var table: RedisRevocationTable?

    init(_ address: RedisAddress, loop: EventLoop) {
        self.address = address
        self.loop = loop
    }

    func serve(_ table: RedisRevocationTable, tick: Duration) {
        self.table = table
        ticker = TimerHandle(on: loop) { [weak table] in table?.tick() }
        ticker?.start(every: tick)
        table.tick()
    }

    var now: MonotonicInstant { EventLoop.now }

    func connect() {
        let link = RedisLink(address: address, loop: loop) { [weak table] event in
            switch event {
            case .ready: table?.linkReady()
            case .lost(let fault): table?.linkLost(fault)
            case .nodesMessage(let text): table?.received(text)
            case .subscription, .message: break
            }
        }
        self.link = link
        link.connect()
    }

    func disconnect() {
        link?.close()
        link = nil
    }

    func send(_ call: RevocationCall, answer: @escaping (RedisReply) -> Void) {
        link?.send([call.command(database: address.database)]) { answer($0[0]) }
    }

    func flush() { link?.flush() }

    func shutDown() {
        ticker?.close()
        ticker = nil
        disconnect()
    }
}
