import CSQLite
import DequeModule
import Dispatch
import EventLoop
import SignalingCore

/// What a ``DatabaseThread`` works for: it owns a database, and the work that it has taken and not finished. Used on one
/// thread at a time.
protocol DatabaseWorker: SendableMetatype {
    associatedtype Work: Sendable

    /// Whether it has taken work that is not finished. It does not count what it finds to do by itself.
    var hasWork: Bool { get }

    /// Moves the next work from the queue, unless it has some. Called with the queue's lock.
    func take(from queue: inout Deque<Work>)

    /// Executes a part of what was taken.
    ///
    /// - Parameter isSignOfLife: about a second has passed since the last sign of life.
    func step(isSignOfLife: Bool) -> DatabaseStep

    /// Closes the database, with everything on the disk. Called as the last method, and not after a failure.
    ///
    /// - Parameter stall: why the rest of the work was not executed. Without it, work may be left that came too late.
    func close(after stall: CommandLogFault?) throws(CommandLogFault)
}

/// The result of a step.
enum DatabaseStep: Equatable {
    /// Nothing is left to do until there is more work, or a sign of life is due.
    case done
    /// There is something to do at once.
    case hasMore
    /// The same has to be tried again.
    case stalled(CommandLogFault)
    /// Nothing may be done any more. The thread ends, and the database is closed as after a crash.
    case failed(CommandLogFault)
}

/// A thread that writes to a database, and the queue of its work. A step that is stalled is repeated at each sign of
/// life.
///
/// Unchecked: the condition guards the state, and ``isInUse`` the worker.
final class DatabaseThread<Worker: DatabaseWorker>: @unchecked Sendable {
    private enum Phase {
        /// Work is executed. Next: `closing`, `abandoned`, `stopped`.
        case running
        /// The rest of the work is executed until the deadline, then the database is closed. Next: `stopped`.
        case closing(by: DispatchTime)
        /// The database is closed as after a crash. Next: `stopped`.
        case abandoned
        /// The database is closed, and the thread ends. New work is dropped.
        case stopped(CommandLogFault?)

        var isRunning: Bool { if case .running = self { true } else { false } }
    }

    private let condition = ThreadCondition()
    private var queue: Deque<Worker.Work> = []
    private var phase = Phase.running
    private var isSignOfLifeDue = false
    private var isWaiting = false
    /// Whether the loop waits for the thread.
    private var isSettling = false
    /// Whether a step must be repeated before all further work.
    private var isStalled = false
    /// Whether the thread or the loop uses the worker.
    private var isInUse = false
    /// Whether the worker had work left after its last step.
    private var hasWork = false
    /// `nil` when the database is closed.
    private var worker: Worker?
    /// Set while the thread is created, and cancelled once.
    private let timer: (any DispatchSourceTimer)?

