import Logging
import SignalingCore
import SignalingProtocol

/// The command log of several nodes: Redis orders the commands of each session, keeps them, and passes them to all nodes.
///
/// Every method is called on the thread of the loop, and none of them waits. Redis may be away at any time: commands
/// wait then, and are sent when it is back, at most once each (LOG-3).
public final class RedisCommandLog: SharedCommandLog {
    public weak var observer: (any CommandLogObserver)?
    public weak var nodeObserver: (any SharedCommandLogObserver)?
    /// Called when ``health`` changes.
    public var onHealthChange: ((RedisLogHealth) -> Void)?
    /// For measurements: the time from an append to its confirmation, once for each turn and session.
    public var onConfirmed: ((Duration) -> Void)?
    public private(set) var health = RedisLogHealth.keeping
    public private(set) var inFlightByteCount = 0
    /// The name of this life of the process. It changes when the other nodes declare this node lost.
    public private(set) var run: RunID

    private let loop: RedisLoop
    private let times: LogTimes
    private let logger: Logger
    private var shards: [RedisShard] = []
    private var ticker: LoopTicker?
    private var clock: (log: MonotonicInstant, local: MonotonicInstant)?
    private var reportedLosses: Set<RunID> = []
    /// Losses that became known before the log had an observer.
    private var earlyLosses: [(run: RunID, time: MonotonicInstant, orphans: [SessionID])] = []
    private var start: Start?
    private var closing: Closing?

    private struct Start {
        let deadline: MonotonicInstant
        var outcome: Result<Void, CommandLogFault>?
        let done: (Result<RedisCommandLog, CommandLogFault>) -> Void
    }
    private struct Closing {
        let deadline: MonotonicInstant
        var hasSaidGoodbye = false
        var isReadyToEnd = false
        let done: () -> Void
    }

    // MARK: - Opening and closing

    /// Connects to Redis, checks that it can keep a log, and registers this node.
    ///
    /// - Parameters:
    ///   - addresses: one Redis, or several, over which the sessions are spread. Every node needs the same list in the same
    ///     order.
    ///   - run: a random name for this life of the process.
    ///   - loop: the loop on whose thread this method, and all others, are called.
    ///   - onOpened: called on the loop with the log, or with the reason why it cannot be used. The caller keeps the log; it
    ///     gives up everything when it is released.
    public static func open(
        _ addresses: [RedisAddress], run: RunID, loop: RedisLoop, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        open(addresses, run: run, loop: loop, logger: logger, times: LogTimes(), onOpened: onOpened)
    }

    static func open(
        _ addresses: [RedisAddress], run: RunID, loop: RedisLoop, logger: Logger, times: LogTimes,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        precondition(!addresses.isEmpty, "a Redis log needs an address")
        RedisConnection.ignoreBrokenPipes()
        let log = RedisCommandLog(run: run, loop: loop, times: times, logger: logger)
        log.begin(addresses, onOpened)
    }

    private init(run: RunID, loop: RedisLoop, times: LogTimes, logger: Logger) {
        self.run = run
        self.loop = loop
        self.times = times
        self.logger = logger
    }

    deinit { shutDown() }

    private func begin(
        _ addresses: [RedisAddress], _ done: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        // Nodes may know one Redis by different names, so the name matters only among several.
        let list = addresses.count == 1 ? "1" : addresses.map(\.description).joined(separator: " ")
        shards = addresses.enumerated().map { index, address in
            RedisShard(
                address: address, fingerprint: "\(Hexadecimal.text(JumpHash.fnv1a(list)))-\(index)",
                sharesClock: addresses.count > 1, loop: loop, times: times, logger: logger, owner: self)
        }
        // The closure holds the log until it is open.
        start = Start(deadline: loop.now().advanced(by: times.loading)) { result in
            withExtendedLifetime(self) { done(result) }
        }
        ticker = LoopTicker(loop: loop, every: times.tick) { [weak self] in self?.tick() }
        for shard in shards { shard.connect() }
    }

