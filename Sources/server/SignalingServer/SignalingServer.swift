import Logging
import ServiceLifecycle
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingSQLite
import SignalingTokens
import SignalingTransport
import Synchronization

/// A Signalbox server, which hosts sessions on its own thread.
///
/// Call ``start()`` and ``stop()``, or run it as a service of a `ServiceGroup`, whose graceful shutdown stops it.
public final class SignalingServer: Service {
    private let configuration: ServerConfiguration
    private let projects: [Project]
    private let files: StaticFiles
    let loop: LoopThread
    private let logger: Logger
    private let developmentSecret: String?
    /// ``ServerConfiguration/drainTime``, which a reload may change.
    let drainTime: Mutex<Duration>
    private let onReady: @Sendable (Address) -> Void
    /// Whether the sessions outlive the process; known when it has started.
    private let keepsSessions = Mutex(false)
    /// Guarded by the loop: created, used and released only on its thread.
    nonisolated(unsafe) var parts: Parts?
    /// Guarded by the loop, like `parts`. Open from the start on, if several servers share the sessions.
    nonisolated(unsafe) private var shared: SharedStore?
    private let stopping = Mutex<Task<StateFolderError?, Never>?>(nil)
    /// The command log has stopped: ``run()`` must end.
    private let faults = AsyncStream<StateFolderError>.makeStream(bufferingPolicy: .bufferingOldest(1))

    struct Parts {
        /// The projects of development mode; otherwise those of the last configuration.
        var projects: [Project]
        let sessions: SessionHost
        let hub: ServerHub
        let webhooks: Webhooks
        let router: RESTRouter
        let transport: TransportServer
        let admin: TransportServer?
        let metrics: ServerMetrics
        let handler: TransportDispatch
        /// Locked for as long as the server runs.
        let stateFolder: StateFolder?
        let historySweep: HistorySweep
        /// Looks at the file with revocations each second.
        let fileWatch: RepeatingTimer?
        let watchdog: LoopWatchdog?
    }

    /// Checks the configuration and reads the web folder. Opens no socket and no state folder yet.
    ///
    /// - Parameter onReady: called once, when the server accepts connections.
    /// - Throws: ``ConfigurationError``.
    public init(
        configuration: ServerConfiguration, logger: Logger,
        onReady: @escaping @Sendable (Address) -> Void = { _ in }
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.onReady = onReady
        var faults = FaultCollector()
        configuration.check(&faults)
        files = configuration.readFiles(&faults)
        try faults.finish()
        if let projects = try configuration.access.projects() {
            self.projects = configuration.served(projects)
            developmentSecret = nil
        } else {
            var randomness = SystemRandomNumberGenerator()
            let secret = ResumeSecret(using: &randomness).rawValue
            projects = configuration.served([try Self.developmentProject(secret)])
            developmentSecret = secret
        }
        drainTime = Mutex(configuration.drainTime)
        loop = LoopThread(name: "signalbox", logger: logger)
    }

    /// The API key of development mode's project.
    public static let developmentKey = APIKey("100")

    private static func developmentProject(_ secret: String) throws -> Project {
        guard let project = Project(apiKey: developmentKey, secret: secret) else {
            throw ConfigurationError("the secret of development mode is not valid")
        }
        return project
    }

    /// Opens the listening socket, and returns when the server accepts connections.
    ///
    /// - Throws: `TransportError` when the server cannot listen on the address, ``StateFolderError`` when it cannot use
    ///   the state folder, ``CommandLogFault`` when it cannot use Redis. The saved sessions stay where they are.
    @discardableResult
    public func start() async throws -> Address {
        try loop.start()
        do {
            try await openSharedLog()
            let (port, adminPort, developmentSecret, keeping) = try await loop.run { try self.assemble() }
            let address = Address(
                host: configuration.host, port: port, isSecure: configuration.tls != nil,
                developmentSecret: developmentSecret, keeping: keeping,
                adminURL: adminPort.map { Address.url(host: configuration.admin?.host ?? "", port: $0) })
            onReady(address)
            note(address)
            configuration.serviceNotifier?.ready("listening at \(address.url)")
            return address
        } catch {
            // The other servers need not wait for this one to be declared lost.
            try? await leaveRedis()
            await loop.stop()
            throw error
        }
    }

