import Metrics
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingSQLite
import SignalingTokens
import SignalingTransport

/// The configuration of a server. ``ServerSettings`` makes one from the command line, the environment and a file.
public struct ServerConfiguration: Sendable {
    /// The projects that may use the server.
    public enum Access: Sendable {
        /// One project.
        case project(apiKey: String, apiSecret: String)
        /// Projects and applications: at least one, each with its own API key or ID.
        case projects([Project])
        /// Development mode: the server creates a project, and `GET /session` gives tokens to every client. Only for a
        /// loopback address, unless ``ServerConfiguration/isShared``.
        case development
    }

    /// The address to listen on, or a host name for it. Default `127.0.0.1`.
    public var host: String
    /// The port to listen on, 0 to 65535; 0 picks a free one. Default 8080.
    public var port: Int
    public var access: Access
    /// Whether development mode is for devices of the local network, too. They get the page and join the rooms; everything
    /// else stays on this machine. Default `false`.
    public var isShared = false
    /// The folder with the test page and the browser library. `nil`: the server has the pages of ``webFiles``.
    public var webRoot: String?
    /// The test page and the browser library as a part of the program. Default `nil`: the server has no pages.
    package var webFiles: TarArchive?
    /// Where tokens that name no user have their user (USR-1), in all projects that ``projectUserSources`` does not name.
    /// Default `nil`: nowhere.
    public var userSource: UserSource?
    /// The same for single projects; `nil` as a value: nowhere.
    public var projectUserSources: [APIKey: UserSource?] = [:]
    /// Whether the server accepts `X-TB-PARTNER-AUTH: key:secret`, which some old backends send. It exposes the secret
    /// in each request. Default `false`.
    public var allowsPartnerAuth: Bool
    /// PEM files with the certificate chain and its key: the server then speaks https and wss only. `nil`: http and ws.
    public var tls: TransportServer.TLS?
    /// The interval of the server's pings. Default 10 s.
    public var heartbeat: Duration
    public var sessionBounds: SessionState.Bounds
    /// What happens when the token of a connected client expires (TOK-9). Default ``TokenExpiry/Policy/keep``.
    public var tokenExpiry: TokenExpiry.Policy = .keep
    /// The rate limit for each project's REST requests (REST-6). Default `nil`: no limit.
    public var requestRate: RateLimit?
    /// The rate limit for the lines of a connection that the signal rate does not count (WIRE-15): none if signals have
    /// none.
    var inputRate: RateLimit? { sessionBounds.signalRate == nil ? nil : .standardInput }
    /// How long signals of a session may wait for each other, so that one write carries several. Default 5 ms.
    public var mergeTime = FlushScheduler.Pace().longestWait
    /// The maximum time that a stopping server takes to disconnect its clients one after the other (LEAVE-5): 0 to 30
    /// s, default 5 s. With few clients it takes less.
    public var drainTime: Duration
    /// The folder with the log of the sessions' commands, from which the next process continues them, also after a
    /// crash (RES-15). In development mode it also keeps the project's secret. The server creates it if necessary.
    /// `nil`: sessions end with the process.
    public var stateFolder: String?
    /// The state folder of development mode where ``stateFolder`` names none. When the server cannot use it, it keeps its
    /// state in memory and says why in its ``SignalingServer/Address/keeping``. Default `nil`: in memory.
    public var developmentFolder: String?
    /// After which accident an acknowledged signal is still in the state folder. Default ``Durability/process``.
    public var durability = Durability.process
    /// Which sessions keep a history, and of what (HIS-1). Default: none.
    public var history = HistoryPolicy.none
    /// How much history is kept (HIS-2).
    public var historyBounds = HistoryBounds()
    /// Who may read the history (HIS-8). Default ``HistoryReading/role``.
    public var historyReading = HistoryReading.role
    /// The Redis over which several servers share their sessions; with several addresses the sessions are spread over
    /// them. All servers have the same list and the same projects. Excludes ``stateFolder`` and development mode. Empty:
    /// this server has its sessions for itself.
    public var redis: [RedisAddress] = []
    /// Receives the events of all projects that have no receiver of their own. `nil`: no posts.
    public var webhook: WebhookReceiver?
    public var projectWebhooks: [APIKey: WebhookReceiver]
    /// What the admin page calls sessions whose IDs have no label, or another one. Default: none.
    public var sessionLabels: [SessionID: SessionLabel] = [:]
    /// The times of posts.
    public var webhookBounds: WebhookBounds
    /// Which connections the server accepts.
    public var admission = AdmissionSettings()
    /// The listener for operators. `nil`: none.
    public var admin: AdminListener?
    /// Whether the main port has `/metrics`, too. Default `false`.
    public var servesMetrics = false
    /// Whether each HTTP request gets a log line. Default `false`: only those that fail with a status of 500 or more.
    public var logsRequests = false
    /// Receives the server's metrics once a second. Default `nil`: the backend of `MetricsSystem`, if one is set.
    public var metricsFactory: (any MetricsFactory)?
    /// Tells a service manager about the life of the server. `nil`: nobody is told.
    public var serviceNotifier: ServiceNotifier?
    /// The listening socket that another process has opened for the server (``listen(on:)``). `nil`: the server opens
    /// one.
    public private(set) var listeningSocket: ListeningSocket?