    private func advanceStart(_ now: MonotonicInstant) {
        guard let start else { return }
        switch start.outcome {
        case .success?:
            self.start = nil
            start.done(.success(self))
        case .failure(let fault)?: failStart(fault)
        case nil where now >= start.deadline:
            failStart(
                shards.lazy.compactMap { $0.stall()?.fault }.first ?? CommandLogFault(.silent, "Redis is silent."))
        case nil: return
        }
    }

    private func failStart(_ fault: CommandLogFault) {
        let done = start?.done
        start = nil
        shutDown()
        done?(.failure(fault))
    }

    /// Waits until the commands that were appended are confirmed, but not for long, and tells the other nodes that this
    /// one stops. Entries are delivered meanwhile. `onClosed` is called on the loop.
    public func close(onClosed: @escaping () -> Void) {
        guard closing == nil, ticker != nil else { return onClosed() }
        closing = Closing(deadline: loop.now().advanced(by: times.closing), done: onClosed)
    }

    private func advanceClosing(_ now: MonotonicInstant) {
        guard let closing else { return }
        if closing.isReadyToEnd || now >= closing.deadline { return finishClosing() }
        guard inFlightByteCount == 0, !closing.hasSaidGoodbye else { return }
        self.closing?.hasSaidGoodbye = true
        var remaining = shards.count
        for shard in shards {
            shard.carryOutRemovals(now, all: true)
            shard.sayGoodbye { [weak self] in
                remaining -= 1
                if remaining == 0 { self?.closing?.isReadyToEnd = true }
            }
        }
    }

    private func finishClosing() {
        let done = closing?.done
        closing = nil
        shutDown()
        done?()
    }

    private func shutDown() {
        ticker?.stop()
        ticker = nil
        for shard in shards { shard.close() }
    }

    // MARK: - CommandLog

    public func time(at now: MonotonicInstant) -> MonotonicInstant { logTime(at: now) }

    public func append(_ commands: [CommandAppend], now: MonotonicInstant) {
        for command in commands { inFlightByteCount += command.bytes.count }
        if shards.count == 1 { return shards[0].append(commands) }
        let parts = Dictionary(grouping: commands) { JumpHash.bucket(of: $0.session, count: shards.count) }
        for (index, part) in parts { shards[index].append(part) }
    }

    public func keep(_ snapshot: CommandSnapshot) { shard(of: snapshot.session).keep(snapshot) }

    public func remove(_ session: SessionID, through position: LogPosition) {
        shard(of: session).remove(session, through: position)
    }

    private func shard(of session: SessionID) -> RedisShard {
        shards[JumpHash.bucket(of: session, count: shards.count)]
    }

    /// The only Redis of a log with one address.
    var shardForTests: RedisShard { shards[0] }

    // MARK: - SharedCommandLog

    public func open(_ session: SessionID) { shard(of: session).open(session) }

    public func close(_ session: SessionID) { shard(of: session).close(session) }

    public func catchUp(_ session: SessionID) { shard(of: session).catchUp(session) }

    public func relay(_ bytes: [UInt8], of session: SessionID) { shard(of: session).relay(bytes, of: session) }

    public func lossTime(of run: RunID) -> MonotonicInstant? {
        if run == self.run { return nil }
        return shards.lazy.compactMap { $0.registry.losses[run] }.min()
    }

    /// The nodes that may be alive, with this one. With several Redis addresses, of the one that knows the most.
    public var nodeCount: Int { shards.lazy.map(\.registry.living.count).max() ?? 0 }

    // MARK: - Time

    private func tick() {
        withExtendedLifetime(self) {
            let now = loop.now()
            for shard in shards { shard.tick(now) }
            advanceStart(now)
            reportEarlyLosses()
            updateHealth(now)
            advanceClosing(now)
        }
    }