    /// Begins the life of the server in the log.
    private func note(_ address: Address) {
        var metadata: Logger.Metadata = [
            "url": "\(address.url)", "version": "\(ServerVersion.text)", "projects": .stringConvertible(projects.count),
        ]
        if let url = address.adminURL { metadata["admin"] = "\(url)" }
        if let folder = configuration.stateFolder { metadata["stateDir"] = "\(folder)" }
        logger.info("listening", metadata: metadata)
    }

    /// Connects to Redis, if several servers share the sessions. Waits for it, so that nothing is half started.
    private func openSharedLog() async throws {
        if configuration.redis.isEmpty { return }
        let (opened, outcome) = AsyncThrowingStream<Never, any Error>.makeStream()
        try await loop.run {
            guard let eventLoop = self.loop.eventLoop else {
                throw TransportError(.stopped, "the server was stopped while it started")
            }
            var randomness = SystemRandomNumberGenerator()
            RedisCommandLog.open(
                self.configuration.redis, run: RunID(randomness.next()), loop: eventLoop, logger: self.logger
            ) { result in
                switch result {
                case .success(let log):
                    let archive = RedisArchive(
                        self.configuration.redis, bounds: self.configuration.historyBounds,
                        projectOf: SessionHost.project, loop: eventLoop, logger: self.logger)
                    self.shared = SharedStore(
                        log: log, archive: archive,
                        revocations: RedisRevocationTable(
                            self.configuration.redis[0], limit: Limits.revocationCount, loop: eventLoop,
                            logger: self.logger
                        ) { outcome.finish() })
                case .failure(let fault): outcome.finish(throwing: fault)
                }
            }
        }
        for try await _ in opened {}
    }

