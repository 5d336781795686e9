import CLibwebsockets
import Logging
import SignalingProtocol

/// A connection whose close has to wait until none of libwebsockets' callbacks runs.
protocol TurnEndClosable: AnyObject {
    /// Closes the connection by a close frame or by force, as was requested before.
    func closeAtTurnEnd()
}

/// The inside of a ``LoopThread``: the libuv loop, its handles, and the libwebsockets context on it.
///
/// Confined to the loop's thread, except `wake`.
final class LoopCore {
    /// How long `close` waits for handles to close, in nanoseconds. Closing waits for no peer and normally takes far
    /// less; a handle that does not close is leaked.
    private static let closeTimeout: UInt64 = 2_000_000_000

    private(set) var loop: UnsafeMutablePointer<uv_loop_t>?
    private var async: UnsafeMutablePointer<uv_async_t>?
    private var prepareHandle: UnsafeMutablePointer<uv_prepare_t>?
    private(set) var context: LWSContext?
    private unowned(unsafe) var owner: LoopThread?
    var onTurnEnded: (() -> Void)?
    private(set) var usage = LoopUsage()
    /// The number of the present turn: timers, input, and the writes at its end.
    private(set) var turn: UInt64 = 0
    /// The socket that was upgraded last in this turn, until input of another socket arrives. If input of this socket
    /// arrives, it was in the same read as its handshake request. An identifier costs less per message than a weak
    /// reference. If a new socket reuses the address, its own upgrade replaces this value before it receives.
    var justUpgraded: ObjectIdentifier?

    private var closing: [any TurnEndClosable] = []
    private var flushing: [any TurnEndClosable] = []
    private var readingChanges: [ServerSocket] = []
    private var inputDiscarders: [ObjectIdentifier: HTTPConnection] = [:]
    private var timers: [ObjectIdentifier: TimerHandle] = [:]
    private var servers: [ObjectIdentifier: TransportServer] = [:]

    // MARK: Start and stop

    func open(owner: LoopThread) throws(TransportError) {
        self.owner = owner
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let outcome = uv_loop_init(loop)
        guard outcome == 0 else {
            loop.deallocate()
            throw TransportError(
                .resourcesExhausted,
                "Cannot create an event loop: \(uvMessage(outcome)). "
                    + "Raise the limit of open files.")
        }
        self.loop = loop
        // Before the loop runs. Fails only for a libuv without this option.
        signalbox_measure_idle_time(loop)

        let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
        let asyncOutcome = uv_async_init(loop, async) { handle in
            guard let core = LoopCore.from(handle?.pointee.data) else { return }
            core.mailboxFilled()
        }
        guard asyncOutcome == 0 else {
            async.deallocate()
            throw TransportError(
                .resourcesExhausted,
                "Cannot create the event loop's wake-up handle: \(uvMessage(asyncOutcome)). "
                    + "Raise the limit of open files.")
        }
        async.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        self.async = async

        // libuv's order is timers, idle, prepare, wait and input, closing. `prepare` runs once per iteration: after the
        // input of the iteration before and the timers, and before the wait.
        let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        uv_prepare_init(loop, prepare)
        prepare.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_prepare_start(prepare) { handle in
            guard let core = LoopCore.from(handle?.pointee.data) else { return }
            core.endTurn()
            core.measureTurn()
        }
        prepareHandle = prepare

        context = try LWSContext(loop: loop, logger: owner.logger)
    }

    private func measureTurn() {
        guard let loop else { return }
        usage.noteTurn(
            now: MonotonicInstant(nanoseconds: Int64(bitPattern: uv_hrtime())),
            idle: .nanoseconds(Int64(bitPattern: uv_metrics_idle_time(loop))))
    }

    /// Can be called from any thread that holds the mailbox's lock, until the loop has stopped.
    func wake() {
        guard let async else { return }
        uv_async_send(async)
    }

    func runUntilStopped() {
        guard let loop else { return }
        uv_run(loop, UV_RUN_DEFAULT)
    }

