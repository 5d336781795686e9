import DequeModule
import Dispatch
import Logging
import SignalingCore
import SignalingProtocol
import Synchronization

/// The thread that writes to an archive. It commits what waits in one transaction, and repeats it while the disk is full.
///
/// Unchecked: `waiting` and `shownTotals` have locks, and the rest is confined to the queue.
final class ArchiveWriter: @unchecked Sendable {
    private struct Item: Sendable {
        let work: ArchiveStore.Work
        let number: UInt64?
    }

    private struct Waiting {
        var items: Deque<Item> = []
        /// With the numbers of their answers.
        var sweeps: Deque<(now: WallTime, number: UInt64)> = []
        var isScheduled = false
        /// When the loop waits no longer for the thread.
        var deadline = DispatchTime.distantFuture
    }

    /// What the thread writes to.
    private enum Target {
        case open(OpenArchive)
        /// Nothing can be written any more, for this reason.
        case closed(ArchiveFault)
    }

    /// The most messages of a transaction, unless a single step has more.
    private static let rowLimit = 128
    private static let retryDelay = DispatchTimeInterval.seconds(1)
    /// The steps of a sweep between two transactions while the common bound is exceeded. With fewer, what comes at full
    /// speed would be twice the bound before the sweep has found what to trim.
    private static let overBoundStepCount = 8

    private let queue = DispatchQueue(label: "signalbox.history")
    private let waiting = Mutex(Waiting())
    private let shownTotals: Mutex<(totals: ArchiveTotals, usedByteCount: Int)>
    private let place: ArchivePlace
    private let reading: ArchiveReading
    private let answers: ArchiveAnswers
    private var target: Target
    /// Without a number nobody has asked for it.
    private var sweep: (sweep: ArchiveSweep, number: UInt64?)?
    /// The bytes that the last such sweep has left.
    private var lastByteCount = 0
    private var isStalled = false
    /// Content was erased that the write-ahead log may still have.
    private var mustTruncate = false
    /// Which file the write-ahead log is.
    private var writeAheadLog: FileIdentity?
    /// Set while the writer is created, and cancelled once.
    private let timer: any DispatchSourceTimer
    /// How far the first work of those that wait has got, if it erases the messages of a user.
    private var erasedThrough = Int64.min