    /// - Returns: the port, that of the admin listener, the secret of development mode, and where its state is.
    private func assemble() throws -> (Int, Int?, String?, DevelopmentStorage) {
        let storage = try openStorage()
        keepsSessions.withLock { $0 = storage.outlivesProcess }
        let (sessions, developmentSecret) = (storage.sessions, storage.developmentSecret)
        let projects =
            try developmentSecret.map { configuration.served([try Self.developmentProject($0)]) } ?? projects
        let revocations = storage.revocations
        var verifier = TokenVerifier(
            projects: projects, allowsPartnerAuth: configuration.allowsPartnerAuth)
        verifier.revocations = revocations.revocations
        var options = TransportServer.Options(host: configuration.host, port: configuration.port)
        options.listeningSocket = configuration.listeningSocket
        options.tls = configuration.tls
        options.isLocalOnly = configuration.isShared
        options.healthPaths = Route.healthPaths
        options.responseHeaders = SafetyHeaders.common(host: configuration.host, hasTLS: configuration.tls != nil)
        configuration.admission.apply(to: &options)
        if let wanted = configuration.admission.maxConnections, wanted > options.connectionCount {
            logger.warning(
                "the limit of open files permits only \(options.connectionCount) of \(wanted) connections; raise it")
        }
        let refusals = RefusalRecorder(logger: logger)
        var limits = HubLimits(heartbeat: configuration.heartbeat, tokenExpiry: configuration.tokenExpiry)
        limits.inputRate = configuration.inputRate
        limits.historyReading = configuration.historyReading
        limits.flushPace.longestWait = configuration.mergeTime
        limits.joins = configuration.admission.joinLimits(
            total: options.connectionCount, projectCount: projects.count)
        let feeds = FeedDesk(
            loop: loop, engine: sessions.engine, feed: sessions.archive.feed, policy: configuration.history)
        let webhooks = try Webhooks(
            configuration, projects: projects, desk: feeds, loop: loop, logger: logger,
            onHandedOn: { [engine = sessions.engine] in engine.noteTold($0, of: $1) })
        let hub = Hub(
            environment: LoopEnvironment(loop: loop), engine: sessions.engine, verifier: verifier, limits: limits,
            logger: logger, refusals: refusals, onPresence: { webhooks.post($0, of: $1) },
            onKeptPresence: { webhooks.post($0, of: $1) })
        if case .redis(let log, _) = sessions.store { log.onIsolation = { [weak hub] in hub?.standAlone($0) } }
        sessions.reportUntold()
        var development: DevelopmentRooms?
        if let project = projects.first, let developmentSecret {
            development = DevelopmentRooms(project: project, secret: developmentSecret)
        }
        let requests = RequestStatistics()
        let metrics = ServerMetrics(
            .init(
                loop: loop, hub: hub, sessions: sessions, requests: requests, refusals: refusals, webhooks: webhooks,
                feeds: feeds,
                connectionLimit: options.connectionCount,
                // The transport serves the metrics, so it is made after them.
                httpConnectionCount: { [weak self] in self?.parts?.transport.connectionCount ?? 0 },
                stateFolder: storage.folder?.path),
            factory: configuration.metricsFactory ?? ServerMetrics.bootstrappedFactory)
        let api = AdminAPI(
            hub: hub, labels: configuration.sessionLabels, feeds: FeedConsumers(desk: feeds, webhooks: webhooks),
            stats: { metrics.summary() })
        let log = RequestLog(statistics: requests, logger: logger, isAccessLogged: configuration.logsRequests)
        let router = RESTRouter(
            hub: hub, verifier: verifier, files: files, development: development,
            isShared: configuration.isShared,
            links: configuration.redis.isEmpty ? LinkCodes() : nil, revocations: revocations, feeds: feeds,
            requestRate: configuration.requestRate,
            obstacle: { sessions.obstacle }, historyFault: { sessions.historyFault }, admin: api,
            metrics: configuration.servesMetrics ? { metrics.publicResponse() } : nil, log: log, logger: logger)
        let handler = TransportDispatch(hub: hub, router: router)
        let transport: TransportServer
        let admin: TransportServer?
        do {
            transport = try TransportServer(loop: loop, options: options, handler: handler, refusals: refusals)
            admin = try configuration.admin.map { listener in
                try self.listen(listener, api: api, log: log, router: router, metrics: metrics)
            }
        } catch {
            // The next process then counts the windows from the end of the last one, not from this start.
            try? sessions.close(now: loop.now)
            throw error
        }
        // The loop runs before there is a hub, since the hub's timers need it.
        revocations.onChange = { [weak hub, weak router, unowned revocations] in
            hub?.verifier.revocations = revocations.revocations
            router?.verifier.revocations = revocations.revocations
            hub?.endRevoked()
        }
        hub.onEnds = { [transport] in transport.noteEnds($0) }
        loop.onTurnEnded = { [hub] in hub.turnEnded() }
        parts = Parts(
            projects: projects, sessions: sessions, hub: hub, webhooks: webhooks, router: router, transport: transport,
            admin: admin, metrics: metrics, handler: handler, stateFolder: storage.folder,
            historySweep: HistorySweep(loop: loop, sessions: sessions, logger: logger),
            fileWatch: (revocations as? FileRevocations).map { file in
                RepeatingTimer(loop: loop, every: .seconds(1)) { file.keepFile() }
            },
            watchdog: configuration.serviceNotifier.flatMap { LoopWatchdog(loop: loop, notifier: $0) })
        return (transport.port, admin?.port, developmentSecret, storage.kind)
    }

    /// Opens the listener for operators, without TLS and without the limits for clients.
    private func listen(
        _ listener: AdminListener, api: AdminAPI, log: RequestLog, router: RESTRouter, metrics: ServerMetrics
    ) throws -> TransportServer {
        var options = TransportServer.Options(host: listener.host, port: listener.port)
        options.maxConnectionCount = Self.adminConnectionCount
        options.responseHeaders = SafetyHeaders.common(host: listener.host, hasTLS: false)
        let handler = AdminRouter(
            listener: listener, api: api, log: log, health: { [unowned router] in router.health($0) },
            metrics: { [metrics] in metrics.response() },
            noteRefused: { [unowned router] in router.noteRefused($0, $1, $2) })
        return try TransportServer(
            loop: loop, options: options, handler: handler, refusals: RefusalRecorder(logger: logger))
    }

    /// Enough for Prometheus, some pages and command lines.
    private static let adminConnectionCount = 64

    var isDurable: Bool { keepsSessions.withLock { $0 } }

    private func openStorage() throws(StateFolderError) -> StateStorage {
        try StateStorage.open(
            configuration: configuration, developmentSecret: developmentSecret, shared: shared, loop: loop,
            logger: logger, onFault: { [faults] in faults.continuation.yield($0) })
    }

