import Logging
import ServiceLifecycle
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import Synchronization

/// A Signalbox server: everything that one process needs to host sessions.
///
/// Either call ``start()`` and ``stop()``, or run it as a service of a `ServiceGroup`: then the group's graceful shutdown
/// stops it. All work happens on a thread of its own.
public final class SignalingServer: Service {
    private let configuration: ServerConfiguration
    private let projects: [Project]
    private let files: StaticFiles
    private let loop: LoopThread
    private let logger: Logger
    private let developmentSecret: String?
    private let webhooks: Webhooks?
    private let onReady: @Sendable (Address) -> Void
    /// Guarded by the loop: made, used and dropped on its thread only.
    private nonisolated(unsafe) var parts: Parts?
    private let ending = Mutex<Task<StateFolderError?, Never>?>(nil)

    /// Where a server listens.
    public struct Address: Sendable {
        public let host: String
        public let port: Int
        /// Whether it speaks https and wss.
        public let isSecure: Bool
        /// In development mode the secret of the project that was made, for backends and tools; else `nil`.
        public let developmentSecret: String?
        /// For a browser: `http://127.0.0.1:8080/`.
        public var url: String {
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return "\(isSecure ? "https" : "http")://\(name):\(port)/"
        }
    }

    private struct Parts {
        let engine: MemoryEngine
        let hub: ServerHub
        let router: RESTRouter
        let transport: TransportServer
        let handler: Handler
        /// Nil once the server has ended.
        var stateFolder: StateFolder?
    }

    /// Checks the configuration and reads the web folder; nothing is opened yet.
    ///
    /// - Parameter onReady: called once, when the server accepts connections.
    /// - Throws: ``ConfigurationError``, with one line that says what is wrong.
    public init(
        configuration: ServerConfiguration, logger: Logger,
        onReady: @escaping @Sendable (Address) -> Void = { _ in }
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.onReady = onReady
        guard (0...65_535).contains(configuration.port) else {
            throw ConfigurationError("port \(configuration.port) is not between 0 and 65535")
        }
        switch configuration.access {
        case .project(let apiKey, let apiSecret):
            projects = [try ServerConfiguration.project(apiKey: apiKey, apiSecret: apiSecret)]
            developmentSecret = nil
        case .projects(let projects):
            guard !projects.isEmpty else { throw ConfigurationError("a server needs a project") }
            guard Set(projects.map(\.apiKey)).count == projects.count else {
                throw ConfigurationError("two projects have the same API key")
            }
            self.projects = projects
            developmentSecret = nil
        case .development:
            guard ServerConfiguration.isLoopback(configuration.host) else {
                throw ConfigurationError(
                    "development mode gives tokens to whoever asks, so it listens on loopback addresses only, not on "
                        + "\(configuration.host): give an API key and a secret")
            }
            var randomness = SystemRandomNumberGenerator()
            let secret = ResumeSecret(using: &randomness).rawValue
            projects = [try Self.developmentProject(secret)]
            developmentSecret = secret
        }
        do {
            files = try configuration.webRoot.map(StaticFiles.init(folder:)) ?? StaticFiles()
        } catch {
            throw ConfigurationError("the web folder cannot be served: \(error)")
        }
        webhooks = Webhooks(configuration, projects: projects, logger: logger)
        loop = LoopThread(name: "signalbox", logger: logger)
    }

    /// The API key of the project that development mode makes.
    public static let developmentKey = APIKey("100")

    private static func developmentProject(_ secret: String) throws -> Project {
        guard let project = Project(apiKey: developmentKey, secret: secret) else {
            throw ConfigurationError("no development project can be made")
        }
        return project
    }