    /// Starts the thread, which takes over the worker. The first step has no work.
    ///
    /// - Parameter ticks: whether a timer causes a sign of life each second. Without it, a test calls
    ///   ``signOfLifeIsDue()``.
    /// - Throws: when the system has no thread left.
    init(_ worker: sending Worker, name: String, ticks: Bool = true) throws(DatabaseError) {
        // A timer of this kind follows the monotonic clock. The time-out of a condition follows the wall clock, which
        // may jump.
        timer = ticks ? DispatchSource.makeTimerSource(queue: DispatchQueue(label: "\(name)-timer")) : nil
        self.worker = worker
        do {
            try EventLoop.startThread(name: name) { [self] started in
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

    func add(_ work: [Worker.Work]) {
        condition.lock()
        let wakes = phase.isRunning && isWaiting
        if phase.isRunning { queue.append(contentsOf: work) }
        isWaiting = isWaiting && !wakes
        condition.unlock()
        // Not with the lock: the thread would wake up and wait for it.
        if wakes { condition.signal() }
    }

    /// The steps that wait.
    var waitingCount: Int { condition.withLock { queue.count } }

    /// Whether work waits or is under way.
    var isBusy: Bool { condition.withLock { hasWork || !queue.isEmpty } }

    /// Uses the worker on the calling thread, the loop's, if the thread has nothing to do.
    ///
    /// - Returns: the body's result; false if the thread has something to do.
    func useIdle(_ body: (Worker) -> Bool) -> Bool {
        condition.lock()
        guard phase.isRunning, isWaiting, !isInUse, !isStalled, !isSignOfLifeDue, queue.isEmpty, let worker else {
            condition.unlock()
            return false
        }
        isInUse = true
        condition.unlock()
        let result = body(worker)
        condition.lock()
        isInUse = false
        let wakes = isSignOfLifeDue
        condition.unlock()
        if wakes { condition.signal() }
        return result
    }

    func signOfLifeIsDue() {
        condition.lock()
        defer { condition.unlock() }
        isSignOfLifeDue = true
        // Not a signal, which may reach a loop that settles.
        if isWaiting { condition.broadcast() }
    }

    /// Executes the rest of the work, closes the database, and returns when the thread uses it no more.
    ///
    /// - Parameter deadline: no further step begins then.
    func close(by deadline: DispatchTime = .distantFuture) throws(CommandLogFault) {
        condition.lock()
        defer { condition.unlock() }
        if phase.isRunning { phase = .closing(by: deadline) }
        condition.broadcast()
        while true {
            if case .stopped(let fault) = phase {
                if let fault { throw fault }
                return
            }
            condition.wait()
        }
    }

    /// Waits until what was added is committed, or cannot be at present, or until the deadline.
    func settle(by deadline: DispatchTime = .distantFuture) {
        condition.lock()
        defer { condition.unlock() }
        isSettling = true
        while phase.isRunning, !isStalled, isInUse || !queue.isEmpty, deadline > .now() { condition.wait() }
        isSettling = false
    }

    /// Lets the thread end without waiting for it. Work that waits is dropped.
    func abandon() {
        condition.lock()
        defer { condition.unlock() }
        guard phase.isRunning else { return }
        phase = .abandoned
        condition.broadcast()
    }

    // MARK: - The thread

    private func run() {
        WriterScheduling.yieldToTheLoop()
        // Only this thread changes the worker.
        let fault = worker.flatMap(execute)
        timer?.cancel()
        condition.lock()
        defer { condition.unlock() }
        // Closes the database, since nothing else has the worker.
        worker = nil
        (queue, hasWork) = ([], false)
        phase = .stopped(fault)
        condition.broadcast()
    }

    /// Executes work until the database is closed or has failed. Returns why a part of the work was not kept.
    private func execute(_ worker: Worker) -> CommandLogFault? {
        var result = DatabaseStep.hasMore
        while true {
            switch next(worker, after: result) {
            case .step(let isSignOfLife):
                let before = result
                result = worker.step(isSignOfLife: isSignOfLife)
                switch (before, result) {
                case (_, .failed(let fault)): return fault
                // Closing repeats the step once.
                case (.stalled, .stalled(let fault)) where !isRunning: return close(worker, after: fault)
                default: break
                }
            case .close: return close(worker, after: nil)
            case .abandon: return nil
            }
        }
    }

    private enum Next {
        case step(isSignOfLife: Bool)
        case close
        case abandon
    }

    /// Waits for something to do, and lets the worker take it.
    private func next(_ worker: Worker, after result: DatabaseStep) -> Next {
        let hasMore = result == .hasMore
        condition.lock()
        defer { condition.unlock() }
        if case .stalled = result { isStalled = true } else { isStalled = false }
        (isInUse, hasWork) = (false, worker.hasWork)
        if isSettling { condition.broadcast() }
        while isInUse || phase.isRunning && !isSignOfLifeDue && !hasMore && (isStalled || queue.isEmpty) {
            isWaiting = true
            condition.wait()
        }
        (isWaiting, isInUse) = (false, true)
        worker.take(from: &queue)
        hasWork = worker.hasWork
        let isSignOfLife = isSignOfLifeDue
        isSignOfLifeDue = false
        switch phase {
        case .running: return .step(isSignOfLife: isSignOfLife)
        case .closing(let deadline):
            return deadline > .now() && (hasWork || hasMore) ? .step(isSignOfLife: isSignOfLife) : .close
        case .abandoned, .stopped: return .abandon
        }
    }

    private func close(_ worker: Worker, after stall: CommandLogFault?) -> CommandLogFault? {
        do throws(CommandLogFault) {
            try worker.close(after: stall)
            return nil
        } catch {
            return error
        }
    }

    private var isRunning: Bool { condition.withLock { phase.isRunning } }
}
