import CLibwebsockets
import EventLoop
import Logging
import SignalingProtocol
import Synchronization

/// One thread with one event loop. Its sockets, timers and exchanges are used on that thread only.
///
/// From other threads, ``post(_:)`` enqueues work and ``run(_:)`` waits for its result. A started loop and its thread
/// run until ``stop()``. A process can have several loops.
public final class LoopThread: Sendable {
    private enum Phase {
        /// Work is enqueued; it runs when the loop starts. Next: `starting`, `stopped`.
        case created
        /// The thread sets up its loop. Work is enqueued. Next: `running`, `stopping`, `stopped` (the set-up failed).
        case starting
        /// Next: `stopping`.
        case running
        /// Enqueued work runs; new work is dropped. Next: `stopped`.
        case stopping
        /// The last state.
        case stopped
    }
    private struct Mailbox {
        var phase = Phase.created
        var work: [@Sendable () -> Void] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
        /// Why the loop's set-up failed.
        var startError: TransportError?
    }

    public let name: String
    let logger: Logger
    private let mailbox = Mutex(Mailbox())
    /// The loop's thread, as numbered by `signalbox_current_thread`; 0 while there is none.
    private let threadNumber = Atomic<UInt>(0)
    /// Guarded by the loop's thread: before `start` no other thread uses it, and afterwards every access checks the
    /// thread.
    nonisolated(unsafe) let core: LoopCore

    /// Creates the loop without starting it.
    ///
    /// - Parameters:
    ///   - name: the thread's name; systems show about 15 characters.
    ///   - logger: for the loop and for libwebsockets' own lines. libwebsockets has one log per process: the logger of
    ///     the loop that was started last receives it.
    public init(name: String, logger: Logger) {
        self.name = name
        self.logger = logger
        core = LoopCore()
    }

    /// Starts the thread, and returns when the loop runs.
    ///
    /// - Throws: ``TransportError`` `.alreadyStarted`; `.resourcesExhausted` or `.libraryFailed` when the operating
    ///   system or libwebsockets fails. The loop cannot be started again then.
    public func start() throws(TransportError) {
        let mayStart = mailbox.withLock { mailbox in
            guard mailbox.phase == .created else { return false }
            mailbox.phase = .starting
            return true
        }
        guard mayStart else {
            throw TransportError(.alreadyStarted, "The event loop \(name) was started before. Create another one.")
        }
        do throws(EventLoopError) {
            try EventLoop.startThread(name: name) { [self] in runThread(started: $0) }
        } catch {
            finish()
            throw TransportError(
                .resourcesExhausted,
                "Cannot create a thread for the event loop \(name): \(error). Raise the limit of threads or memory.")
        }
        if let error = mailbox.withLock({ $0.startError }) { throw error }
    }

    /// Enqueues work for the loop. Work runs in the order of the calls, also of calls from different threads.
    ///
    /// Can be called from any thread. On the loop's own thread the work runs after the current callback, in this turn
    /// or the next. Before `start` the work waits; after `stop` was called it is dropped.
    public func post(_ work: @escaping @Sendable () -> Void) {
        mailbox.withLock { mailbox in
            switch mailbox.phase {
            case .created, .starting, .running: break
            case .stopping, .stopped: return
            }
            mailbox.work.append(work)
            // Within the lock, so that the handle is not closed between the check and the wake-up.
            if mailbox.phase == .running, mailbox.work.count == 1 { core.wake() }
        }
    }