    /// Disconnects every client (LEAVE-5), closes the command log if there is one, and ends the loop. Without a log it
    /// posts the last webhook events, for at most three seconds; otherwise the next process, or another server, posts
    /// them. ``hurry()`` shortens it. Concurrent calls wait for the same stop.
    public func stop() async { _ = await stopOnce() }

    /// - Returns: why the command log could not be closed, if it could not.
    private func stopOnce() async -> StateFolderError? {
        // One task for all callers. It is unstructured, so that the cancellation of a caller does not shorten it.
        let task = stopping.withLock { stopping in
            let task = stopping ?? Task { await self.drainAndClose() }
            stopping = task
            return task
        }
        return await task.value
    }

    private func drainAndClose() async -> StateFolderError? {
        configuration.serviceNotifier?.stopping("disconnecting the clients")
        try? await drain()
        let fault = (try? await loop.run { self.endOnLoop() }) ?? nil
        // What the log has confirmed at the end is on its way to the loop: the last answers to REST requests.
        try? await leaveRedis()
        if let fault { logger.error("\(fault)") }
        if !isDurable { try? await finishWebhooks() }
        await loop.stop()
        logger.info("stopped")
        return fault
    }

    /// The feeds end with the process: the receivers get what is left.
    private func finishWebhooks() async throws {
        let (finished, end) = AsyncStream<Void>.makeStream()
        try await loop.run {
            guard let webhooks = self.parts?.webhooks else { return end.finish() }
            webhooks.finish {
                webhooks.stop()
                end.finish()
            }
        }
        for await _ in finished {}
    }

    private func drain() async throws {
        let (drained, end) = AsyncStream<Void>.makeStream()
        try await loop.run {
            guard let parts = self.parts else { return end.finish() }
            self.logger.info("stopping", metadata: ["connections": .stringConvertible(parts.transport.socketCount)])
            parts.router.isDraining = true
            parts.transport.leaveListeningSocket()
            // Clients must be disconnected early enough to reconnect within the resume window.
            let longest = min(self.drainTime.withLock { $0 }, self.configuration.sessionBounds.resumeWindow / 4)
            parts.hub.drain(over: longest) { end.finish() }
        }
        for await _ in drained {}
    }

    /// Waits, but not for long, until Redis has the commands that were appended, and tells the other servers that this
    /// one stops.
    private func leaveRedis() async throws {
        let (left, end) = AsyncStream<Never>.makeStream()
        try await loop.run {
            guard let shared = self.shared else { return end.finish() }
            shared.archive.close()
            shared.revocations.close()
            shared.log.close { end.finish() }
        }
        for await _ in left {}
    }

    /// Ends the hub, after which the server accepts no command, and closes the command log.
    ///
    /// - Returns: why the log could not be closed, if it could not. The next process continues as after a crash.
    private func endOnLoop() -> StateFolderError? {
        guard let parts else { return nil }
        parts.transport.stopAccepting()
        parts.admin?.stopAccepting()
        parts.hub.end()
        parts.router.feeds.endWaiting()
        if isDurable { parts.webhooks.stop() }
        parts.router.revocations.close()
        do throws(CommandLogFault) {
            try parts.sessions.close(now: loop.now)
            return nil
        } catch {
            return StateFolderError(error.message)
        }
    }

    /// Makes a ``stop()`` that is under way disconnect all remaining clients at once.
    public func hurry() { loop.post { self.parts?.hub.hurry() } }

    /// Runs until the group shuts down gracefully or the task is cancelled.
    ///
    /// - Throws: the errors of ``start()``; ``StateFolderError`` as soon as the server can keep no more commands, and at
    ///   the end when it could not close the command log.
    public func run() async throws {
        try await start()
        if let fault = await faultBeforeShutdown() {
            // No drain: the server can acknowledge nothing more, and every client comes back to the next process.
            await loop.stop()
            throw fault
        }
        if let fault = await stopOnce() { throw fault }
    }

    private func faultBeforeShutdown() async -> StateFolderError? {
        await withTaskGroup(of: StateFolderError?.self) { group in
            group.addTask {
                try? await gracefulShutdown()
                return nil
            }
            group.addTask { [faults] in await faults.stream.first { _ in true } }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
