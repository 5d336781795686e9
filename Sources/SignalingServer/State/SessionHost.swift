import Logging
import SignalingCore
import SignalingProtocol
import SignalingSQLite
import SignalingTokens
import SignalingTransport

/// The engine of a server, and the log of commands if its sessions outlive the process.
///
/// Confined to the loop.
struct SessionHost {
    let engine: any SessionEngine
    /// `nil` when the sessions are in memory.
    let log: SQLiteCommandLog?
    /// The same log, with measurements.
    let metered: MeteredCommandLog?

    /// Sessions in memory, which end with the process.
    static func inMemory(bounds: SessionState.Bounds) -> SessionHost {
        SessionHost(engine: MemoryEngine(bounds: bounds, makeEpoch: makeEpoch), log: nil, metered: nil)
    }

    /// Sessions in the command log of a state folder. Continues those of the last process.
    ///
    /// - Parameters:
    ///   - folder: private, and locked by this process.
    ///   - onFault: called on the loop when the log has stopped. The process must end.
    static func durable(
        folder: String, durability: Durability, bounds: SessionState.Bounds, loop: LoopThread, logger: Logger,
        onFault: @escaping (StateFolderError) -> Void
    ) throws(StateFolderError) -> SessionHost {
        do throws(CommandLogFault) {
            let (log, kept) = try SQLiteCommandLog.open(
                folder: folder, durability: durability, now: { [loop] in loop.now }, wallTime: .current, logger: logger,
                post: { [loop] in loop.post($0) })
            var randomness = SystemRandomNumberGenerator()
            let metered = MeteredCommandLog(log, now: { [loop] in loop.now })
            let engine = LoggedEngine(
                log: metered, run: RunID(randomness.next()), bounds: bounds, now: loop.now, makeEpoch: makeEpoch)
            let unreadable = engine.restore(kept)
            report(kept, engine, unreadable, to: logger)
            log.onHealthChange = { health in
                if case .failed(let fault) = health { onFault(StateFolderError("\(fault)")) }
            }
            return SessionHost(engine: engine, log: log, metered: metered)
        } catch {
            throw StateFolderError(error.message)
        }
    }

    /// Keeps the commands that were appended, and closes the log. Waits for the disk.
    ///
    /// - Throws: when a part could not be kept. The next process continues as after a crash.
    func close(now: MonotonicInstant) throws(CommandLogFault) {
        engine.endSessions()
        engine.advance(to: now)
        try log?.close()
    }

    /// Posts the webhook events of the last process for which it has no answer.
    func reportUntold() { (engine as? LoggedEngine)?.reportUntold() }

    /// Why the server must not be given new work, for `/readyz`; `nil` when it may.
    var obstacle: String? {
        switch log?.health {
        case nil, .keeping: nil
        case .stalled(let fault), .failed(let fault): fault.code.description
        }
    }

    private static func makeEpoch() -> Epoch {
        var randomness = SystemRandomNumberGenerator()
        return Epoch(using: &randomness)
    }

    private static func report(
        _ kept: KeptCommands, _ engine: LoggedEngine, _ unreadable: [SessionID], to logger: Logger
    ) {
        if !unreadable.isEmpty {
            logger.error(
                "some sessions of the last run cannot be read, and their clients begin new ones",
                metadata: ["sessions": "\(unreadable.count)"])
        }
        if engine.sessionCount > 0 {
            logger.info("restored the sessions of the last run", metadata: ["sessions": "\(engine.sessionCount)"])
        }
    }
}