    /// Runs `work` on the loop and returns its result. Not cancellable, since the work is short.
    ///
    /// - Throws: what `work` throws, or ``TransportError`` `.stopped` if the loop accepts no more work.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let run = PendingRun(continuation, loopName: name)
            post { run.finish(Result { try work() }) }
        }
    }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { threadNumber.load(ordering: .relaxed) == UInt(signalbox_current_thread()) }

    /// Stops the process if the caller is not on the loop's thread. Every method of a loop's objects calls this, or
    /// relies on a caller that does.
    public func preconditionCurrent(_ what: StaticString = #function) {
        precondition(isCurrent, "\(what) was called off its loop")
    }

    /// The current time of the monotonic clock that timers use. Can be read from any thread.
    public static var now: MonotonicInstant { EventLoop.now }

    /// The current time of the monotonic clock that timers use. Can be read from any thread.
    public var now: MonotonicInstant { Self.now }

    /// The system's date. Can be read from any thread.
    public static var wallTime: WallTime { EventLoop.wallTime }

    /// For handles of others; `nil` when the loop has stopped. Use it on the loop only. The handles must be closed before
    /// ``stop()``.
    package var eventLoop: EventLoop? {
        preconditionCurrent()
        return core.loop
    }

    /// Called on the loop at the end of each turn: after the turn's input, posted work and timers, and before the loop
    /// waits. Use it to flush what the turn has collected. Get and set it on the loop only; other threads stop the
    /// process.
    public var onTurnEnded: (() -> Void)? {
        get {
            preconditionCurrent()
            return core.onTurnEnded
        }
        set {
            preconditionCurrent()
            core.onTurnEnded = newValue
        }
    }

    /// Has the loop do some work at the end of this turn, after ``onTurnEnded``, which it then calls once more. Call it on
    /// the loop.
    public func beforeWait(_ work: @escaping () -> Void) {
        preconditionCurrent()
        core.beforeWait(work)
    }

    /// How busy the loop is. Get it on the loop only.
    public var usage: LoopUsage {
        preconditionCurrent()
        return core.usage
    }

    /// Stops the loop, and returns when its thread has ended: within two seconds, whatever the peers do.
    ///
    /// It cuts open sockets without a close frame; a server that sends close frames does so before. Every open socket
    /// has received its `socketClosed` when this returns. Can be called several times, and before `start`. Work for
    /// which the loop itself waits must not await it.
    public func stop() async {
        await withCheckedContinuation { continuation in
            // Dropped work is released outside of the lock: what it retains may post in its deinit.
            let (isDone, dropped) = mailbox.withLock { mailbox -> (Bool, [@Sendable () -> Void]) in
                switch mailbox.phase {
                case .created, .stopped:
                    mailbox.phase = .stopped
                    let dropped = mailbox.work
                    mailbox.work = []
                    return (true, dropped)
                case .running:
                    core.wake()
                    fallthrough
                case .starting, .stopping:
                    mailbox.phase = .stopping
                    mailbox.stopWaiters.append(continuation)
                    return (false, [])
                }
            }
            withExtendedLifetime(dropped) {}
            if isDone { continuation.resume() }
        }
    }

    /// Runs, on the loop, the work that was enqueued up to now. Returns whether the loop is to stop.
    func drainMailbox() -> Bool {
        let (work, isStopping) = mailbox.withLock { mailbox in
            let work = mailbox.work
            mailbox.work = []
            return (work, mailbox.phase == .stopping)
        }
        for item in work { item() }
        return isStopping
    }

    private func runThread(started: () -> Void) {
        threadNumber.store(UInt(signalbox_current_thread()), ordering: .relaxed)
        // `finish` resumes the callers of `stop`. Afterwards this thread uses nothing of the loop.
        do throws(TransportError) {
            try core.open(owner: self)
        } catch {
            core.close()
            finish(error)
            started()
            return
        }
        mailbox.withLock { mailbox in
            if mailbox.phase == .starting { mailbox.phase = .running }
            core.wake()  // For work that was posted, or a stop that was requested, before the loop existed.
        }
        started()
        core.runUntilStopped()
        core.close()
        finish()
    }

    private func finish(_ error: TransportError? = nil) {
        threadNumber.store(0, ordering: .relaxed)
        let (waiters, dropped) = mailbox.withLock { mailbox in
            mailbox.phase = .stopped
            mailbox.startError = error
            defer { (mailbox.stopWaiters, mailbox.work) = ([], []) }
            return (mailbox.stopWaiters, mailbox.work)
        }
        withExtendedLifetime(dropped) {}
        for waiter in waiters { waiter.resume() }
    }
}

/// A caller of ``LoopThread/run(_:)`` that waits. If the loop drops the work, it throws `.stopped`.
private final class PendingRun<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>
    private let loopName: String

    init(_ continuation: CheckedContinuation<Value, any Error>, loopName: String) {
        self.continuation = Mutex(continuation)
        self.loopName = loopName
    }

    deinit { finish(.failure(TransportError.loopStopped(loopName))) }

    func finish(_ result: Result<Value, any Error>) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(with: result)
    }
}
