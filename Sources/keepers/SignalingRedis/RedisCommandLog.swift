import DequeModule
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// The command log of several nodes: Redis orders the commands of each session, keeps them, and passes them to all nodes.
///
/// Every method is called on one thread, and none of them waits. Redis may be away at any time: commands wait then, and
/// are sent when it is back, at most once each (LOG-3). The rules are in ``RedisLogState``; this class carries out what
/// they decide.
public final class RedisCommandLog: SharedCommandLog, RedisPortUser {
    public weak var observer: (any CommandLogObserver)?
    public weak var nodeObserver: (any SharedCommandLogObserver)?
    /// Called when ``health`` changes.
    public var onHealthChange: ((RedisLogHealth) -> Void)?
    /// Called when no Redis was reachable for so long that the other nodes may have declared this one lost, and when
    /// that is over (LOG-34).
    public var onIsolation: ((Bool) -> Void)?
    /// For measurements: the time from an append to its confirmation, once for each turn and session.
    public var onConfirmed: ((Duration) -> Void)?

    /// How long Redis keeps a session that sleeps because of its history: as long as the newest message may last (HIS-3).
    public var sleepingLife = Duration.seconds(7 * 86_400)

    private var state: RedisLogState
    private let port: any RedisPort
    private let logger: Logger
    /// What is still to be carried out. The engine may call the log from a report: what follows from that waits here.
    private var queue: Deque<RedisLogEffect> = []
    /// How many effects of the queue tell the engine of a session.
    private var reportCount = 0
    private var isCarryingOut = false
    /// Losses that became known before the log had an observer.
    private var earlyLosses: Deque<(run: RunID, time: MonotonicInstant, orphans: [SessionID])> = []
    private var onOpened: ((Result<RedisCommandLog, CommandLogFault>) -> Void)?
    private var onClosed: (() -> Void)?

    /// - Parameters:
    ///   - seed: random. Names that no other process makes follow from it.
    ///   - onOpened: called with the log, or with the reason why it cannot be used. It holds the log until then.
    package init(
        _ settings: [ShardSettings], run: RunID, seed: UInt64, times: LogTimes, port: any RedisPort, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) {
        state = RedisLogState(settings, run: run, seed: seed, times: times, now: port.now)
        self.port = port
        self.logger = logger
        self.onOpened = { result in withExtendedLifetime(self) { onOpened(result) } }
    }

    deinit { port.shutDown() }

    /// The name of this life of the process. It changes when the other nodes declare this node lost.
    public var run: RunID { state.run }
    public var inFlightByteCount: Int { state.inFlightByteCount }
    public var health: RedisLogHealth { state.fault.map { .stalled($0) } ?? .keeping }
    /// The nodes that may be alive, with this one. With several Redis addresses, of the one that knows the most.
    public var nodeCount: Int { state.nodeCount }

    /// Waits until the commands that were appended are confirmed, but not for long, and tells the other nodes that this
    /// one stops. Entries are delivered meanwhile. `onClosed` is called on the loop.
    public func close(onClosed: @escaping () -> Void) {
        guard self.onClosed == nil else { return onClosed() }
        self.onClosed = onClosed
        state.beginClosing(now: port.now)
        carryOut()
    }

    // MARK: - CommandLog

    public func time(at now: MonotonicInstant) -> MonotonicInstant { state.logTime(at: now) }

    public func append(_ commands: [CommandAppend], now: MonotonicInstant) { handle(.append(commands)) }
    public func keep(_ snapshot: CommandSnapshot) { handle(.keep(snapshot)) }
    public func remove(_ session: SessionID, through position: LogPosition) {
        handle(.remove(session, through: position))
    }

