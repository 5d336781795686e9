import DequeModule
import Logging
import SignalingCore
import SignalingProtocol
import Synchronization

/// What an archive's thread is asked for. With the number of its answer, if somebody waits for one.
enum ArchiveWork: Sendable {
    case write(ArchiveStore.Work, UInt64?)
    case sweep(at: WallTime, UInt64)
    case countLostOrders
}

/// The sizes of an archive, as of its last transaction.
final class ArchiveSizes: Sendable {
    private let shown: Mutex<(totals: ArchiveTotals, usedByteCount: Int)>

    init(_ store: ArchiveStore) { shown = Mutex((store.totals, store.usedByteCount)) }

    func note(_ store: ArchiveStore) {
        let sizes = (store.totals, store.usedByteCount)
        shown.withLock { $0 = sizes }
    }

    var totals: ArchiveTotals { shown.withLock { $0.totals } }
    /// The bytes of the pages that the file uses.
    var usedByteCount: Int { shown.withLock { $0.usedByteCount } }
}

/// Commits what an archive is asked for, answers, and decides what a failure means. It commits what waits in one
/// transaction. Used on one thread at a time.
final class ArchiveTransactions: DatabaseWorker {
    /// What the thread writes to.
    private enum Target {
        case open(OpenArchive)
        /// Nothing can be written any more, for this reason.
        case closed(ArchiveFault)
    }

    /// The most messages of a transaction, unless a single step has more.
    private static let rowLimit = 128
    /// The steps of a sweep between two transactions while the common bound is exceeded. With fewer, what comes at full
    /// speed would be twice the bound before the sweep has found what to trim.
    private static let overBoundStepCount = 8

    private let place: ArchivePlace
    private let reading: ArchiveReading
    private let answers: ArchiveAnswers
    private let sizes: ArchiveSizes
    private var target: Target
    /// What is committed next. It waits on until it is committed.
    private var batch: [(work: ArchiveStore.Work, number: UInt64?)] = []
    private var sweeps: Deque<(now: WallTime, number: UInt64)> = []
    private var lostOrderCount = 0
    /// Without a number nobody has asked for it.
    private var sweep: (sweep: ArchiveSweep, number: UInt64?)?
    /// The bytes that the last such sweep has left.
    private var lastByteCount = 0
    private var isStalled = false
    /// Content was erased that the write-ahead log may still have.
    private var mustTruncate = false
    /// Which file the write-ahead log is.
    private var writeAheadLog: FileIdentity?
    /// How far the work has got, if it erases the messages of a user.
    private var erasedThrough = Int64.min

    init(
        _ opened: OpenArchive, at place: ArchivePlace, reading: ArchiveReading, answers: ArchiveAnswers,
        sizes: ArchiveSizes
    ) {
        target = .open(opened)
        self.place = place
        self.reading = reading
        self.answers = answers
        self.sizes = sizes
        writeAheadLog = place.files.logIdentity
        // The last process may have erased something just before it ended.
        mustTruncate = place.files.hasLog
    }

    var hasWork: Bool { !batch.isEmpty || !sweeps.isEmpty || sweep != nil }

    /// Takes the work of one transaction.
    func take(from queue: inout Deque<ArchiveWork>) {
        guard batch.isEmpty else { return }
        var rows = 0
        while let next = queue.first {
            switch next {
            case .write(let work, let number):
                rows += work.rowCount
                if !batch.isEmpty, rows > Self.rowLimit || work.isErasureOfUser { return }
                batch.append((work, number))
            case .sweep(let now, let number): sweeps.append((now, number))
            case .countLostOrders: lostOrderCount += 1
            }
            queue.removeFirst()
            if batch.last?.work.isErasureOfUser == true { return }
        }
    }

    func step(isSignOfLife: Bool) -> DatabaseStep {
        if isSignOfLife { checkFiles() }
        countLostOrders()
        let isIdle = batch.isEmpty
        if case .erase(let scope, let session)? = batch.first?.work, scope.senderEnd != nil {
            return eraseStep(scope, session).map { .stalled($0) } ?? .hasMore
        }
        if !isIdle, let stall = commitBatch() { return .stalled(stall) }
        if sweep == nil { sweep = nextSweep() }
        if sweep == nil {
            if isIdle { truncate() }
            return isIdle ? .done : .hasMore
        }
        for _ in 0..<(isOverBound ? Self.overBoundStepCount : 1) {
            guard let (current, number) = sweep else { break }
            if let stall = perform(current, number) { return .stalled(stall) }
        }
        return .hasMore
    }

    func close(after stall: CommandLogFault?) {
        if !batch.isEmpty {
            place.logger.warning(
                "the history lacks messages that only the command log has; keep both files together",
                metadata: ["path": "\(place.files.path)"])
        }
        if case .open(let opened) = target {
            opened.checkpoints.stop()
            // What cannot be copied now stays in the write-ahead log.
            try? opened.store.database.checkpoint(.truncate)
        }
    }

    /// Fails when the database was removed or replaced (LOG-23): the next process would not find what is written.
    private func checkFiles() {
        guard case .open(let opened) = target,
            let fault = place.files.removalFault(
                opened.store.database, log: writeAheadLog, content: "the history")
        else { return }
        reading.use(nil)
        opened.checkpoints.stop()
        // What has its name now is not this database's.
        opened.store.database.setKeepsLogOnClose(true)
        fail(fault)
    }

    private func countLostOrders() {
        for _ in 0..<lostOrderCount { if case .open(let opened) = target { opened.tail.countLostOrders() } }
        lostOrderCount = 0
    }

    private func commitBatch() -> CommandLogFault? {
        perform(
            { store throws(DatabaseError) in
                for item in batch { try store.execute(item.work) }
            },
            answer: { result in
                for case .erase in batch.map(\.work) { mustTruncate = true }
                answers.give(batch.compactMap { item in item.number.map { ($0, result.map { .done }) } })
                batch = []
            })
    }

