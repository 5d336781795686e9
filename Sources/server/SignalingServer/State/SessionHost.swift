import Dispatch
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingSQLite
import SignalingTokens
import SignalingTransport

/// The engine of a server, and what keeps its sessions.
///
/// Confined to the loop.
struct SessionHost {
    /// Where the commands of the sessions are kept.
    enum Store {
        /// Nowhere: the sessions end with the process.
        case memory
        /// In the state folder, for the next process.
        case folder(SQLiteCommandLog, LogMeter, SQLiteArchive)
        /// In Redis, for all servers that use it.
        case redis(RedisCommandLog, LogMeter)
    }

    let engine: any SessionEngine
    let store: Store
    let archive: any MessageArchive
    /// For metrics; `nil` if several servers share the sessions that sleep.
    let sleeperCount: (() -> Int)?

    /// Sessions in memory, which end with the process.
    static func inMemory(_ configuration: ServerConfiguration, loop: LoopThread) -> SessionHost {
        let archive = MemoryArchive(bounds: configuration.historyBounds, projectOf: project, date: { .current })
        let (start, date) = (loop.now, WallTime.current)
        let engine = MemoryEngine(
            bounds: configuration.sessionBounds, history: configuration.history, archive: archive,
            date: { WallTime(milliseconds: date.milliseconds + $0.duration(since: start).wholeMilliseconds) },
            projectOf: project, makeEpoch: makeEpochs())
        return SessionHost(
            engine: engine, store: .memory, archive: archive, sleeperCount: { [engine] in engine.sleeperCount })
    }

    /// Sessions that this server shares with all others on the same Redis.
    ///
    /// - Parameters:
    ///   - log: open. The host keeps it.
    ///   - archive: in the same Redis. The host keeps it.
    static func shared(
        _ log: RedisCommandLog, _ archive: RedisArchive, _ configuration: ServerConfiguration, now: MonotonicInstant,
        logger: Logger
    ) -> SessionHost {
        log.sleepingLife = configuration.historyBounds.age
        let engine = ClusterEngine(
            log: log, run: log.run, bounds: configuration.durableBounds,
            history: EngineHistory(policy: configuration.history, archive: archive), sleepers: archive, now: now,
            onUnreadable: { session, fault in
                logger.error(
                    "a session cannot be read; a later version of Signalbox may have written it",
                    metadata: ["session": "\(session)", "reason": "\(fault)"])
            }, projectOf: project, makeEpoch: makeEpochs())
        return SessionHost(engine: engine, store: .redis(log, LogMeter(log)), archive: archive, sleeperCount: nil)
    }

    /// Sessions in the command log of a state folder. Continues those of the last process.
    ///
    /// - Parameters:
    ///   - folder: private, and locked by this process.
    ///   - onFault: called on the loop when the log has stopped. The process must end.
    static func durable(
        folder: String, _ configuration: ServerConfiguration, loop: LoopThread, logger: Logger,
        onFault: @escaping (StateFolderError) -> Void
    ) throws(StateFolderError) -> SessionHost {
        do throws(CommandLogFault) {
            let archive = try SQLiteArchive(
                folder: folder, bounds: configuration.historyBounds, durability: configuration.durability,
                wallTime: .current, projectOf: project, logger: logger, post: { [loop] in loop.post($0) })
            let (log, kept) = try SQLiteCommandLog.open(
                folder: folder, durability: configuration.durability,
                overwritesDeleted: !configuration.history.keepsNothing, now: { [loop] in loop.now }, wallTime: .current,
                logger: logger,
                onLostOrders: { archive.noteLostOrders(of: $0, areCertain: $1) },
                post: { [loop] in loop.post($0) })
            if configuration.durability == .process { commitDirectly(log, on: loop) }
            var randomness = SystemRandomNumberGenerator()
            let engine = LocalEngine(
                log: log, run: RunID(randomness.next()), bounds: configuration.durableBounds,
                history: EngineHistory(policy: configuration.history, archive: archive), now: loop.now,
                projectOf: project, makeEpoch: makeEpochs())
            let meter = LogMeter(engine, on: loop)
            engine.onUnreadable = { session, fault in
                logger.error(
                    "a sleeping session cannot be read, and begins anew",
                    metadata: ["session": "\(session)", "reason": "\(fault)"])
            }
            engine.onRenewal = { session in
                logger.error(
                    "a client has newer events than the state folder, which is an older copy: a session begins a new epoch",
                    metadata: ["session": "\(session)"])
            }
            let unreadable = engine.restore(kept)
            report(kept, engine, unreadable, to: logger)
            archive.onHealthChange = { health in
                if case .failed(let fault) = health, fault.code == .removed { onFault(StateFolderError("\(fault)")) }
            }
            log.onHealthChange = { health in
                if case .failed(let fault) = health { onFault(StateFolderError("\(fault)")) }
            }
            return SessionHost(
                engine: engine, store: .folder(log, meter, archive), archive: archive,
                sleeperCount: { [log] in log.sleeperCount })
        } catch {
            throw StateFolderError(error.message)
        }
    }

