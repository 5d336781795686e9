import Logging
import ServiceLifecycle
import SignalingCore
import SignalingProtocol
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
    let webhooks: Webhooks
    /// ``ServerConfiguration/drainTime``, which a reload may change.
    let drainTime: Mutex<Duration>
    private let onReady: @Sendable (Address) -> Void
    /// Guarded by the loop: created, used and released only on its thread.
    nonisolated(unsafe) var parts: Parts?
    private let stopping = Mutex<Task<StateFolderError?, Never>?>(nil)

    struct Parts {
        /// The projects of development mode; otherwise those of the last configuration.
        var projects: [Project]
        let engine: MemoryEngine
        let hub: ServerHub
        let router: RESTRouter
        let transport: TransportServer
        let handler: TransportDispatch
        /// Nil without a folder, and after the server has stopped.
        var stateFolder: StateFolder?
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
        guard (0...65_535).contains(configuration.port) else {
            throw ConfigurationError("the port is \(configuration.port). Use a number from 0 to 65535.")
        }
        if let projects = try configuration.access.projects() {
            self.projects = projects
            developmentSecret = nil
        } else {
            guard ServerConfiguration.isLoopback(configuration.host) else {
                throw ConfigurationError(
                    "development mode gives tokens to every client, so it cannot listen on \(configuration.host). Use "
                        + "a loopback address, or give an API key and a secret.")
            }
            var randomness = SystemRandomNumberGenerator()
            let secret = ResumeSecret(using: &randomness).rawValue
            projects = [try Self.developmentProject(secret)]
            developmentSecret = secret
        }
        do {
            files = try configuration.webRoot.map(StaticFiles.init(folder:)) ?? StaticFiles()
        } catch {
            throw ConfigurationError("the web folder cannot be used: \(error)")
        }
        drainTime = Mutex(configuration.drainTime)
        webhooks = Webhooks(configuration, projects: projects, logger: logger)
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
    ///   the state folder. The saved sessions then stay in the folder.
    @discardableResult
    public func start() async throws -> Address {
        try loop.start()
        do {
            let (port, developmentSecret) = try await loop.run { try self.assemble() }
            let address = Address(
                host: configuration.host, port: port, isSecure: configuration.tls != nil,
                developmentSecret: developmentSecret)
            onReady(address)
            return address
        } catch {
            await loop.stop()
            throw error
        }
    }

    /// - Returns: the port, and the secret of development mode.
    private func assemble() throws -> (Int, String?) {
        var stateFolder: StateFolder?
        if let path = configuration.stateFolder { stateFolder = try StateFolder(path: path, logger: logger) }
        var (projects, developmentSecret) = (projects, developmentSecret)
        if let folder = stateFolder, let made = developmentSecret {
            let secret = try folder.developmentSecret(orNew: made)
            projects = [try Self.developmentProject(secret)]
            developmentSecret = secret
        }
        let verifier = TokenVerifier(
            projects: projects, allowsPartnerAuth: configuration.allowsPartnerAuth)
        let engine = MemoryEngine(bounds: configuration.sessionBounds) {
            var randomness = SystemRandomNumberGenerator()
            return Epoch(using: &randomness)
        }
        var options = TransportServer.Options(host: configuration.host, port: configuration.port)
        options.listeningSocket = configuration.listeningSocket
        options.tls = configuration.tls
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
        limits.joins = configuration.admission.joinLimits(
            total: options.connectionCount, projectCount: projects.count)
        let hub = Hub(
            environment: LoopEnvironment(loop: loop), engine: engine, verifier: verifier, limits: limits,
            logger: logger, refusals: refusals)
        hub.onPresence = { [webhooks] in webhooks.post($0, of: $1) }
        var development: DevelopmentRooms?
        if let project = projects.first, let developmentSecret {
            development = DevelopmentRooms(project: project, secret: developmentSecret)
        }
        let router = RESTRouter(
            hub: hub, verifier: verifier, files: files, development: development,
            requestRate: configuration.requestRate)
        let handler = TransportDispatch(hub: hub, router: router)
        let transport = try TransportServer(loop: loop, options: options, handler: handler, refusals: refusals)
        loop.onTurnEnded = { [hub] in hub.turnEnded() }
        // The last step, since it deletes the saved sessions: nothing after it can fail, and no client is connected
        // yet.
        if let stateFolder {
            engine.restore(try stateFolder.restoreSessions(now: loop.now, wallTime: .current), now: loop.now)
        }
        parts = Parts(
            projects: projects, engine: engine, hub: hub, router: router, transport: transport, handler: handler,
            stateFolder: stateFolder)
        return (transport.port, developmentSecret)
    }

    /// Disconnects every client (LEAVE-5), saves the sessions if there is a state folder, posts the last webhook events
    /// for at most three seconds, and ends the loop. ``hurry()`` shortens it. Concurrent calls wait for the same stop.
    public func stop() async { _ = await stopOnce() }

    /// - Returns: why the sessions could not be saved, if they could not.
    private func stopOnce() async -> StateFolderError? {
        // One task for all callers: a second run would end the sessions that the first one has saved. It is
        // unstructured, so that the cancellation of a caller does not shorten it.
        let task = stopping.withLock { stopping in
            let task = stopping ?? Task { await self.drainAndSave() }
            stopping = task
            return task
        }
        return await task.value
    }

    private func drainAndSave() async -> StateFolderError? {
        try? await drain()
        let saved = try? await loop.run { self.endOnLoop() }
        var fault: StateFolderError?
        if let saved {
            do throws(StateFolderError) {
                try saved.folder.save(saved.sessions, now: saved.now, wallTime: .current)
            } catch {
                logger.error("\(error)")
                fault = error
                try? await loop.run { self.parts?.engine.endSessions() }
            }
        }
        await loop.stop()
        await webhooks.stop()
        return fault
    }

    private func drain() async throws {
        let (drained, end) = AsyncStream<Void>.makeStream()
        try await loop.run {
            guard let parts = self.parts else { return end.finish() }
            parts.router.isDraining = true
            parts.transport.leaveListeningSocket()
            // Clients must be disconnected early enough to reconnect within the resume window.
            let longest = min(self.drainTime.withLock { $0 }, self.configuration.sessionBounds.resumeWindow / 4)
            parts.hub.drain(over: longest) { end.finish() }
        }
        for await _ in drained {}
    }

    private struct SessionsToSave: Sendable {
        let folder: StateFolder
        let sessions: [SessionSnapshot]
        let now: MonotonicInstant
    }

    /// Ends the hub, after which the server acknowledges nothing.
    ///
    /// - Returns: the sessions to save, if there is a state folder. Saved sessions do not end, so webhooks get no
    ///   events for them.
    private func endOnLoop() -> SessionsToSave? {
        guard let parts else { return nil }
        parts.transport.stopAccepting()
        parts.hub.end()
        guard let folder = parts.stateFolder else {
            parts.engine.endSessions()
            return nil
        }
        self.parts?.stateFolder = nil
        let now = loop.now
        return SessionsToSave(folder: folder, sessions: parts.engine.snapshots(at: now), now: now)
    }

    /// Makes a ``stop()`` that is under way disconnect all remaining clients at once.
    public func hurry() { loop.post { self.parts?.hub.hurry() } }

    /// Runs until the group shuts down gracefully or the task is cancelled.
    ///
    /// - Throws: the errors of ``start()``; at the end ``StateFolderError`` when the sessions could not be saved.
    public func run() async throws {
        try await start()
        do { try await gracefulShutdown() } catch is CancellationError {}
        if let fault = await stopOnce() { throw fault }
    }
}
