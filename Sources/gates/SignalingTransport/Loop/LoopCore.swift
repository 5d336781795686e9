import EventLoop
import Logging
import SignalingProtocol

/// A connection whose close has to wait until none of libwebsockets' callbacks runs.
protocol TurnEndClosable: AnyObject {
    /// Closes the connection by a close frame or by force, as was requested before.
    func closeAtTurnEnd()
}

/// The inside of a ``LoopThread``: the libuv loop, its handles, and the libwebsockets contexts on it.
///
/// Confined to the loop's thread, except `wake`.
final class LoopCore {
    /// How long `close` waits for handles to close. Closing waits for no peer and normally takes far less; a handle that
    /// does not close is leaked.
    private static let closeTimeout = Duration.seconds(2)

    private(set) var loop: EventLoop?
    private var wakeUp: WakeUpHandle?
    private var turnEnd: TurnEndHandle?
    private(set) var contexts: LoopContexts?
    private unowned(unsafe) var owner: LoopThread?
    @exclusivity(unchecked) var onTurnEnded: (() -> Void)?
    @exclusivity(unchecked) private(set) var usage = LoopUsage()
    /// The number of the present turn: timers, input, and the writes at its end.
    @exclusivity(unchecked) private(set) var turn: UInt64 = 0
    /// The socket that was upgraded last in this turn, until input of another socket arrives. If input of this socket
    /// arrives, it was in the same read as its handshake request. An identifier costs less per message than a weak
    /// reference. If a new socket reuses the address, its own upgrade replaces this value before it receives.
    @exclusivity(unchecked) var justUpgraded: ObjectIdentifier?

    /// What ``LoopThread/beforeWait(_:)`` was given.
    @exclusivity(unchecked) private var workBeforeWait: [() -> Void] = []
    @exclusivity(unchecked) private var closing: [any TurnEndClosable] = []
    @exclusivity(unchecked) private var flushing: [any TurnEndClosable] = []
    @exclusivity(unchecked) private var readingChanges: [ServerSocket] = []
    private var inputDiscarders: [ObjectIdentifier: HTTPConnection] = [:]
    private var timers: [ObjectIdentifier: TimerHandle] = [:]
    private var servers: [ObjectIdentifier: TransportServer] = [:]

    // MARK: Start and stop

    func open(owner: LoopThread) throws(TransportError) {
        self.owner = owner
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop()
            self.loop = loop
            // The loop's thread closes the handles before anything can release this object.
            wakeUp = try WakeUpHandle(on: loop) { [unowned(unsafe) self] in mailboxFilled() }
        } catch {
            throw TransportError(
                .resourcesExhausted, "Cannot create an event loop: \(error). Raise the limit of open files.")
        }
        turnEnd = TurnEndHandle(on: loop) { [unowned(unsafe) self] in
            endTurn()
            measureTurn()
        }
        contexts = try LoopContexts(loop: loop, logger: owner.logger)
    }

    private func measureTurn() {
        guard let loop else { return }
        usage.noteTurn(now: EventLoop.now, idle: loop.idleTime)
    }

    /// Can be called from any thread that holds the mailbox's lock, until the loop has stopped.
    func wake() { wakeUp?.wake() }

    func runUntilStopped() { loop?.run() }

    /// Closes everything in the order that libwebsockets 4.1.6 needs on a foreign loop: the sockets and the contexts,
    /// then the loop's other handles, then the loop runs until all have closed, and then the contexts' memory is freed
    /// (`lws_context_destroy` a second time).
    func close() {
        guard let loop else { return }
        for server in servers.values { server.loopStops() }
        let mayFinish = contexts?.beginDestroying() ?? true
        while let timer = timers.popFirst()?.value { timer.close() }
        wakeUp = nil
        turnEnd = nil
        let isClean = mayFinish && loop.runOut(within: Self.closeTimeout)
        if isClean { contexts?.finishDestroying() }
        contexts = nil
        for server in servers.values { server.loopStopped() }
        servers = [:]
        onTurnEnded = nil
        workBeforeWait = []
        closing = []
        flushing = []
        readingChanges = []
        if !(isClean && loop.close()) {
            owner?.logger.warning("leaking the event loop: it stopped with open handles")
        }
        self.loop = nil
    }

    private func mailboxFilled() {
        guard let owner, let loop else { return }
        if owner.drainMailbox() {
            endTurn()
            loop.stop()
        }
    }

    private func endTurn() {
        turn &+= 1
        justUpgraded = nil
        if !inputDiscarders.isEmpty {
            for connection in Array(inputDiscarders.values) { connection.discardInput() }
        }
        // A flush may find sockets to close or work to do, which may give the hub something to flush. After a few rounds
        // the rest waits for the next turn, which follows at once.
        for _ in 0..<4 {
            applyReadingChanges()
            closeConnections()
            onTurnEnded?()
            reportFlush()
            if closing.isEmpty, workBeforeWait.isEmpty { return applyReadingChanges() }
            doWorkBeforeWait()
        }
        wake()
    }

    private func doWorkBeforeWait() {
        let work = workBeforeWait
        workBeforeWait = []
        for item in work { item() }
    }

    func beforeWait(_ work: @escaping () -> Void) { workBeforeWait.append(work) }

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

    func makeTimer(_ action: @escaping () -> Void) -> TimerHandle? {
        guard let loop else { return nil }
        let timer = TimerHandle(on: loop, action)
        timers[ObjectIdentifier(timer)] = timer
        return timer
    }

    func close(_ timer: TimerHandle) {
        timer.close()
        timers[ObjectIdentifier(timer)] = nil
    }

    func add(_ server: TransportServer) { servers[ObjectIdentifier(server)] = server }
    func remove(_ server: TransportServer) { servers[ObjectIdentifier(server)] = nil }
}
