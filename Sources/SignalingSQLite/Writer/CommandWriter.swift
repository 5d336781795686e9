import DequeModule
import Foundation
import SignalingCore

/// The thread that writes to the database. The loop adds work to its queue and never waits for the disk.
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

    private let condition = NSCondition()
    // Guarded by `condition`.
    private nonisolated(unsafe) var queue: Deque<LogWork> = []
    private nonisolated(unsafe) var phase = Phase.running
    private nonisolated(unsafe) var isSignOfLifeDue = false
    private nonisolated(unsafe) var isWaiting = false
    private nonisolated(unsafe) var closingFault: CommandLogFault?
    /// Set while the log is created, and cancelled once.
    private nonisolated(unsafe) let timer: (any DispatchSourceTimer)?

    /// Starts the thread, which takes over the transactions.
    ///
    /// - Parameter ticks: whether a timer causes a sign of life each second. Without it, a test calls
    ///   ``signOfLifeIsDue()``.
    init(_ transactions: sending LogTransactions, ticks: Bool) {
        // A timer of this kind follows the monotonic clock. The time-out of a condition follows the wall clock, which
        // may jump.
        timer = ticks ? DispatchSource.makeTimerSource(queue: DispatchQueue(label: "signalbox.log-timer")) : nil
        let box = TransactionsBox(transactions)
        let thread = Thread { [self] in run(box) }
        thread.name = "command-log"
        thread.start()
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

    func signOfLifeIsDue() {
        condition.lock()
        defer { condition.unlock() }
        isSignOfLifeDue = true
        if isWaiting { condition.signal() }
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

    private func run(_ box: TransactionsBox) {
        WriterScheduling.yieldToTheLoop()
        let fault = execute(box.take())
        // The database is closed by now, since nothing else has the transactions.
        finish(fault)
    }

    /// Executes work until the log is closed or has failed. Returns why a part of the work was not kept.
    private func execute(_ transactions: consuming LogTransactions) -> CommandLogFault? {
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
        while phase == .running, !isSignOfLifeDue, isStalled || queue.isEmpty {
            isWaiting = true
            condition.wait()
        }
        isWaiting = false
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
        closingFault = fault
        queue = []
        condition.broadcast()
    }
}

/// Hands the transactions to the thread.
///
/// Unchecked: the thread takes them once, and nothing else uses the box afterwards.
private final class TransactionsBox: @unchecked Sendable {
    private var transactions: LogTransactions?

    init(_ transactions: sending LogTransactions) { self.transactions = transactions }

    func take() -> LogTransactions {
        guard let transactions else { preconditionFailure("the transactions were taken before") }
        self.transactions = nil
        return transactions
    }
}
