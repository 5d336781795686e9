import Dispatch
import Logging
import SignalingCore
import SignalingProtocol
import Synchronization

/// The thread that writes to an archive. It commits what waits in one transaction, and repeats it while the disk is full.
final class ArchiveWriter: @unchecked Sendable {
    private struct Item: Sendable {
        let work: ArchiveStore.Work
        let number: UInt64?
    }

    private struct Waiting {
        var items: [Item] = []
        var isScheduled = false
    }

    /// The most rows of a transaction, unless a single step has more.
    private static let rowLimit = 128
    private static let retryDelay = DispatchTimeInterval.seconds(1)

    private let queue = DispatchQueue(label: "signalbox.history")
    private let waiting = Mutex(Waiting())
    private let shownTotals: Mutex<ArchiveStore.Totals>
    private let answers: ArchiveAnswers
    private let path: String
    private let logger: Logger
    // Confined to the queue.
    private var store: ArchiveStore?
    private var isStalled = false
    /// Content was erased that the write-ahead log may still have.
    private var mustTruncate = false

    init(_ store: ArchiveStore, path: String, answers: ArchiveAnswers, logger: Logger) {
        self.store = store
        self.path = path
        self.answers = answers
        self.logger = logger
        shownTotals = Mutex(store.totals)
    }

    var totals: ArchiveStore.Totals { shownTotals.withLock { $0 } }
    /// Whether work waits or is under way.
    var isBusy: Bool { waiting.withLock { $0.isScheduled } }

    func add(_ work: ArchiveStore.Work, _ number: UInt64?) {
        let mustSchedule = waiting.withLock { waiting in
            waiting.items.append(Item(work: work, number: number))
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if mustSchedule { queue.async { [self] in writeAll() } }
    }

    func close() {
        queue.sync {
            while writeNext() == .wrote {}
            if mustTruncate { truncate() }
            try? store?.database.checkpoint(.truncate)
            store = nil
        }
    }

    private enum Step { case wrote, idle, stalled }

    private func writeAll() {
        while true {
            switch writeNext() {
            case .wrote: continue
            case .idle: break
            case .stalled: return queue.asyncAfter(deadline: .now() + Self.retryDelay) { [self] in writeAll() }
            }
            break
        }
        if mustTruncate { truncate() }
    }

    private func take() -> [Item] {
        waiting.withLock { waiting in
            var count = 0
            var rows = 0
            for item in waiting.items {
                rows += item.work.rowCount
                if count > 0, rows > Self.rowLimit { break }
                count += 1
                if case .sweep = item.work { break }
            }
            if count == 0 { waiting.isScheduled = false }
            return Array(waiting.items.prefix(count))
        }
    }

    private func writeNext() -> Step {
        guard let store else { return .idle }
        let items = take()
        if items.isEmpty { return .idle }
        var outcome = ArchiveAnswers.Outcome.success(.done)
        do throws(DatabaseError) {
            var done = try store.execute(items.map(\.work))
            mustTruncate = mustTruncate || done.hasErased
            var forgotten = done.forgotten
            // The rest of a sweep, in transactions of its own: acknowledgements do not wait, but other rooms do.
            while done.isUnfinished, case .sweep(let now)? = items.last?.work {
                done = try store.execute([.sweep(now)])
                forgotten += done.forgotten
            }
            if !forgotten.isEmpty { outcome = .success(.forgotten(forgotten)) }
            if isStalled {
                isStalled = false
                logger.notice("the history can be written to again", metadata: ["path": "\(path)"])
            }
        } catch {
            guard error.kind != .full, error.kind != .busy else {
                if !isStalled {
                    logger.error("the history cannot be written to: \(error)", metadata: ["path": "\(path)"])
                }
                isStalled = true
                return .stalled
            }
            logger.error("the history cannot be written to: \(error)", metadata: ["path": "\(path)"])
            outcome = .failure(ArchiveFault("\(error)"))
        }
        waiting.withLock { $0.items.removeFirst(items.count) }
        let totals = store.totals
        shownTotals.withLock { $0 = totals }
        answers.give(items.compactMap { item in item.number.map { ($0, outcome) } })
        checkpointIfLong(store)
        return .wrote
    }

    private func checkpointIfLong(_ store: ArchiveStore) {
        // 4 MiB, as in the command log.
        if store.database.logPageCount >= 1_024 { try? store.database.checkpoint(.passive) }
    }

    /// Lets the write-ahead log forget what was erased (HIS-9). A reader may hold it back.
    private func truncate() {
        guard let store else { return }
        do throws(DatabaseError) {
            try store.database.checkpoint(.truncate)
            mustTruncate = false
        } catch {
            queue.asyncAfter(deadline: .now() + Self.retryDelay) { [self] in if mustTruncate { truncate() } }
        }
    }
}

/// The thread that reads an archive.
final class ArchiveReading: @unchecked Sendable {
    enum Request: Sendable {
        case page(HistoryRequest, SessionID)
        case lastSeq(SessionID)
    }

    private let queue = DispatchQueue(label: "signalbox.history-reader")
    private let answers: ArchiveAnswers
    private let path: String
    private let logger: Logger
    // Confined to the queue.
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

    func close() { queue.sync { reader = nil } }

    private func outcome(of request: Request) -> ArchiveAnswers.Outcome {
        guard let reader else { return .failure(ArchiveFault("the archive is closed")) }
        do throws(DatabaseError) {
            defer { hasFailed = false }
            switch request {
            case .page(let request, let session): return .success(.page(try reader.page(request, of: session)))
            case .lastSeq(let session): return .success(.lastSeq(try reader.lastSeq(of: session)))
            }
        } catch {
            if !hasFailed { logger.error("the history cannot be read: \(error)", metadata: ["path": "\(path)"]) }
            hasFailed = true
            return .failure(ArchiveFault("\(error)"))
        }
    }
}
