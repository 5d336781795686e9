import CLibwebsockets
import Logging
import SignalingProtocol
import Synchronization

/// One thread with one event loop: sockets, timers and exchanges belong to it and are touched on it only.
///
/// Everything else asks it: ``post(_:)`` hands work over, ``run(_:)`` waits for the answer. A started loop lives, with
/// its thread, until ``stop()``. Several loops can run side by side in one process.
public final class LoopThread: Sendable {
    private enum Phase {
        /// Work is kept; it runs when the loop starts.
        case created
        /// The thread makes its loop. Work is kept.
        case starting
        case running
        /// What was posted runs; nothing more is taken.
        case stopping
        case stopped
    }
    private struct Mailbox {
        var phase = Phase.created
        var work: [@Sendable () -> Void] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    public let name: String
    let logger: Logger
    private let mailbox = Mutex(Mailbox())
    /// The loop's thread as `signalbox_current_thread` numbers it; 0 while there is none.
    private let threadNumber = Atomic<UInt>(0)
    /// Guarded by the loop's thread: before `start` nobody else has it, and after it every access checks the thread.
    nonisolated(unsafe) let core: LoopCore

    /// Does not start it.
    ///
    /// - Parameters:
    ///   - name: of the thread; systems show about 15 characters.
    ///   - logger: for the loop and for libwebsockets' own lines. Those are global to a process: the logger of the loop
    ///     that was started last gets them.
    public init(name: String, logger: Logger) {
        self.name = name
        self.logger = logger
        core = LoopCore()
    }

    /// Starts the thread; returns when the loop runs.
    ///
    /// - Throws: ``TransportError`` `.alreadyStarted`, or `.resourcesExhausted` and `.libraryFailed` when the system or
    ///   libwebsockets gives none; the loop cannot be started again then.
    public func start() throws(TransportError) {
        let mayStart = mailbox.withLock { mailbox in
            guard mailbox.phase == .created else { return false }
            mailbox.phase = .starting
            return true
        }
        guard mayStart else { throw TransportError(.alreadyStarted, "the loop \(name) was started before") }
        let launch = ThreadLaunch(loop: self)
        let argument = Unmanaged.passRetained(launch)
        let thread = UnsafeMutablePointer<uv_thread_t>.allocate(capacity: 1)
        defer { thread.deallocate() }
        let outcome = uv_thread_create(
            thread,
            { raw in
                guard let raw else { return }
                let launch = Unmanaged<ThreadLaunch>.fromOpaque(raw).takeRetainedValue()
                launch.loop.runThread(launch)
            }, argument.toOpaque())
        guard outcome == 0 else {
            argument.release()
            finish()
            throw TransportError(.resourcesExhausted, "there is no thread for the loop \(name): \(uvMessage(outcome))")
        }
        if let error = launch.waitUntilReady() { throw error }
    }

    /// Hands work to the loop. Order is kept among all posts; the loop is woken only when it had none waiting.
    ///
    /// From any thread, the loop's own included: then it runs after the current callback, in this turn or the next.
    /// Before `start` the work waits; once `stop` was asked for, it is dropped.
    public func post(_ work: @escaping @Sendable () -> Void) {
        _ = enqueue(work)
    }

