import CSQLite
import DequeModule
import Dispatch
import EventLoop
import SignalingCore

/// The thread that writes to the database. The loop adds work to its queue, or commits a little work itself while the
/// thread has none (``DirectCommits``).
final class CommandWriter: Sendable {
    private enum Phase {
        /// Work is executed. Next: `closing`, `abandoned`, `stopped`.
        case running
        /// The rest of the work is executed, then the database is marked and closed. Next: `stopped`.
        case closing
        /// The database is closed as after a crash. Next: `stopped`.
        case abandoned
        /// The database is closed, and the thread ends. New work is dropped.
        case stopped
    }

    private let condition = ThreadCondition()
    // Guarded by `condition`.
    private nonisolated(unsafe) var queue: Deque<LogWork> = []
    private nonisolated(unsafe) var phase = Phase.running
    private nonisolated(unsafe) var isSignOfLifeDue = false
    private nonisolated(unsafe) var isWaiting = false
    /// Whether the loop waits for the thread.
    private nonisolated(unsafe) var isSettling = false
    /// Whether the thread has a batch that must be committed before all further work.
    private nonisolated(unsafe) var isStalled = false
    /// Whether the thread or the loop uses the transactions.
    private nonisolated(unsafe) var isInUse = false
    /// `nil` when the log is closed, and the database with it.
    private nonisolated(unsafe) var transactions: LogTransactions?
    private nonisolated(unsafe) var closingFault: CommandLogFault?
    /// Set while the log is created, and cancelled once.
    private nonisolated(unsafe) let timer: (any DispatchSourceTimer)?

    /// Starts the thread, which takes over the transactions.
    ///
    /// - Parameter ticks: whether a timer causes a sign of life each second. Without it, a test calls
    ///   ``signOfLifeIsDue()``.
    init(_ transactions: sending LogTransactions, ticks: Bool) throws(DatabaseError) {
        // A timer of this kind follows the monotonic clock. The time-out of a condition follows the wall clock, which
        // may jump.
        timer = ticks ? DispatchSource.makeTimerSource(queue: DispatchQueue(label: "signalbox.log-timer")) : nil
        self.transactions = transactions
        do {
            try EventLoop.startThread(name: "command-log") { [self] started in
                started()
                run()
            }
        } catch {
            throw DatabaseError(code: SQLITE_IOERR, text: "cannot start the thread of the database: \(error)")
        }
        timer?.setEventHandler { [weak self] in self?.signOfLifeIsDue() }
        timer?.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(10))
        timer?.activate()
    }

    func add(_ work: [LogWork]) {
        condition.lock()
        let wakes = phase == .running && isWaiting
        if phase == .running { queue.append(contentsOf: work) }
        isWaiting = isWaiting && !wakes
        condition.unlock()
        // Not with the lock: the thread would wake up and wait for it.
        if wakes { condition.signal() }
    }

    /// Commits work on the calling thread, the loop's, if the writer's thread has nothing to do.
    ///
    /// - Returns: false if nothing has changed.
    func commitDirectly(_ work: [LogWork]) -> Bool {
        condition.lock()
        guard phase == .running, isWaiting, !isInUse, !isStalled, !isSignOfLifeDue, queue.isEmpty, let transactions
        else {
            condition.unlock()
            return false
        }
        isInUse = true
        condition.unlock()
        let isKept = transactions.commitDirectly(WorkBatch(direct: work))
        condition.lock()
        isInUse = false
        let wakes = isSignOfLifeDue
        condition.unlock()
        if wakes { condition.signal() }
        return isKept
    }

    func signOfLifeIsDue() {
        condition.lock()
        defer { condition.unlock() }
        isSignOfLifeDue = true
        // Not a signal, which may reach a loop that settles.
        if isWaiting { condition.broadcast() }
    }

    /// Executes the rest of the work, closes the database, and returns when the thread uses it no more.
    func close() throws(CommandLogFault) {
        condition.lock()
        defer { condition.unlock() }
        if phase == .running { phase = .closing }
        condition.broadcast()
        while phase != .stopped { condition.wait() }
        if let closingFault { throw closingFault }
    }

    /// Waits until what was added is committed, or cannot be at present.
    func settle() {
        condition.lock()
        defer { condition.unlock() }
        isSettling = true
        while phase == .running, !isStalled, isInUse || !queue.isEmpty { condition.wait() }
        isSettling = false
    }

    /// Lets the thread end without waiting for it. Work that waits is dropped.
    func abandon() {
        condition.lock()
        defer { condition.unlock() }
        guard phase == .running else { return }
        phase = .abandoned
        condition.broadcast()
    }

    // MARK: - The thread

    private enum Step {
        case commit(isSignOfLife: Bool)
        case close
        case abandon
    }

    private func run() {
        WriterScheduling.yieldToTheLoop()
        finish(transactions.map(execute) ?? nil)
    }

    /// Executes work until the log is closed or has failed. Returns why a part of the work was not kept.
    private func execute(_ transactions: LogTransactions) -> CommandLogFault? {
        var batch = WorkBatch()
        var stall: CommandLogFault?
        while true {
            switch nextStep(&batch, isStalled: stall != nil) {
            case .commit(let isSignOfLife):
                switch transactions.commit(batch, isSignOfLife: isSignOfLife) {
                case .kept:
                    (batch, stall) = (WorkBatch(), nil)
                case .stalled(let fault):
                    // Closing repeats the transaction once.
                    if stall != nil, isClosing { return fault }
                    stall = fault
                case .failed(let fault):
                    return fault
                }
            case .close:
                do throws(CommandLogFault) {
                    try transactions.close()
                    return nil
                } catch {
                    return error
                }
            case .abandon:
                return nil
            }
        }
    }

    /// Waits for something to do. Fills an empty batch; a batch that was stalled stays as it is.
    private func nextStep(_ batch: inout WorkBatch, isStalled: Bool) -> Step {
        condition.lock()
        defer { condition.unlock() }
        (self.isStalled, isInUse) = (isStalled, false)
        if isSettling { condition.broadcast() }
        while isInUse || phase == .running && !isSignOfLifeDue && (isStalled || queue.isEmpty) {
            isWaiting = true
            condition.wait()
        }
        (isWaiting, isInUse) = (false, true)
        if batch.isEmpty { batch.take(from: &queue) }
        let isSignOfLife = isSignOfLifeDue
        isSignOfLifeDue = false
        switch phase {
        case .running: return .commit(isSignOfLife: isSignOfLife)
        case .closing: return batch.isEmpty ? .close : .commit(isSignOfLife: isSignOfLife)
        case .abandoned, .stopped: return .abandon
        }
    }

    private var isClosing: Bool {
        condition.lock()
        defer { condition.unlock() }
        return phase != .running
    }

    private func finish(_ fault: CommandLogFault?) {
        timer?.cancel()
        condition.lock()
        defer { condition.unlock() }
        phase = .stopped
        // Closes the database, since nothing else has the transactions.
        transactions = nil
        closingFault = fault
        queue = []
        condition.broadcast()
    }
}