    init(_ opened: OpenArchive, at place: ArchivePlace, reading: ArchiveReading, answers: ArchiveAnswers) {
        target = .open(opened)
        self.place = place
        self.reading = reading
        self.answers = answers
        shownTotals = Mutex((opened.store.totals, opened.store.usedByteCount))
        writeAheadLog = place.files.logIdentity
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.checkFiles() }
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.activate()
        // The last process may have erased something just before it ended.
        mustTruncate = place.files.hasLog
        if mustTruncate { queue.async { [self] in truncate() } }
    }

    deinit { timer.cancel() }

    var totals: ArchiveTotals { shownTotals.withLock { $0.totals } }
    /// The bytes of the pages that the file uses.
    var usedByteCount: Int { shownTotals.withLock { $0.usedByteCount } }
    /// Whether work waits or is under way.
    var isBusy: Bool { waiting.withLock { $0.isScheduled } }

    func add(_ work: ArchiveStore.Work, _ number: UInt64?) {
        add { $0.items.append(Item(work: work, number: number)) }
    }

    func addSweep(at now: WallTime, _ number: UInt64) { add { $0.sweeps.append((now, number)) } }

    private func add(_ change: (inout Waiting) -> Void) {
        let mustSchedule = waiting.withLock { waiting in
            change(&waiting)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if mustSchedule { queue.async { [self] in writeAll() } }
    }

    /// The works that wait.
    var waitingCount: Int { waiting.withLock { $0.items.count } }

    /// Writes what waits until nothing does, or it cannot be written, or until the deadline.
    func write(by deadline: DispatchTime) {
        waiting.withLock { $0.deadline = deadline }
        queue.sync { while !isLate, case .wrote = writeNext() {} }
    }

    func countLostOrders() {
        queue.sync { if case .open(let opened) = target { opened.tail.countLostOrders() } }
    }

    private var isLate: Bool { waiting.withLock { $0.deadline } < .now() }

    /// Writes what waits, and closes the database. Returns when the thread uses it no more.
    func close(by deadline: DispatchTime) {
        write(by: deadline)
        queue.sync {
            if waitingCount > 0 {
                place.logger.warning(
                    "the history lacks messages that only the command log has; keep both files together",
                    metadata: ["path": "\(place.files.path)"])
            }
            if case .open(let opened) = target {
                opened.checkpoints.stop()
                // What cannot be copied now stays in the write-ahead log.
                try? opened.store.database.checkpoint(.truncate)
            }
            target = .closed(ArchiveFault("the history is closed"))
        }
    }

    // MARK: - The thread

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

    private enum Step { case wrote, idle, stalled }

    private func writeAll() {
        // Otherwise the process ends, and the loop waits no longer.
        while !isLate {
            switch writeNext() {
            case .wrote: continue
            case .idle: return truncate()
            case .stalled: return queue.asyncAfter(deadline: .now() + Self.retryDelay) { [self] in writeAll() }
            }
        }
    }

    /// Commits what waits, and a step of a sweep.
    private func writeNext() -> Step {
        let items = take()
        if let first = items.first, first.work.isErasureOfUser, case .erase(let scope, let session) = first.work {
            return eraseStep(scope, session, first.number)
        }
        if !items.isEmpty {
            let isStalled = !perform(
                { store throws(DatabaseError) in
                    for item in items { try store.execute(item.work) }
                },
                answer: { [self] result in
                    waiting.withLock { $0.items.removeFirst(items.count) }
                    for case .erase in items.map(\.work) { mustTruncate = true }
                    answers.give(items.compactMap { item in item.number.map { ($0, result.map { .done }) } })
                })
            if isStalled { return .stalled }
        }
        if sweep == nil { sweep = nextSweep() }
        if sweep == nil { return items.isEmpty && !hasWork ? .idle : .wrote }
        for _ in 0..<(isOverBound ? Self.overBoundStepCount : 1) {
            guard let (current, number) = sweep else { break }
            if !perform(current, number) { return .stalled }
        }
        return .wrote
    }

    private var isOverBound: Bool {
        guard case .open(let opened) = target else { return false }
        return opened.store.usedByteCount > opened.store.bounds.totalByteCount
    }

    /// Takes a step of a sweep.
    ///
    /// - Returns: false if it has to be repeated later.
    private func perform(_ current: ArchiveSweep, _ number: UInt64?) -> Bool {
        var next = current
        return perform(
            { store throws(DatabaseError) in
                next = current
                try next.step(store)
            },
            answer: { [self] result in
                sweep = (next, number)
                let isOver = if case .failure = result { true } else { next.isDone }
                guard isOver else { return }
                sweep = nil
                if let number {
                    answers.give([(number, result.map { .forgotten(next.forgotten) })])
                } else {
                    lastByteCount = usedByteCount
                }
            })
    }

    /// Erases the messages of a user, in transactions of a bounded size. The state of the session still says what is erased:
    /// no page has it meanwhile.
    private func eraseStep(_ scope: ErasureScope, _ session: SessionID, _ number: UInt64?) -> Step {
        var next: Int64?
        let isStalled = !perform(
            { [erasedThrough] store throws(DatabaseError) in
                next = try store.eraseMessages(in: scope, of: session, after: erasedThrough)
            },
            answer: { [self] result in
                if case .success = result, let next { return erasedThrough = next }
                erasedThrough = .min
                waiting.withLock { _ = $0.items.removeFirst() }
                mustTruncate = true
                if let number { answers.give([(number, result.map { .done })]) }
            })
        return isStalled ? .stalled : .wrote
    }

    /// The next work of one transaction. It waits on until it is committed.
    private func take() -> [Item] {
        waiting.withLock { waiting in
            var items: [Item] = []
            var rows = 0
            for item in waiting.items {
                rows += item.work.rowCount
                if !items.isEmpty, rows > Self.rowLimit || item.work.isErasureOfUser { break }
                items.append(item)
                if item.work.isErasureOfUser { break }
            }
            if items.isEmpty, waiting.sweeps.isEmpty, sweep == nil { waiting.isScheduled = false }
            return items
        }
    }

    private func nextSweep() -> (sweep: ArchiveSweep, number: UInt64?)? {
        guard case .open(let opened) = target else {
            waiting.withLock { waiting in
                for sweep in waiting.sweeps { answers.give([(sweep.number, .failure(ArchiveFault("it is closed")))]) }
                waiting.sweeps = []
            }
            return nil
        }
        if let due = ArchiveSweep.due(opened.store, lastByteCount: lastByteCount) { return (due, nil) }
        return waiting.withLock { waiting in
            // Bounds that were changed before the sweep hold for it, also if they came after this turn's work.
            let areBoundsNew = waiting.items.contains { if case .changeBounds = $0.work { true } else { false } }
            return areBoundsNew ? nil : waiting.sweeps.popFirst()
        }.map { now, number in
            opened.tail.write(sweptAt: now.milliseconds)
            return (ArchiveSweep(now: now, bounds: opened.store.bounds), number)
        }
    }

    private var hasWork: Bool { waiting.withLock { !$0.items.isEmpty || !$0.sweeps.isEmpty } }

    /// Executes a transaction, and passes on its result.
    ///
    /// - Returns: false, without a result, if it has to be repeated later.
    private func perform(
        _ body: (ArchiveStore) throws(DatabaseError) -> Void, answer: (Result<Void, ArchiveFault>) -> Void
    ) -> Bool {
        var hasBegunAnew = false
        while true {
            guard case .open(let opened) = target else {
                guard case .closed(let fault) = target else { return false }
                answer(.failure(fault))
                return true
            }
            let store = opened.store
            do throws(DatabaseError) {
                try store.transaction { () throws(DatabaseError) in try body(store) }
            } catch {
                if case .damaged = error.kind, hasBegunAnew {
                    // Not the file is at fault, and another one would not help.
                    fail(place.files.archiveFault(error))
                } else if mustWait(after: error, opened) {
                    return false
                }
                hasBegunAnew = true
                continue
            }
            let shown = (store.totals, store.usedByteCount)
            shownTotals.withLock { $0 = shown }
            noteStall(nil)
            answer(.success(()))
            // Afterwards: what is committed is not repeated, whatever becomes of a checkpoint.
            do throws(DatabaseError) {
                try opened.checkpoints.committed(on: store.database)
            } catch {
                switch error.kind {
                case .full, .busy: break
                case .damaged, .inputOutput: _ = mustWait(after: error, opened)
                }
            }
            return true
        }
    }

    /// Reacts to a failure.
    ///
    /// - Returns: whether the same can be repeated later; otherwise the target is another one now.
    private func mustWait(after error: DatabaseError, _ opened: OpenArchive) -> Bool {
        switch error.kind {
        case .full, .busy:
            // Copying the write-ahead log into the database lets its file be used from the start again.
            if error.kind == .full { try? opened.store.database.checkpoint(.restart) }
            noteStall(place.files.archiveFault(error))
            return true
        case .damaged:
            beginAnew(opened, error)
            return false
        case .inputOutput:
            fail(place.files.archiveFault(error))
            return false
        }
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

    /// Lets the write-ahead log forget what was erased (HIS-9). A reader may hold it back.
    private func truncate() {
        guard mustTruncate, case .open(let opened) = target else { return }
        do throws(DatabaseError) {
            try opened.store.database.checkpoint(.truncate)
            mustTruncate = false
        } catch {
            queue.asyncAfter(deadline: .now() + Self.retryDelay) { [self] in truncate() }
        }
    }
}

/// The thread that reads an archive.
///
/// Unchecked: everything that changes is confined to the queue.
final class ArchiveReading: @unchecked Sendable {
    enum Request: Sendable {
        case page(HistoryRequest, SessionID)
        case lastSeq(SessionID)
    }

    private let queue = DispatchQueue(label: "signalbox.history-reader")
    private let answers: ArchiveAnswers
    private let path: String
    private let logger: Logger
    private var reader: ArchiveReader?
    private var hasFailed = false

    init(_ reader: ArchiveReader, path: String, answers: ArchiveAnswers, logger: Logger) {
        self.reader = reader
        self.path = path
        self.answers = answers
        self.logger = logger
    }

    func read(_ request: Request, _ number: UInt64) {
        queue.async { [self] in answers.give([(number, outcome(of: request))]) }
    }

    /// Closes the connection, and uses another one if there is one.
    func use(_ new: ArchiveReader?) { queue.sync { reader = new } }

    private func outcome(of request: Request) -> ArchiveAnswers.Outcome {
        guard let reader else { return .failure(ArchiveFault("the history is closed")) }
        do throws(DatabaseError) {
            let content: ArchiveAnswers.Content
            switch request {
            case .page(let request, let session):
                content = .page(
                    try reader.page(request, of: session) {
                        logger.error(
                            "messages of a history were changed on the disk, and are left out",
                            metadata: ["path": "\(path)", "session": "\(session)"])
                    })
            case .lastSeq(let session): content = .lastSeq(try reader.lastSeq(of: session))
            }
            hasFailed = false
            return .success(content)
        } catch {
            if !hasFailed { logger.error("the history cannot be read: \(error)", metadata: ["path": "\(path)"]) }
            hasFailed = true
            return .failure(ArchiveFault("\(error)"))
        }
    }
}