    /// Runs `work` on the loop and returns what it returns.
    ///
    /// Not cancellable: the work is short. Called on the loop itself it would wait for itself only as long as it takes
    /// the loop to come by.
    ///
    /// - Throws: what `work` throws, or ``TransportError`` `.stopped` when the loop takes nothing more.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = enqueue { continuation.resume(with: Result { try work() }) }
            if !isTaken {
                continuation.resume(throwing: TransportError(.stopped, "the loop \(self.name) has stopped"))
            }
        }
    }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { threadNumber.load(ordering: .relaxed) == UInt(signalbox_current_thread()) }

    /// Stops the process when called off the loop: every method of a loop's objects starts with this, or relies on a
    /// caller that does.
    public func preconditionCurrent(_ what: StaticString = #function) {
        precondition(isCurrent, "\(what) was called off its loop")
    }

    /// The monotonic clock that timers go by. From any thread.
    public static var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(bitPattern: uv_hrtime())) }

    /// The monotonic clock that timers go by. From any thread.
    public var now: MonotonicInstant { Self.now }

    /// Called on the loop once an iteration, after all its input, posted work and timers, right before it would wait:
    /// where what the iteration collected is flushed. Set it before `start`, or on the loop.
    public var onTurnEnded: (() -> Void)? {
        get { core.onTurnEnded }
        set { core.onTurnEnded = newValue }
    }

    /// Ends the loop: closes what is left of it without further ado (servers that want to say goodbye do so before), and
    /// returns when the thread is done. That takes two seconds at most, whatever the peers do; each open socket's
    /// `socketClosed` has come by then.
    ///
    /// May be called more than once, and before `start`. Must not be awaited by work that the loop itself waits for.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let isDone = mailbox.withLock { mailbox in
                switch mailbox.phase {
                case .created, .stopped:
                    mailbox.phase = .stopped
                    mailbox.work = []
                    return true
                case .running:
                    core.wake()
                    fallthrough
                case .starting, .stopping:
                    mailbox.phase = .stopping
                    mailbox.stopWaiters.append(continuation)
                    return false
                }
            }
            if isDone { continuation.resume() }
        }
    }

    private func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
        mailbox.withLock { mailbox in
            guard mailbox.phase == .created || mailbox.phase == .running else { return false }
            mailbox.work.append(work)
            // In here, so that the handle cannot be closed between the question and the wake-up.
            if mailbox.phase == .running, mailbox.work.count == 1 { core.wake() }
            return true
        }
    }

    /// On the loop: does what was posted up to now. Says whether the loop is to stop.
    func drainMailbox() -> Bool {
        let (work, isStopping) = mailbox.withLock { mailbox in
            let work = mailbox.work
            mailbox.work = []
            return (work, mailbox.phase == .stopping)
        }
        for item in work { item() }
        return isStopping
    }

    fileprivate func runThread(_ launch: ThreadLaunch) {
        threadNumber.store(UInt(signalbox_current_thread()), ordering: .relaxed)
        // Nobody joins it: who waits for the end is told by `finish`, after which it touches nothing of ours.
        signalbox_detach_current_thread()
        name.withCString { signalbox_name_current_thread($0) }
        do throws(TransportError) {
            try core.open(owner: self)
        } catch {
            core.close()
            finish()
            launch.ready(error)
            return
        }
        mailbox.withLock { mailbox in
            if mailbox.phase == .starting { mailbox.phase = .running }
            core.wake()  // for what was posted, or for a stop that was asked for, before the loop was there
        }
        launch.ready(nil)
        core.runUntilStopped()
        core.close()
        finish()
    }

    private func finish() {
        threadNumber.store(0, ordering: .relaxed)
        let waiters = mailbox.withLock { mailbox in
            mailbox.phase = .stopped
            mailbox.work = []
            let waiters = mailbox.stopWaiters
            mailbox.stopWaiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// What the starting thread and the loop's thread tell each other.
///
/// Unchecked: `error` is written before the semaphore is posted and read after it was waited for.
private final class ThreadLaunch: @unchecked Sendable {
    let loop: LoopThread
    private let semaphore = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)
    private var error: TransportError?

    init(loop: LoopThread) {
        self.loop = loop
        uv_sem_init(semaphore, 0)
    }

    deinit {
        uv_sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func ready(_ error: TransportError?) {
        self.error = error
        uv_sem_post(semaphore)
    }

    func waitUntilReady() -> TransportError? {
        uv_sem_wait(semaphore)
        return error
    }
}

func uvMessage(_ code: Int32) -> String { String(cString: uv_strerror(code)) }