    /// Closes everything in the order that libwebsockets 4.1.6 needs on a foreign loop: the sockets and the context,
    /// then the loop's other handles, then the loop runs until all have closed, and then the context's memory is freed
    /// (`lws_context_destroy` a second time).
    func close() {
        guard let loop else { return }
        for server in servers.values { server.loopStops() }
        let mayFinish = context?.beginDestroying() ?? true
        for timer in Array(timers.values) { timer.close() }
        if let async { closeAndFree(async) }
        if let prepareHandle { closeAndFree(prepareHandle) }
        async = nil
        prepareHandle = nil
        let deadline = uv_hrtime() + Self.closeTimeout
        while mayFinish, uv_run(loop, UV_RUN_NOWAIT) != 0, uv_hrtime() < deadline { uv_sleep(1) }
        let isClean = mayFinish && uv_loop_alive(loop) == 0
        if isClean { context?.finishDestroying() }
        context = nil
        for server in servers.values { server.loopStopped() }
        servers = [:]
        onTurnEnded = nil
        closing = []
        flushing = []
        readingChanges = []
        if isClean, uv_loop_close(loop) == 0 {
            loop.deallocate()
        } else {
            owner?.logger.warning("leaking the event loop: it stopped with open handles")
        }
        self.loop = nil
    }

    private func mailboxFilled() {
        guard let owner, let loop else { return }
        if owner.drainMailbox() {
            endTurn()
            uv_stop(loop)
        }
    }

    private func endTurn() {
        turn &+= 1
        justUpgraded = nil
        if !inputDiscarders.isEmpty {
            for connection in Array(inputDiscarders.values) { connection.discardInput() }
        }
        // A flush may find sockets to close, and closing them may give the hub something to flush. After a few rounds
        // the rest waits for the next turn, which follows at once.
        for _ in 0..<4 {
            applyReadingChanges()
            closeConnections()
            onTurnEnded?()
            reportFlush()
            if closing.isEmpty { return applyReadingChanges() }
        }
        wake()
    }

    // MARK: Work for the end of the turn

    /// Schedules the connection's close for the end of this turn: libwebsockets crashes if a connection is closed
    /// within a callback, its own or another's.
    func closeAtTurnEnd(_ connection: any TurnEndClosable) { closing.append(connection) }

    /// Has the connection called at the end of this turn, after the handlers have flushed what they had to write.
    func closeAfterFlush(_ connection: any TurnEndClosable) { flushing.append(connection) }

    /// Schedules a pause or resume of the socket's reading for the end of this turn.
    func readingChanged(_ socket: ServerSocket) { readingChanges.append(socket) }

    private func applyReadingChanges() {
        while !readingChanges.isEmpty {
            let sockets = readingChanges
            readingChanges = []
            for socket in sockets { socket.applyReading() }
        }
    }

    private func closeConnections() {
        while !closing.isEmpty {
            let connections = closing
            closing = []
            for connection in connections { connection.closeAtTurnEnd() }
        }
    }

    private func reportFlush() {
        guard !flushing.isEmpty else { return }
        let connections = flushing
        flushing = []
        for connection in connections { connection.closeAtTurnEnd() }
    }

    func startDiscardingInput(of connection: HTTPConnection) {
        inputDiscarders[ObjectIdentifier(connection)] = connection
    }

    func stopDiscardingInput(of connection: HTTPConnection) { inputDiscarders[ObjectIdentifier(connection)] = nil }

    // MARK: Objects on the loop

    func add(_ timer: TimerHandle) { timers[ObjectIdentifier(timer)] = timer }
    func remove(_ timer: TimerHandle) { timers[ObjectIdentifier(timer)] = nil }
    func add(_ server: TransportServer) { servers[ObjectIdentifier(server)] = server }
    func remove(_ server: TransportServer) { servers[ObjectIdentifier(server)] = nil }

    private static func from(_ data: UnsafeMutableRawPointer?) -> LoopCore? {
        guard let data else { return nil }
        return Unmanaged<LoopCore>.fromOpaque(data).takeUnretainedValue()
    }
}

/// Closes a handle and frees its memory when libuv has finished with it ("uv_close" requires that).
func closeAndFree<Handle>(_ handle: UnsafeMutablePointer<Handle>) {
    let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base) { closed in
        guard let closed else { return }
        UnsafeMutableRawPointer(closed).deallocate()
    }
}