    public init(
        host: String = "127.0.0.1", port: Int = 8080, access: Access, webRoot: String? = nil,
        allowsPartnerAuth: Bool = false, tls: TransportServer.TLS? = nil, heartbeat: Duration = Limits.heartbeat,
        sessionBounds: SessionState.Bounds = .init(), requestRate: RateLimit? = nil, drainTime: Duration = .seconds(5),
        stateFolder: String? = nil, webhook: WebhookReceiver? = nil,
        projectWebhooks: [APIKey: WebhookReceiver] = [:], webhookBounds: WebhookBounds = .init()
    ) {
        self.host = host
        self.port = port
        self.access = access
        self.webRoot = webRoot
        self.allowsPartnerAuth = allowsPartnerAuth
        self.tls = tls
        self.heartbeat = heartbeat
        self.sessionBounds = sessionBounds
        self.requestRate = requestRate
        self.drainTime = drainTime
        self.stateFolder = stateFolder
        self.webhook = webhook
        self.projectWebhooks = projectWebhooks
        self.webhookBounds = webhookBounds
    }

    /// The projects with their sources of users, as the server verifies their tokens.
    func served(_ projects: [Project]) -> [Project] {
        projects.map { project in
            var project = project
            project.userSource = projectUserSources[project.apiKey] ?? userSource
            return project
        }
    }

    /// The presence events of a session that wait for a place in a feed. They wait for the disk alone.
    private static let untoldEventCount = 10_000

    /// The bounds of sessions that outlive the process: they keep presence events for webhooks, if there are any.
    var durableBounds: SessionState.Bounds {
        var bounds = sessionBounds
        // Of several nodes the one that was started or reloaded last counts.
        bounds.asOf = .current
        let receivers = [webhook].compactMap { $0 } + projectWebhooks.values
        if receivers.contains(where: { $0.types == nil }) { bounds.untoldEventCount = Self.untoldEventCount }
        return bounds
    }

    /// Listens on a socket that another process has opened, and takes host and port from it. A stopping server leaves
    /// the connections that still come to the next server on the socket.
    public mutating func listen(on socket: ListeningSocket) {
        listeningSocket = socket
        host = socket.host
        port = socket.port
    }

    /// The project with this key and this secret.
    static func project(apiKey: String, apiSecret: String) throws -> Project {
        guard let project = Project(apiKey: APIKey(apiKey), secret: apiSecret) else {
            throw ConfigurationError(
                "the API key or its secret is not valid. The key has 1 to 64 letters, digits or characters - . _, and "
                    + "the secret is not blank.")
        }
        return project
    }

    /// Whether a host is a loopback address or `localhost`.
    public static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // Digits only: `UInt8` also reads a sign, and "127.+0.0.1" is a name that a resolver may take anywhere.
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy {
                UInt8($0) != nil && $0.utf8.first != UInt8(ascii: "+") && $0.utf8.first != UInt8(ascii: "-")
            }
    }
}

extension ServerConfiguration.Access {
    /// The projects; `nil` in development mode, where the server creates one.
    ///
    /// - Throws: ``ConfigurationError`` without a project, and for two projects with one API key.
    func projects() throws -> [Project]? {
        switch self {
        case .project(let apiKey, let apiSecret):
            return [try ServerConfiguration.project(apiKey: apiKey, apiSecret: apiSecret)]
        case .projects(let projects):
            guard !projects.isEmpty else {
                throw ConfigurationError("the server has no project. Give at least one, or use development mode.")
            }
            guard Set(projects.map(\.apiKey)).count == projects.count else {
                throw ConfigurationError("two projects have the same API key. Give each project its own.")
            }
            return projects
        case .development: return nil
        }
    }
}