    private func reportEarlyLosses() {
        guard let nodeObserver, !earlyLosses.isEmpty else { return }
        let losses = earlyLosses
        earlyLosses = []
        for loss in losses { nodeObserver.log(lost: loss.run, at: loss.time, orphans: loss.orphans) }
    }

    private func updateHealth(_ now: MonotonicInstant) {
        guard start == nil else { return }
        let fault = shards.lazy.compactMap { shard -> CommandLogFault? in
            guard let stall = shard.stall(), now.duration(since: stall.since) >= self.times.stall else { return nil }
            return stall.fault
        }.first
        let new = fault.map { RedisLogHealth.stalled($0) } ?? .keeping
        guard new != health else { return }
        health = new
        switch new {
        case .keeping: logger.notice("commands are kept again")
        case .stalled(let fault): logger.error("no commands are kept: \(fault)")
        }
        onHealthChange?(new)
    }
}

extension RedisCommandLog: ShardOwner {
    func noteSettled(byteCount: Int) { inFlightByteCount -= byteCount }
    func noteConfirmed(after latency: Duration) { onConfirmed?(latency) }

    /// Replies tell the log's time, which is somewhat older when they arrive. So the estimate is behind, and never ahead of
    /// the entries.
    func note(logTime time: MonotonicInstant) {
        let now = loop.now()
        if clock == nil || time > logTime(at: now) || logTime(at: now).duration(since: time) > .milliseconds(20) {
            clock = (time, now)
        }
    }

    func logTime(at now: MonotonicInstant) -> MonotonicInstant {
        guard let clock else { return MonotonicInstant(nanoseconds: 0) }
        return clock.log.advanced(by: now.duration(since: clock.local))
    }

    func deliver(_ entries: [CommandEntry]) { observer?.log(confirmed: entries) }
    func opened(_ session: KeptCommands.Session) { nodeObserver?.log(opened: session) }
    func caughtUp(_ session: SessionID) { nodeObserver?.log(caughtUp: session) }
    func relayed(_ bytes: [UInt8], of session: SessionID) { nodeObserver?.log(relayed: bytes, of: session) }
    func dropped(_ session: SessionID) { nodeObserver?.log(dropped: session) }
    func snapshot(of session: SessionID) -> CommandSnapshot? { nodeObserver?.snapshot(of: session) }

    func kept(_ position: LogPosition, of session: SessionID, byteCount: Int) {
        observer?.log(kept: position, of: session, byteCount: byteCount)
    }

    func lost(_ lost: RunID, at time: MonotonicInstant, orphans: [SessionID]) {
        let isNews = reportedLosses.insert(lost).inserted
        if isNews {
            // A node that one Redis cannot reach is lost for all: its sockets have closed.
            for shard in shards where shard.registry.losses[lost] == nil { shard.declareLost(lost, isCertain: true) }
        }
        guard isNews || !orphans.isEmpty else { return }
        guard let nodeObserver else { return earlyLosses.append((lost, time, orphans)) }
        nodeObserver.log(lost: lost, at: time, orphans: orphans)
    }

    func wasDeclaredLost() {
        guard closing == nil else { return }
        let old = run
        run = RunID(UInt64.random(in: .min ... .max))
        logger.warning("the other nodes have declared this node lost: its clients connect again")
        for shard in shards { shard.forgetAll() }
        inFlightByteCount = 0
        for shard in shards { shard.continueAsAnotherRun(after: old) }
        nodeObserver?.log(continuesAs: run)
    }

    func shardStarted(_ fault: CommandLogFault?) {
        guard start != nil else { return }
        if let fault {
            // Redis may be starting, too.
            if fault.code != .loading, start?.outcome == nil { start?.outcome = .failure(fault) }
        } else if shards.allSatisfy(\.hasServed), start?.outcome == nil {
            start?.outcome = .success(())
        }
    }
}