    public func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason) {
        let restricted = restrictedLife(of: reason)
        // Redis counts whole seconds.
        let life = max(restricted, reason.hasHistory ? sleepingLife : .seconds(1))
        handle(.sleep(snapshot, life: life, restricted: restricted))
    }

    private func restrictedLife(of reason: SleepReason) -> Duration {
        switch reason.restrictionsEnd {
        case nil: .zero
        // The function of older versions knows no life without an end.
        case .whenLifted: .seconds(100 * 365 * 86_400)
        case .at(let end): end.duration(since: state.logTime(at: port.now)) + .seconds(1)
        }
    }

    // MARK: - SharedCommandLog

    public func open(_ session: SessionID) { handle(.open(session)) }
    public func close(_ session: SessionID) { handle(.close(session)) }
    public func catchUp(_ session: SessionID) { handle(.catchUp(session)) }
    public func relay(_ bytes: [UInt8], of session: SessionID) { handle(.relay(bytes, of: session)) }
    public func lossTime(of run: RunID) -> MonotonicInstant? { state.lossTime(of: run) }

    private func handle(_ request: LogRequest) {
        if let session = state.handle(request, now: port.now) { withholdReports(of: session) }
        carryOut()
    }

    /// The engine has closed the session, or follows it anew: what it was to be told of it is void.
    private func withholdReports(of session: SessionID) {
        // An engine that adopts the sessions of a lost node opens thousands in a row, each with effects in the queue.
        if reportCount == 0 { return }
        queue.removeAll { $0.isReport(of: session) }
        reportCount = queue.count { $0.isReportOfSession }
    }

    // MARK: - The port's side

    package func tick() {
        while let nodeObserver, let loss = earlyLosses.popFirst() {
            nodeObserver.log(lost: loss.run, at: loss.time, orphans: loss.orphans)
        }
        state.tick(now: port.now)
        carryOut()
    }

    package func handle(_ event: RedisLogState.LinkEvent, of shard: Int) {
        state.handle(event, of: shard, now: port.now)
        carryOut()
    }

    package func receive(_ event: RedisLinkEvent, of shard: Int) {
        switch event {
        case .ready(let forgetsNothing): handle(.ready(forgetsNothing: forgetsNothing), of: shard)
        case .lost(let fault): handle(.lost(fault), of: shard)
        case .subscription(let session, let isConfirmed):
            handle(.subscription(session, isConfirmed: isConfirmed), of: shard)
        case .message(let session, let bytes):
            let omitsOwn = state.hasOwnCommands(of: session)
            let message = bytes.withUnsafeBytes { ChannelMessage($0, reader: run, omitsOwn: omitsOwn) }
            if let message { handle(.received(message, session), of: shard) }
        case .nodesMessage(let text):
            if let message = NodesMessage(text) { handle(.receivedOfNodes(message), of: shard) }
        }
    }

    // MARK: - Carrying out

    private func carryOut() {
        takeEffects()
        if isCarryingOut { return }
        isCarryingOut = true
        withExtendedLifetime(self) {
            while let effect = queue.popFirst() {
                if effect.isReportOfSession { reportCount -= 1 }
                carryOut(effect)
                takeEffects()
            }
        }
        isCarryingOut = false
        port.flush()
    }

    private func takeEffects() {
        for effect in state.takeEffects() {
            if effect.isReportOfSession { reportCount += 1 }
            queue.append(effect)
        }
    }

    private func carryOut(_ effect: RedisLogEffect) {
        switch effect {
        case .connect(let shard): port.connect(shard)
        case .disconnect(let shard): port.disconnect(shard)
        case .call(let shard, let call):
            port.send(call.commands(database: port.database(of: shard)), to: shard) { [weak self] replies in
                self?.handle(.answered(ShardAnswer(to: call, replies)), of: shard)
            }
        case .subscribe(let shard, let sessions): port.subscribe(sessions, of: shard)
        case .unsubscribe(let shard, let session): port.unsubscribe(session, of: shard)
        case .encode(let follow, let snapshot):
            port.encode(snapshot) { [weak self] bytes in
                guard let self else { return }
                state.snapshotEncoded(follow, snapshot, bytes, now: port.now)
                carryOut()
            }
        case .askForState(let follow): askForState(follow)
        case .report(let report, let session): self.report(report, session)
        case .reportLost(let run, let time, let orphans):
            guard let nodeObserver else { return earlyLosses.append((run, time, orphans)) }
            nodeObserver.log(lost: run, at: time, orphans: orphans)
        case .reportContinues(let run): nodeObserver?.log(continuesAs: run)
        case .confirmed(let latency): onConfirmed?(latency)
        case .started(let fault):
            let done = onOpened
            onOpened = nil
            done?(fault.map { .failure($0) } ?? .success(self))
        case .isolated(let isIsolated): onIsolation?(isIsolated)
        case .healthChanged(let fault): onHealthChange?(fault.map { .stalled($0) } ?? .keeping)
        case .closed:
            let done = onClosed
            onClosed = nil
            port.shutDown()
            done?()
        case .note(let notice): log(notice)
        }
    }

    private func askForState(_ follow: FollowID) {
        guard let snapshot = nodeObserver?.snapshot(of: follow.session) else {
            return state.stateAsked(follow, nil, now: port.now)
        }
        port.encode(snapshot) { [weak self] bytes in
            guard let self else { return }
            state.stateAsked(follow, (snapshot.position, bytes), now: port.now)
            carryOut()
        }
    }

    private func report(_ report: SessionReport, _ session: SessionID) {
        switch report {
        case .confirmed(let entries): observer?.log(confirmed: entries)
        case .opened(let kept): nodeObserver?.log(opened: kept)
        case .caughtUp: nodeObserver?.log(caughtUp: session)
        case .relayed(let bytes): nodeObserver?.log(relayed: bytes, of: session)
        case .dropped: nodeObserver?.log(dropped: session)
        case .kept(let position, let byteCount): observer?.log(kept: position, of: session, byteCount: byteCount)
        }
    }
}

extension RedisCommandLog {
    private func log(_ notice: RedisLogNotice) {
        switch notice {
        case .sessionDropped(let session, let reason):
            logger.notice("a session is dropped: \(reason)", metadata: ["session": "\(session)"])
        case .sessionDamaged(let session):
            logger.error(
                "another program has changed the keys of a session in Redis, so the session begins anew",
                metadata: ["session": "\(session)"])
        case .linkLost(let fault): logger.warning("\(fault)")
        case .declaredLost:
            logger.warning("the other nodes have declared this node lost: its clients connect again")
        case .stalled(let fault): logger.error("no commands are kept: \(fault)")
        case .keepsAgain: logger.notice("commands are kept again")
        }
    }
}

/// Whether a log in Redis can keep commands.
public enum RedisLogHealth: Equatable, Sendable {
    /// Commands are kept. Next: `stalled`.
    case keeping
    /// Nothing was kept for two seconds. The log tries again until it succeeds, and confirms nothing meanwhile. Next:
    /// `keeping`.
    case stalled(CommandLogFault)
}
