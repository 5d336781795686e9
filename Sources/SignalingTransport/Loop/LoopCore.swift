import CLibwebsockets
import Logging
import SignalingProtocol

/// A connection whose end has to wait until none of libwebsockets' callbacks runs.
protocol Endable: AnyObject {
    /// Begins or forces the end, as was asked for before.
    func endNow()
}

/// The inside of a ``LoopThread``: the libuv loop, its handles, and the libwebsockets context on it.
///
/// Confined to the loop's thread, except `wake`.
final class LoopCore {
    /// How long the end of a loop waits for handles to close, in nanoseconds. Closing waits for no peer, so it ends far
    /// earlier; a handle that stays is leaked rather than waited for.
    private static let closingPatience: UInt64 = 2_000_000_000

    private(set) var loop: UnsafeMutablePointer<uv_loop_t>?
    private var async: UnsafeMutablePointer<uv_async_t>?
    private var prepareHandle: UnsafeMutablePointer<uv_prepare_t>?
    private(set) var context: LWSContext?
    private unowned(unsafe) var owner: LoopThread?
    var onTurnEnded: (() -> Void)?
    /// The socket that was the last to be upgraded in this turn, as long as no other has been heard since: what it
    /// receives now came in the same read as its handshake.
    weak var justUpgraded: ServerSocket?

    private var ending: [any Endable] = []
    private var readingChanges: [ServerSocket] = []
    private var backlogged: [ObjectIdentifier: HTTPConnection] = [:]
    private var timers: [ObjectIdentifier: TimerHandle] = [:]
    private var servers: [ObjectIdentifier: TransportServer] = [:]

    // MARK: Life

    func open(owner: LoopThread) throws(TransportError) {
        self.owner = owner
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let outcome = uv_loop_init(loop)
        guard outcome == 0 else {
            loop.deallocate()
            throw TransportError(.resourcesExhausted, "there is no event loop to be had: \(uvMessage(outcome))")
        }
        self.loop = loop

        let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
        let asyncOutcome = uv_async_init(loop, async) { handle in
            guard let core = LoopCore.from(handle?.pointee.data) else { return }
            core.mailArrived()
        }
        guard asyncOutcome == 0 else {
            async.deallocate()
            throw TransportError(.resourcesExhausted, "the loop cannot be woken: \(uvMessage(asyncOutcome))")
        }
        async.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        self.async = async

        // libuv's order is timers, idle, prepare, wait and input, closing. What runs in `prepare` runs once an
        // iteration, after everything that the iteration before read and what timers did, and before the wait.
        let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        uv_prepare_init(loop, prepare)
        prepare.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_prepare_start(prepare) { handle in
            guard let core = LoopCore.from(handle?.pointee.data) else { return }
            core.endTurn()
        }
        prepareHandle = prepare

        context = try LWSContext(loop: loop, logger: owner.logger)
    }

    /// From any thread, while the mailbox is locked and not closed.
    func wake() {
        guard let async else { return }
        uv_async_send(async)
    }

    func runUntilStopped() {
        guard let loop else { return }
        uv_run(loop, UV_RUN_DEFAULT)
    }

    /// Brings everything down, in the order that libwebsockets 4.1.6 survives on a loop that is not its own: sockets and
    /// context first, the loop's other handles beside them, then the loop until all have closed, and only then the
    /// context's memory (`lws_context_destroy` a second time).
    func close() {
        guard let loop else { return }
        for server in servers.values { server.loopIsEnding() }
        let mayFinish = context?.beginDestroying() ?? true
        for timer in Array(timers.values) { timer.close() }
        if let async { closeAndFree(async) }
        if let prepareHandle { closeAndFree(prepareHandle) }
        async = nil
        prepareHandle = nil
        let deadline = uv_hrtime() + Self.closingPatience
        while mayFinish, uv_run(loop, UV_RUN_NOWAIT) != 0, uv_hrtime() < deadline { uv_sleep(1) }
        let isClean = mayFinish && uv_loop_alive(loop) == 0
        if isClean { context?.finishDestroying() }
        context = nil
        for server in servers.values { server.loopHasEnded() }
        servers = [:]
        onTurnEnded = nil
        ending = []
        readingChanges = []
        if isClean, uv_loop_close(loop) == 0 {
            loop.deallocate()
        } else {
            owner?.logger.warning("the loop ended with handles open; their memory is lost")
        }
        self.loop = nil
    }

    private func mailArrived() {
        guard let owner, let loop else { return }
        if owner.drainMailbox() {
            endTurn()
            uv_stop(loop)
        }
    }

    private func endTurn() {
        justUpgraded = nil
        if !backlogged.isEmpty {
            for connection in Array(backlogged.values) { connection.dropInput() }
        }
        // A flush may find sockets that have to go, and their end may give the hub something to flush. What is still
        // left after a few rounds gets another turn at once.
        for _ in 0..<4 {
            applyReadingChanges()
            endWaiting()
            onTurnEnded?()
            if ending.isEmpty { return applyReadingChanges() }
        }
        wake()
    }

    // MARK: What lives on the loop

    /// Closing a connection inside its own callback, or inside another's, pulls the floor from under libwebsockets: it
    /// waits until the end of this turn.
    func endSoon(_ connection: any Endable) { ending.append(connection) }

    /// The socket is to be read from, or is not to be any more.
    func readingChanged(_ socket: ServerSocket) { readingChanges.append(socket) }

    private func applyReadingChanges() {
        while !readingChanges.isEmpty {
            let sockets = readingChanges
            readingChanges = []
            for socket in sockets { socket.applyReading() }
        }
    }

    private func endWaiting() {
        while !ending.isEmpty {
            let connections = ending
            ending = []
            for connection in connections { connection.endNow() }
        }
    }

    func addBacklogged(_ connection: HTTPConnection) { backlogged[ObjectIdentifier(connection)] = connection }
    func removeBacklogged(_ connection: HTTPConnection) { backlogged[ObjectIdentifier(connection)] = nil }
    func add(_ timer: TimerHandle) { timers[ObjectIdentifier(timer)] = timer }
    func remove(_ timer: TimerHandle) { timers[ObjectIdentifier(timer)] = nil }
    func add(_ server: TransportServer) { servers[ObjectIdentifier(server)] = server }
    func remove(_ server: TransportServer) { servers[ObjectIdentifier(server)] = nil }

    private static func from(_ data: UnsafeMutableRawPointer?) -> LoopCore? {
        guard let data else { return nil }
        return Unmanaged<LoopCore>.fromOpaque(data).takeUnretainedValue()
    }
}

/// Closes a handle of ours and frees its memory when libuv is done with it, as libuv demands ("uv_close").
func closeAndFree<Handle>(_ handle: UnsafeMutablePointer<Handle>) {
    let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base) { closed in
        guard let closed else { return }
        UnsafeMutableRawPointer(closed).deallocate()
    }
}