    private var isOverBound: Bool {
        guard case .open(let opened) = target else { return false }
        return opened.store.usedByteCount > opened.store.bounds.totalByteCount
    }

    /// Takes a step of a sweep. Returns why it has to be repeated later.
    private func perform(_ current: ArchiveSweep, _ number: UInt64?) -> CommandLogFault? {
        var next = current
        return perform(
            { store throws(DatabaseError) in
                next = current
                try next.step(store)
            },
            answer: { result in
                sweep = (next, number)
                let isOver = if case .failure = result { true } else { next.isDone }
                guard isOver else { return }
                sweep = nil
                if let number {
                    answers.give([(number, result.map { .forgotten(next.forgotten) })])
                } else {
                    lastByteCount = sizes.usedByteCount
                }
            })
    }

    /// Erases the messages of a user, in transactions of a bounded size. The state of the session still says what is
    /// erased: no page has it meanwhile.
    private func eraseStep(_ scope: ErasureScope, _ session: SessionID) -> CommandLogFault? {
        var next: Int64?
        return perform(
            { store throws(DatabaseError) in
                next = try store.eraseMessages(in: scope, of: session, after: erasedThrough)
            },
            answer: { result in
                if case .success = result, let next { return erasedThrough = next }
                erasedThrough = .min
                mustTruncate = true
                if let number = batch[0].number { answers.give([(number, result.map { .done })]) }
                batch = []
            })
    }

    private func nextSweep() -> (sweep: ArchiveSweep, number: UInt64?)? {
        guard case .open(let opened) = target else {
            answers.give(sweeps.map { ($0.number, .failure(ArchiveFault("it is closed"))) })
            sweeps = []
            return nil
        }
        if let due = ArchiveSweep.due(opened.store, lastByteCount: lastByteCount) { return (due, nil) }
        return sweeps.popFirst().map { now, number in
            opened.tail.write(sweptAt: now.milliseconds)
            return (ArchiveSweep(now: now, bounds: opened.store.bounds), number)
        }
    }

    /// Executes a transaction, and passes on its result.
    ///
    /// - Returns: why it has to be repeated later, without a result; nil: it has one.
    private func perform(
        _ body: (ArchiveStore) throws(DatabaseError) -> Void, answer: (Result<Void, ArchiveFault>) -> Void
    ) -> CommandLogFault? {
        var hasBegunAnew = false
        while true {
            let opened: OpenArchive
            switch target {
            case .open(let archive): opened = archive
            case .closed(let fault):
                answer(.failure(fault))
                return nil
            }
            let store = opened.store
            do throws(DatabaseError) {
                try store.transaction { () throws(DatabaseError) in try body(store) }
            } catch {
                if case .damaged = error.kind, hasBegunAnew {
                    // Not the file is at fault, and another one would not help.
                    fail(place.files.archiveFault(error))
                } else if let stall = react(to: error, opened) {
                    return stall
                }
                hasBegunAnew = true
                continue
            }
            sizes.note(store)
            noteStall(nil)
            answer(.success(()))
            // Afterwards: what is committed is not repeated, whatever becomes of a checkpoint.
            do throws(DatabaseError) {
                try opened.checkpoints.committed(on: store.database)
            } catch {
                switch error.kind {
                case .full, .busy: break
                case .damaged, .inputOutput: _ = react(to: error, opened)
                }
            }
            return nil
        }
    }

    /// - Returns: why the same has to be repeated later; nil: the target is another one now.
    private func react(to error: DatabaseError, _ opened: OpenArchive) -> CommandLogFault? {
        switch error.kind {
        case .full, .busy:
            // Copying the write-ahead log into the database lets its file be used from the start again.
            if error.kind == .full { try? opened.store.database.checkpoint(.restart) }
            let fault = place.files.archiveFault(error)
            noteStall(fault)
            return fault
        case .damaged: beginAnew(opened, error)
        case .inputOutput: fail(place.files.archiveFault(error))
        }
        return nil
    }

    private func noteStall(_ fault: CommandLogFault?) {
        guard isStalled != (fault != nil) else { return }
        isStalled = fault != nil
        if let fault {
            place.logger.error("\(fault)")
            answers.report(.stalled(fault))
        } else {
            place.logger.notice("the history can be written to again", metadata: ["path": "\(place.files.path)"])
            answers.report(.keeping)
        }
    }

    /// Sets a damaged database aside, and goes on with a new one: new messages are worth more than a stop.
    private func beginAnew(_ opened: OpenArchive, _ error: DatabaseError) {
        reading.use(nil)
        opened.checkpoints.stop()
        // Closing must not change files that are set aside.
        opened.store.database.setKeepsLogOnClose(true)
        target = .closed(ArchiveFault("\(error)"))
        sweep = nil
        do throws(CommandLogFault) {
            let fault = CommandLogFault(.damaged, "it is damaged: \(error)")
            try place.setAside(fault)
            let (new, reader) = try place.open(bounds: opened.store.bounds)
            reading.use(reader)
            target = .open(new)
            writeAheadLog = place.files.logIdentity
        } catch {
            fail(error)
        }
    }

    private func fail(_ fault: CommandLogFault) {
        place.logger.critical("\(fault)")
        target = .closed(ArchiveFault(fault.message))
        answers.report(.failed(fault))
    }

    /// Lets the write-ahead log forget what was erased (HIS-9). A reader may hold it back: then until a later step.
    private func truncate() {
        guard mustTruncate, case .open(let opened) = target else { return }
        mustTruncate = (try? opened.store.database.checkpoint(.truncate)) == nil
    }
}
