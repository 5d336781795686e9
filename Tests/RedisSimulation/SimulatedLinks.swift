import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingRedisCore

/// The port of one node's log in a simulation: its links to the simulated Redis. Calls and their answers take time, and
/// stay in their order; a link that breaks takes with it what is on its way.
package final class SimulatedLinks: RedisPort {
    private let time: any SimulatedTime
    let servers: [SimulatedRedis]
    private var links: [SimulatedLink?]
    package private(set) weak var log: RedisCommandLog?
    /// Runs an event on the node's loop, or later, or never.
    package var enter: (@escaping () -> Void) -> Void = { $0() }
    private let tick: Duration
    private var isShutDown = false
    /// Whether the network is slow now and then.
    package var isSlow = false
    /// Whether answers take a second longer.
    package var delaysAnswers = false
    /// Whether the node cannot reach Redis.
    package var isAway = false {
        didSet { if isAway { breakLinks() } }
    }
    /// Whether all notifications to this node are lost.
    package var losesMessages = false

    package init(_ time: any SimulatedTime, _ servers: [SimulatedRedis], tick: Duration) {
        self.time = time
        self.servers = servers
        self.tick = tick
        links = Array(repeating: nil, count: servers.count)
    }

    package func serve(_ log: RedisCommandLog) {
        self.log = log
        log.tick()
        scheduleTick()
    }

    private func scheduleTick() {
        time.schedule(after: tick) { [weak self] in
            guard let self, !isShutDown else { return }
            enter { [weak self] in self?.log?.tick() }
            scheduleTick()
        }
    }

    // MARK: - Faults

    /// Breaks all links: some calls that are on their way arrive without an answer.
    package func breakLinks() {
        for link in links { link?.end("the network failed") }
    }

    /// The process ends. What it has sent may still arrive.
    package func die() {
        isShutDown = true
        for link in links { link?.abandon() }
    }

    // MARK: - The port

    package var now: MonotonicInstant { time.now }

    package func connect(_ shard: Int) {
        let link = SimulatedLink(time, servers[shard]) { [weak self] event in
            self?.enter { [weak self] in self?.handle(event, of: shard) }
        }
        link.isSlow = { [weak self] in self?.isSlow ?? false }
        link.delaysAnswers = { [weak self] in self?.delaysAnswers ?? false }
        links[shard] = link
        if isAway { link.end("the network failed") } else { link.connect() }
    }

    private func handle(_ event: SimulatedLink.Event, of shard: Int) {
        // The process may have given the link up before it came to this event.
        guard !isShutDown, links[shard] === event.link else { return }
        switch event.content {
        case .ready: log?.receive(.ready(forgetsNothing: servers[shard].forgetsNothing), of: shard)
        case .lost(let text): log?.receive(.lost(CommandLogFault(.unreachable, text)), of: shard)
        case .answered(let replies, let answer): answer(replies)
        case .subscription(let session, let isConfirmed):
            log?.receive(.subscription(session, isConfirmed: isConfirmed), of: shard)
        case .message(let message, let channel):
            if losesMessages { return }
            if channel == SessionKeys.nodesChannel(database: 0) {
                log?.receive(.nodesMessage(String(decoding: message, as: UTF8.self)), of: shard)
            } else if let session = SessionKeys.session(ofChannel: channel, database: 0) {
                log?.receive(.message(session, message), of: shard)
            }
        }
    }

    package func disconnect(_ shard: Int) {
        links[shard]?.abandon()
        links[shard] = nil
    }

    package func database(of shard: Int) -> Int { 0 }
    package func send(_ commands: [RedisCommand], to shard: Int, answer: @escaping ([RedisReply]) -> Void) {
        links[shard]?.send(commands, answer)
    }
    package func subscribe(_ sessions: [SessionID], of shard: Int) {
        links[shard]?.change(sessions, isSubscribed: true)
    }
    package func unsubscribe(_ session: SessionID, of shard: Int) {
        links[shard]?.change([session], isSubscribed: false)
    }
    package func flush() {}

    package func encode(_ snapshot: CommandSnapshot, _ done: @escaping ([UInt8]) -> Void) {
        let bytes = snapshot.encode()
        time.schedule(after: .milliseconds(time.random(below: 5))) { [weak self] in
            self?.enter { [weak self] in if self?.isShutDown == false { done(bytes) } }
        }
    }

    package func shutDown() {
        die()
        links = links.map { _ in nil }
    }
}
