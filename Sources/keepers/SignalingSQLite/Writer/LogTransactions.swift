import DequeModule
import Logging
import SignalingCore
import SignalingProtocol

/// Commits batches, reports their outcome, and decides what a failure means (LOG-23). Used on one thread at a time: the
/// writer's, or the loop's for a direct commit.
final class LogTransactions: DatabaseWorker {
    /// What is committed next. A batch that was stalled stays as it is.
    private var batch = WorkBatch()
    private let store: CommandStore
    private let files: DatabaseFiles
    private let tail: TailMark
    private let checkpoints: Checkpoints
    private let clock: FolderClock
    private let now: @Sendable () -> MonotonicInstant
    private let reports: LogReports
    private let logger: Logger
    private let writeAheadLog: FileIdentity?
    private var isStalled = false
    private var passes = ScrubPasses()
    private var cleaning = LogCleaning()

    init(
        store: CommandStore, files: DatabaseFiles, tail: TailMark, checkpoints: Checkpoints, clock: FolderClock,
        now: @escaping @Sendable () -> MonotonicInstant, reports: LogReports, logger: Logger
    ) {
        self.store = store
        self.files = files
        writeAheadLog = files.logIdentity
        self.tail = tail
        self.checkpoints = checkpoints
        self.clock = clock
        self.now = now
        self.reports = reports
        self.logger = logger
    }

    var hasWork: Bool { !batch.isEmpty }

    func take(from queue: inout Deque<LogWork>) { if batch.isEmpty { batch.take(from: &queue) } }

    func step(isSignOfLife: Bool) -> DatabaseStep {
        if isSignOfLife, let fault = files.removalFault(store.database, log: writeAheadLog, content: "sessions") {
            return fail(fault)
        }
        guard !batch.isEmpty || isSignOfLife else { return .done }
        do throws(DatabaseError) {
            let outcome = try store.commit(
                batch, aliveAt: clock.time(at: now()), isSignOfLife: isSignOfLife, mustWrite: cleaning.needsCommit)
            tail.write(store.lastPosition)
            reports.add(newReports(of: outcome))
            try checkpoints.committed(on: store.database)
            try cleaning.committed(isSignOfLife: isSignOfLife, store.database, checkpoints)
            scrub(after: outcome)
            batch = WorkBatch()
            return .done
        } catch {
            return react(to: error)
        }
    }

    private func scrub(after outcome: CommandStore.Outcome) {
        if let next = outcome.scrubbed {
            passes.note(next: next)
            if let next { reports.add([.scrubs(next)]) } else { cleaning.begin(store.database, checkpoints) }
        }
        for key in outcome.erased { passes.note(key) }
        if let pass = passes.beginIfDue(now()) { reports.add([.scrubs(pass)]) }
    }

    /// Commits a batch on the loop: only what takes no longer than its rows, and waits for nobody.
    ///
    /// - Returns: false if nothing has changed, and the writer's thread has to commit the batch.
    func commitDirectly(_ batch: WorkBatch) -> Bool {
        guard !isStalled, !cleaning.needsCommit, !store.mustDrop, checkpoints.areQuiet(store.database) else {
            return false
        }
        do throws(DatabaseError) {
            let outcome = try store.database.withoutWaiting { () throws(DatabaseError) in
                try store.commit(batch, aliveAt: clock.time(at: now()), isSignOfLife: false)
            }
            tail.write(store.lastPosition)
            reports.addOnLoop(newReports(of: outcome))
            return true
        } catch {
            return false
        }
    }

    /// Marks the database as stopped, with everything on the disk.
    func close(after stall: CommandLogFault?) throws(CommandLogFault) {
        if let stall { throw stall }
        checkpoints.stop()
        do throws(DatabaseError) {
            var pass = passes.takeRest()
            while let part = pass {
                pass =
                    try store.commit(
                        WorkBatch(direct: [.scrub(part)]), aliveAt: clock.time(at: now()), isSignOfLife: false
                    ).scrubbed ?? nil
            }
            try store.close(aliveAt: clock.time(at: now()))
        } catch {
            throw files.fault(error)
        }
    }

    private func newReports(of outcome: CommandStore.Outcome) -> [LogReports.Report] {
        var new: [LogReports.Report] = []
        if isStalled {
            isStalled = false
            logger.notice("the command log can write to its database again", metadata: ["path": "\(files.path)"])
            new.append(.health(.keeping))
        }
        if !outcome.confirmed.isEmpty { new.append(.confirmed(outcome.confirmed)) }
        for one in outcome.kept { new.append(.kept(one.position, one.session, byteCount: one.byteCount)) }
        for one in outcome.woken { new.append(.woken(one.session, one.key, one.snapshot)) }
        if outcome.forgottenCount > 0 { new.append(.forgotten(outcome.forgottenCount)) }
        if !outcome.asked.isEmpty { new.append(.needsSnapshots(outcome.asked)) }
        return new
    }

    private func react(to error: DatabaseError) -> DatabaseStep {
        let fault = files.fault(error)
        switch error.kind {
        case .full, .busy:
            // Copying the write-ahead log into the database lets its file be used from the start again.
            if error.kind == .full { try? store.database.checkpoint(.restart) }
            if !isStalled {
                isStalled = true
                logger.error("\(fault)")
                reports.add([.health(.stalled(fault))])
            }
            return .stalled(fault)
        case .damaged, .inputOutput:
            return fail(fault)
        }
    }

    private func fail(_ fault: CommandLogFault) -> DatabaseStep {
        logger.critical("\(fault)")
        reports.add([.health(.failed(fault))])
        return .failed(fault)
    }
}