    /// Opens the socket and returns when the server accepts connections.
    ///
    /// - Throws: `TransportError` when the address cannot be listened on, ``StateFolderError`` when the state folder cannot be
    ///   used. What is in the folder is there still, then.
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
            let secret = try folder.developmentSecret(first: made)
            projects = [try Self.developmentProject(secret)]
            developmentSecret = secret
        }
        let verifier = TokenVerifier(
            projects: projects, allowsPartnerAuth: configuration.allowsPartnerAuth)
        let engine = MemoryEngine(bounds: configuration.sessionBounds) {
            var randomness = SystemRandomNumberGenerator()
            return Epoch(using: &randomness)
        }
        let hub = Hub(
            environment: LoopEnvironment(loop: loop), engine: engine, verifier: verifier,
            limits: HubLimits(heartbeat: configuration.heartbeat), logger: logger)
        if let webhooks { hub.onPresence = { webhooks.tell($0, of: $1) } }
        var development: DevelopmentRooms?
        if let project = projects.first, let developmentSecret {
            development = DevelopmentRooms(project: project, secret: developmentSecret)
        }
        let router = RESTRouter(hub: hub, verifier: verifier, files: files, development: development)
        let handler = Handler(hub: hub, router: router)
        var options = TransportServer.Options(host: configuration.host, port: configuration.port)
        options.tls = configuration.tls
        let transport = try TransportServer(loop: loop, options: options, handler: handler)
        loop.onTurnEnded = { [hub] in hub.turnEnded() }
        // The last step, since it takes the state away: whatever can fail has not, and nobody is in yet.
        if let stateFolder { engine.restore(try stateFolder.take(now: loop.now, wallTime: .current)) }
        parts = Parts(
            engine: engine, hub: hub, router: router, transport: transport, handler: handler, stateFolder: stateFolder)
        return (transport.port, developmentSecret)
    }

    /// Sends every client away (LEAVE-5), keeps the sessions if there is a folder for them, and returns when the loop has
    /// ended and webhooks had their last try, of three seconds at most. ``hurry()`` makes it shorter. Whoever calls it meanwhile
    /// waits for the same end.
    public func stop() async { _ = await end() }

    /// - Returns: why the sessions could not be kept, if they could not.
    private func end() async -> StateFolderError? {
        // Once, for all who ask: a second end would find the sessions still there, and end those that are kept. And a task of
        // its own: one that is cancelled would not wait.
        let task = ending.withLock { ending in
            let task = ending ?? Task { await self.endOnce() }
            ending = task
            return task
        }
        return await task.value
    }

    private func endOnce() async -> StateFolderError? {
        try? await drain()
        let kept = try? await loop.run { self.endOnLoop() }
        var fault: StateFolderError?
        if let kept {
            do throws(StateFolderError) {
                try kept.folder.keep(kept.sessions, now: kept.now, wallTime: .current)
            } catch {
                logger.error("\(error)")
                fault = error
                try? await loop.run { self.parts?.engine.endSessions() }
            }
        }
        await loop.stop()
        await webhooks?.stop()
        return fault
    }

    private func drain() async throws {
        let (drained, end) = AsyncStream<Void>.makeStream()
        try await loop.run {
            guard let parts = self.parts else { return end.finish() }
            parts.router.isDraining = true
            // The spread is of no use to a client who would come back too late.
            let longest = min(self.configuration.drainTime, self.configuration.sessionBounds.resumeWindow / 4)
            parts.hub.drain(over: longest) { end.finish() }
        }
        for await _ in drained {}
    }

    private struct Kept: Sendable {
        let folder: StateFolder
        let sessions: [SessionSnapshot]
        let now: MonotonicInstant
    }

    /// After this nothing is acknowledged any more.
    ///
    /// - Returns: what is to be kept, if there is where. Sessions that go on have not ended: webhooks hear nothing of them.
    private func endOnLoop() -> Kept? {
        guard let parts else { return nil }
        parts.transport.stopAccepting()
        parts.hub.end()
        guard let folder = parts.stateFolder else {
            parts.engine.endSessions()
            return nil
        }
        self.parts?.stateFolder = nil
        let now = loop.now
        return Kept(folder: folder, sessions: parts.engine.snapshots(at: now), now: now)
    }

    /// Makes a ``stop()`` that is under way wait for nobody's turn.
    public func hurry() { loop.post { self.parts?.hub.hurry() } }

    /// Runs until the group shuts down gracefully or the task is cancelled.
    ///
    /// - Throws: as ``start()``; and ``StateFolderError`` at the end, when the sessions could not be kept.
    public func run() async throws {
        try await start()
        do { try await gracefulShutdown() } catch is CancellationError {}
        if let fault = await end() { throw fault }
    }
}

/// Hands the transport's calls to who they are for. Confined to the loop.
private final class Handler: TransportServerHandler {
    private let hub: ServerHub
    private let router: RESTRouter

    init(hub: ServerHub, router: RESTRouter) {
        self.hub = hub
        self.router = router
    }

    func socketOpened(_ socket: ServerSocket) { hub.socketOpened(socket) }
    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {
        hub.socket(socket, received: message)
    }
    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {
        hub.socket(socket, violated: violation)
    }
    func socketDrained(_ socket: ServerSocket) { hub.socketDrained(socket) }
    func socketClosed(_ socket: ServerSocket, code: UInt16?) { hub.socketClosed(socket, code: code) }
    func requestReceived(_ exchange: HTTPExchange) { router.handle(exchange) }
}
