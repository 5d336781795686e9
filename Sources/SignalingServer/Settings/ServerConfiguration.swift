import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// All that a server can be told. `docs/CONFIGURATION.md` lists the same settings for people.
public struct ServerConfiguration: Sendable {
    /// Who may use the server.
    public enum Access: Sendable {
        /// One project, for everybody who has its secret.
        case project(apiKey: String, apiSecret: String)
        /// Projects and applications, at least one, each with another API key or id.
        case projects([Project])
        /// Development mode: a project is made, and `GET /session` gives tokens to whoever asks. Loopback only.
        case development
    }

    /// An address of this machine, or a name for one. Default `127.0.0.1`.
    public var host: String
    /// 0 to 65535; 0 picks a free one. Default 8080.
    public var port: Int
    public var access: Access
    /// The folder with the test page and the browser library; `nil`: none are served.
    public var webRoot: String?
    /// Whether a backend may show `X-TB-PARTNER-AUTH: key:secret`, as some old ones do: the secret travels with each request.
    /// Default `false`.
    public var allowsPartnerAuth: Bool
    /// PEM files with the certificate chain and its key: the server speaks https and wss, and nothing else. `nil`: http and
    /// ws.
    public var tls: TransportServer.TLS?
    /// How often clients are pinged. Default 10 s.
    public var heartbeat: Duration
    public var sessionBounds: SessionState.Bounds
    /// How long the end of the server may take for its clients, who are sent away one after the other (LEAVE-5). 0 to 30 s,
    /// default 5 s; a few clients take no time.
    public var drainTime: Duration
    /// The folder in which the server leaves its sessions when it stops, and finds them when it starts (RES-15); one that is
    /// not there is made. In development mode its project's secret is kept there, too. `nil`: nothing outlives the process.
    public var stateFolder: String?
    /// Where the sessions of all projects without one of their own are told of; nil: nowhere.
    public var webhook: WebhookReceiver?
    public var projectWebhooks: [APIKey: WebhookReceiver]
    /// What each of these may cost.
    public var webhookBounds: WebhookQueue.Bounds

    public init(
        host: String = "127.0.0.1", port: Int = 8080, access: Access, webRoot: String? = nil,
        allowsPartnerAuth: Bool = false, tls: TransportServer.TLS? = nil, heartbeat: Duration = Limits.heartbeat,
        sessionBounds: SessionState.Bounds = .init(), drainTime: Duration = .seconds(5),
        stateFolder: String? = nil, webhook: WebhookReceiver? = nil,
        projectWebhooks: [APIKey: WebhookReceiver] = [:], webhookBounds: WebhookQueue.Bounds = .init()
    ) {
        self.host = host
        self.port = port
        self.access = access
        self.webRoot = webRoot
        self.allowsPartnerAuth = allowsPartnerAuth
        self.tls = tls
        self.heartbeat = heartbeat
        self.sessionBounds = sessionBounds
        self.drainTime = drainTime
        self.stateFolder = stateFolder
        self.webhook = webhook
        self.projectWebhooks = projectWebhooks
        self.webhookBounds = webhookBounds
    }

    /// The project that a key and a secret name, or why they name none.
    static func project(apiKey: String, apiSecret: String) throws -> Project {
        guard let project = Project(apiKey: APIKey(apiKey), secret: apiSecret) else {
            throw ConfigurationError(
                "the API key has to have 1 to 64 letters, digits or characters - . _, and the secret must not be empty")
        }
        return project
    }

    /// Whether a host means this machine alone.
    public static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// Why a server does not start: one line for a person.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
