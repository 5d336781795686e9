import EventLoop
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// The port on a libuv loop: a link to each Redis, and a timer. Confined to the loop's thread.
final class RedisLinks: RedisPort {
    private let addresses: [RedisAddress]
    private let tls: RedisTLS
    /// For each address with Sentinels. It outlives the links: an announcement ends one, and tells the next where to go.
    private let finders: [PrimaryFinder?]
    private let subscribes: Bool
    private let loop: EventLoop
    private var links: [RedisLink?]
    private var ticker: TimerHandle?
    private weak var user: (any RedisPortUser)?

    /// - Parameter subscribes: whether the user hears of messages.
    init(_ addresses: [RedisAddress], subscribes: Bool = true, loop: EventLoop) {
        self.addresses = addresses
        let tls = RedisTLS(addresses.first?.access ?? RedisAccess())
        self.tls = tls
        finders = addresses.map { $0.sentinels.isEmpty ? nil : PrimaryFinder($0, tls: tls, loop: loop) }
        self.subscribes = subscribes
        self.loop = loop
        links = Array(repeating: nil, count: addresses.count)
    }

    /// Begins to connect. The user holds this port.
    func serve(_ user: any RedisPortUser, tick: Duration) {
        self.user = user
        ticker = TimerHandle(on: loop) { [weak self, weak user] in
            user?.tick()
            for finder in self?.finders ?? [] { finder?.tick() }
        }
        ticker?.start(every: tick)
        user.tick()
    }

    var now: MonotonicInstant { EventLoop.now }

    func connect(_ shard: Int) {
        let link = RedisLink(
            address: addresses[shard], finder: finders[shard], tls: tls, loop: loop, subscribes: subscribes
        ) { [weak user] event in user?.receive(event, of: shard) }
        links[shard] = link
        link.connect()
    }

    func disconnect(_ shard: Int) {
        links[shard]?.close()
        links[shard] = nil
    }

    func database(of shard: Int) -> Int { addresses[shard].database }

    func send(_ commands: [RedisCommand], to shard: Int, answer: @escaping ([RedisReply]) -> Void) {
        links[shard]?.send(commands, answer)
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