    private static func commitDirectly(_ log: SQLiteCommandLog, on loop: LoopThread) {
        log.commitDirectly(
            SQLiteCommandLog.LoopAccess(
                hasTime: { [loop] in !loop.usage.isBusy }, now: { [loop] in loop.now },
                deliver: { [loop, weak log] in loop.beforeWait { log?.deliverReports() } }))
    }

    /// Ends the sessions of this process, or hands them to the next one: commits the commands that were appended, and
    /// closes the database. Waits for the disk. A log in Redis stays open until it is closed itself.
    ///
    /// - Throws: when a part could not be kept. The next process continues as after a crash.
    func close(now: MonotonicInstant) throws(CommandLogFault) {
        engine.endSessions()
        engine.advance(to: now)
        switch store {
        case .memory, .redis: break
        case .folder(let log, _, let archive):
            // The states have every message then.
            log.settle()
            let deadline = DispatchTime.now() + Self.archiveTime
            (engine as? LocalEngine)?.tellWaiting { session, steps in
                archive.finish(steps, of: session, by: deadline)
                return .now() < deadline
            }
            // First: the log's mark of a stop says that everything is on the disk.
            archive.close(by: deadline)
            try log.close()
        }
    }

    /// How long a stop writes messages to the history that wait in the sessions.
    private static let archiveTime = DispatchTimeInterval.seconds(10)

    /// Posts the webhook events of the last process for which it has no answer.
    func reportUntold() { (engine as? LocalEngine)?.reportUntold() }

    /// Why the server must not be given new work, for `/readyz`; `nil` when it may.
    var obstacle: String? {
        switch store {
        case .memory: nil
        case .folder(let log, _, let archive):
            switch log.health {
            case .keeping: archive.fault.flatMap { $0.code == .removed ? $0.code.description : nil }
            case .stalled(let fault), .failed(let fault): fault.code.description
            }
        case .redis(let log, _):
            switch log.health {
            case .keeping: nil
            case .stalled(let fault): "redis \(fault.code)"
            }
        }
    }

    /// Why kept messages do not reach the history at present, for `/readyz`; `nil` when they do. It is no obstacle: the
    /// sessions carry the messages meanwhile, and every server on the same disk or Redis would have the same one.
    var historyFault: String? { archive.fault.map(\.code.description) }

    static func project(of session: SessionID) -> APIKey? { try? SessionIDCodec.apiKey(of: session) }

    private static func makeEpochs() -> () -> Epoch {
        var randomness = BufferedRandomness()
        return { Epoch(using: &randomness) }
    }

    private static func report(
        _ kept: KeptCommands, _ engine: LocalEngine, _ unreadable: [SessionID], to logger: Logger
    ) {
        if !unreadable.isEmpty {
            logger.error(
                "some sessions of the last run cannot be read, and their clients begin new ones",
                metadata: ["sessions": .stringConvertible(unreadable.count)])
        }
        if engine.sessionCount > 0 {
            logger.info(
                "restored the sessions of the last run", metadata: ["sessions": .stringConvertible(engine.sessionCount)]
            )
        }
    }
}
