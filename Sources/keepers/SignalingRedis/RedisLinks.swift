import EventLoop
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// The port of a log on a libuv loop: a link to each Redis, and a timer. Confined to the loop's thread.
final class RedisLinks: RedisPort {
    private let addresses: [RedisAddress]
    private let loop: EventLoop
    private var links: [RedisLink?]
    private var ticker: TimerHandle?
    private weak var log: RedisCommandLog?

    init(_ addresses: [RedisAddress], loop: EventLoop) {
        self.addresses = addresses
        self.loop = loop
        links = Array(repeating: nil, count: addresses.count)
    }

    /// Begins to connect. The log holds this port, and itself until it is open.
    func serve(_ log: RedisCommandLog, tick: Duration) {
        self.log = log
        ticker = TimerHandle(on: loop) { [weak log] in log?.tick() }
        ticker?.start(every: tick)
        log.start()
    }

    var now: MonotonicInstant { EventLoop.now }

    func connect(_ shard: Int) {
        let link = RedisLink(address: addresses[shard], loop: loop) { [weak log] event in
            switch event {
            case .ready(let forgetsNothing): log?.handle(.ready(forgetsNothing: forgetsNothing), of: shard)
            case .lost(let fault): log?.handle(.lost(fault), of: shard)
            case .subscription(let session, let isConfirmed):
                log?.handle(.subscription(session, isConfirmed: isConfirmed), of: shard)
            case .message(let session, let message):
                message.withUnsafeBytes { log?.received($0, of: session, from: shard) }
            case .nodesMessage(let text):
                if let message = NodesMessage(text) { log?.handle(.receivedOfNodes(message), of: shard) }
            }
        }
        links[shard] = link
        link.connect()
    }

    func disconnect(_ shard: Int) {
        links[shard]?.close()
        links[shard] = nil
    }

    func send(_ call: ShardCall, to shard: Int) {
        links[shard]?.send(call.commands(database: addresses[shard].database)) { [weak log] replies in
            log?.handle(.answered(ShardAnswer(to: call, replies)), of: shard)
        }
    }

    func subscribe(_ sessions: [SessionID], of shard: Int) { links[shard]?.change("SUBSCRIBE", sessions) }

    func unsubscribe(_ session: SessionID, of shard: Int) { links[shard]?.change("UNSUBSCRIBE", [session]) }

    func flush() { for link in links { link?.flush() } }

    func encode(_ snapshot: CommandSnapshot, _ done: @escaping ([UInt8]) -> Void) {
        loop.runOnThreadPool(snapshot.encode, done)
    }

    func shutDown() {
        ticker?.close()
        ticker = nil
        for shard in links.indices { disconnect(shard) }
    }
}
