import SignalingCore
import SignalingProtocol
import SignalingSQLite
import SignalingTransport

/// All settings of the server. Their order is that of docs/CONFIGURATION.md.
public struct SettingsTable: Sendable {
    public static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// The settings' defaults are those of the types that they configure.
    private static let standard = ServerConfiguration(access: .development)
    private static let admin = AdminListener(port: 0)
    private static let bounds = standard.sessionBounds
    /// The default rate with a project; development mode has no limit.
    static let signalRate = 200
    /// The default rate with a project; development mode has no limit.
    static let requestRate = 1000
    /// The default burst is the number of signals that the rate allows in this many seconds.
    static let burstSeconds = 5

    private static let historyBounds = HistoryBounds()
    /// The types of chat messages, those of OpenTok's sample component included.
    static let chatTypes = "text-chat,TextChat"
    static let allChanges = ChangeKind.allCases.map(\.rawValue).joined(separator: ",")

    private static let day = 0...86_400
    private static let million = 1_000_000

    public let host = Setting<String>(
        "host", default: Self.standard.host, form: "an IP address or a host name",
        "The address to listen on, or a name for it. `::` has all addresses, of IPv6 and IPv4.")
    public let port = Setting<Int>(
        "port", 0...65_535, default: "\(Self.standard.port)",
        "The port to listen on; 0 picks a free one, which the ready line shows."
    ) { $0.port = $1 }
    public let apiKey = Setting<String>("apiKey", form: "an API key", reloads: true, "The API key of a project.")
    public let apiSecret = Setting<String>(
        "apiSecret", isSecret: true, form: "the secret of the project", reloads: true,
        "The secret of that project. Prefer the variable: other users of the machine can see the options.")
    public let dev = Setting<Bool>(
        "dev", default: "on without credentials and projects",
        "Development mode: the server creates a project and gives tokens to every client on this machine.")
    public let ephemeral = Setting<Bool>(
        "ephemeral", default: "false",
        "Development mode: keep the secret and the rooms in memory, for this run only.")
    public let share = Setting<Bool>(
        "share", default: "false",
        "Development mode for the local network: devices of the same Wi-Fi get the page and join the rooms. Everything else "
            + "stays on this machine. Listens on 0.0.0.0 unless host is given.")
    public let webRoot = Setting<String>(
        "webRoot", default: "the files inside of the program", form: "the path of a folder",
        "The folder with the test page and the browser library."
    ) { $0.webRoot = $1 }
    public let allowPartnerAuth = Setting<Bool>(
        "allowPartnerAuth", default: "\(Self.standard.allowsPartnerAuth)", reloads: true,
        "Accept X-TB-PARTNER-AUTH: key:secret in REST requests, as some old backends send it."
    ) { $0.allowsPartnerAuth = $1 }
    public let userFrom = Setting<String>(
        "userFrom", form: "connectionData, or connectionData.NAME, or none", reloads: true,
        "Which connection data names the user in tokens that do not name one themselves (USR-1): connectionData, all of it; "
            + "connectionData.NAME, this member of a JSON object. A project in the file may have its own.")
    public let projects = SettingList("projects", "A list of projects: see below.")
    public let applications = SettingList("applications", "A list of applications: see below.")
    public let sessions = SettingList("sessions", "A list of sessions with labels for the admin page: see below.")
    public let tlsCert = Setting<String>(
        "tlsCert", form: "the path of a PEM file", reloads: true,
        "A PEM file with the certificate and its chain: the server then speaks https and wss only.")
    public let tlsKey = Setting<String>(
        "tlsKey", form: "the path of a PEM file", reloads: true,
        "A PEM file with the certificate's private key, without a passphrase.")
    public let tokenExpiry = Setting<String>(
        "tokenExpiry", default: Self.standard.tokenExpiry.rawValue,
        choice: TokenExpiry.Policy.allCases.map(\.rawValue),
        "What happens when the token of a connected client expires: keep the connection, as OpenTok does, or end it "
            + "(TOK-9)."
    ) { $0.tokenExpiry.read($1) }
    public let resumeSeconds = Setting<Int>(
        "resumeSeconds", Self.day, default: Self.seconds(Self.bounds.resumeWindow),
        "How many seconds a connection stays in its session without a socket."
    ) { $0.sessionBounds.resumeWindow = .seconds($1) }
    public let recoverySeconds = Setting<Int>(
        "recoverySeconds", Self.day, default: Self.seconds(Self.bounds.recoveryWindow),
        "How many seconds after the loss of its socket a client can still fetch the broadcasts that it missed."
    ) { $0.sessionBounds.recoveryWindow = .seconds($1) }
    public let logEvents = Setting<Int>(
        "logEvents", 1...Self.million, default: "\(Self.bounds.log.eventCount)",
        "How many events a session keeps for clients that resume."
    ) { $0.sessionBounds.log.eventCount = $1 }
    public let logBytes = Setting<Int>(
        "logBytes", 65_536...1_073_741_824, default: "\(Self.bounds.log.byteCount)",
        "How many bytes of events a session keeps for clients that resume."
    ) { $0.sessionBounds.log.byteCount = $1 }
    public let sessionConnections = Setting<Int>(
        "sessionConnections", 1...Self.million, default: "\(Self.bounds.connectionCount)", reloads: true,
        "How many connections a session accepts; further ones are refused with error 1027."
    ) { $0.sessionBounds.connectionCount = $1 }
    public let maxConnections = Setting<Int>(
        "maxConnections", 1...Self.million, default: "the limit of open files less 128",
        "How many connections of any kind the server accepts; that limit is also the maximum."
    ) { $0.admission.maxConnections = $1 }
    public let maxConnectionsPerAddress = Setting<Int>(
        "maxConnectionsPerAddress", 1...Self.million,
        default: "500, at most a quarter of maxConnections; none for loopback addresses",
        "How many connections one IPv4 address or IPv6 /64 network may have; half of them outside of sessions, and a "
            + "tenth new per second. A value here also limits loopback addresses."
    ) { $0.admission.maxConnectionsPerAddress = $1 }
    public let maxConnectionsPerProject = Setting<Int>(
        "maxConnectionsPerProject", 1...Self.million, default: "maxConnections; half of it with several projects",
        "How many connections a project may have in its sessions; further ones are refused with error 1027."
    ) { $0.admission.maxConnectionsPerProject = $1 }
    public let maxConnectionsPerToken = Setting<Int>(
        "maxConnectionsPerToken", 1...Self.million, default: "half of maxConnections",
        "How many connections may use one token at a time; further ones are refused with error 1027."
    ) { $0.admission.maxConnectionsPerToken = $1 }
    public let trustedProxy = Setting<String>(
        "trustedProxy", form: "IP addresses or blocks such as 10.0.0.0/8, separated by commas",
        "Reverse proxies that tell the address of the client. They have no limit themselves.")
    public let proxyHeader = Setting<String>(
        "proxyHeader", default: ProxyNaming.xForwardedFor.rawValue, choice: ProxyNaming.allCases.map(\.rawValue),
        "How trusted proxies tell the address of the client: "
            + "\(ProxyNaming.allCases.map(\.rawValue).joined(separator: ", ")).")
    public let allowedOrigins = Setting<String>(
        "allowedOrigins", default: "all", form: "origins such as https://chat.example.org, separated by commas",
        "The origins whose pages may open a WebSocket. Programs that send no Origin are not affected.")
    public let signalRate = Setting<Int>(
        "signalRate", 0...Self.million, default: "\(Self.signalRate); in development mode 0", reloads: true,
        "How many signals a second a connection may send in the long run; more are refused with error 429 (SIG-11). "
            + "0 means any number, also of all other lines (WIRE-15).")
    public let signalBurst = Setting<Int>(
        "signalBurst", 1...Self.million, default: "\(Self.burstSeconds) × signalRate", reloads: true,
        "How many signals a connection may send at once after a pause.")
    public let requestRate = Setting<Int>(
        "requestRate", 0...Self.million, default: "\(Self.requestRate); in development mode 0", reloads: true,
        "How many REST requests a second a project may make in the long run, and five times as many at once; more get "
            + "the status 429 (REST-6). 0 means any number.")
    public let onlineOnlyLimit = Setting<Int>(
        "onlineOnlyLimit", 0...Self.million, default: "\(Self.bounds.onlineOnlyConnectionCount)", reloads: true,
        "In a session with more connections, the server drops online-only broadcasts such as typing (SIG-12). "
            + "0 drops all."
    ) { $0.sessionBounds.onlineOnlyConnectionCount = $1 }
    public let mergeMilliseconds = Setting<Int>(
        "mergeMilliseconds", 0...1000, default: "\(Self.standard.mergeTime.wholeMilliseconds)",
        "How many milliseconds signals of a session may wait for each other, so that one write carries several: while a "
            + "burst of them arrives, and on a busy server in a session with many connections. On a server that is not "
            + "busy a single signal never waits. Joins and departures without a signal wait up to 20 times as long. "
            + "0 means that no event waits."
    ) { $0.mergeTime = .milliseconds($1) }
    public let drainSeconds = Setting<Int>(
        "drainSeconds", 0...30, default: Self.seconds(Self.standard.drainTime), reloads: true,
        "How many seconds a stopping server may take to disconnect its clients one after the other (LEAVE-5)."
    ) { $0.drainTime = .seconds($1) }
    public let stateDir = Setting<String>(
        "stateDir", form: "the path of a folder",
        "A folder in which the server keeps its sessions, so that the next process continues them, also after a crash."
    ) { $0.stateFolder = $1 }
    public let durability = Setting<String>(
        "durability", default: Self.standard.durability.rawValue, choice: Durability.allCases.map(\.rawValue),
        "The accident after which an acknowledged signal is still in the state folder: the end of the process, or loss "
            + "of power, which costs a disk synchronization for each group of commands."
    ) { $0.durability.read($1) }
    public let history = Setting<String>(
        "history", default: "\(Self.chatTypes) in development mode; otherwise none",
        form: "types of signals, separated by commas, or all, or none", reloads: true,
        "The types of the signals that sessions keep for clients that come later (HIS-1). A project in the file may have "
            + "its own.")
    public let historyAccess = Setting<String>(
        "historyAccess", default: HistoryReading.role.rawValue, choice: HistoryReading.allCases.map(\.rawValue),
        "Who may read the history: role, every client whose token does not forbid it; or claim, only those whose token "
            + "permits it (HIS-8)."
    ) { $0.historyReading.read($1) }
    public let changes = Setting<String>(
        "changes", default: "\(Self.allChanges) in development mode; otherwise none",
        form: "edit, erase, react, separated by commas; or all, or none", reloads: true,
        "What the authors of kept messages may do with them, and whether users may react (CHG-4). A project in the file "
            + "may have its own.")
    public let readMarkers = Setting<String>(
        "readMarkers", default: "shared in development mode; otherwise off",
        choice: ReadMarkers.allCases.map(\.rawValue), reloads: true,
        "How far users have read (READ-4): off; own, each user's devices know it; or shared, everybody does. A project in "
            + "the file may have its own.")
    public let feed = Setting<Bool>(
        "feed", default: "false", reloads: true,
        "Whether a backend can read what the sessions of a project say, as one list (FEED-1). A project in the file may have "
            + "its own.")
    public let unreadSeconds = Setting<Int>(
        "unreadSeconds", 0...86_400, default: "30", reloads: true,
        "How many seconds a message may wait for a user who is not connected until the feed says that it is unread (FEED-6); 0: "
            + "it never does.")
    public let historyDays = Setting<Int>(
        "historyDays", 1...36_500,
        default: "\(Self.historyBounds.age.components.seconds / 86_400); with redis "
            + "\(HistoryBounds.inRedis.age.components.seconds / 86_400)",
        "How many days a message is kept."
    ) { $0.historyBounds.age = .seconds($1 * 86_400) }
    public let historyMessages = Setting<Int>(
        "historyMessages", 1...(1_000 * Self.million),
        default: "\(Self.historyBounds.messageCount); with redis \(HistoryBounds.inRedis.messageCount)",
        "How many messages a session keeps."
    ) { $0.historyBounds.messageCount = $1 }
    public let historyBytes = Setting<Int>(
        "historyBytes", 65_536...(1 << 40), default: "\(Self.historyBounds.byteCount)",
        "How many bytes of messages a session keeps."
    ) { $0.historyBounds.byteCount = $1 }
    public let historyTotalBytes = Setting<Int>(
        "historyTotalBytes", 65_536...(1 << 50),
        default:
            "\(Self.historyBounds.totalByteCount); without a state folder \(HistoryBounds.inMemory.totalByteCount)",
        "How many bytes the histories of all sessions may take on the disk, or in memory. Over it, the project that has "
            + "the most loses the oldest messages of its largest sessions. Not with redis, whose maxmemory is the bound."
    ) { $0.historyBounds.totalByteCount = $1 }
    public let redis = Setting<String>(
        "redis", isSecret: true,
        form: "redis://[user:password@]host[:port][/database], or redis+sentinel://host[:port],host[:port]/name, or "
            + "several separated by commas; with TLS, rediss takes the place of redis",
        "The Redis over which several servers share their sessions: docs/SCALING.md. The sessions are spread over several "
            + "addresses; every server needs the same list.")
    public let redisTlsCa = Setting<String>(
        "redisTlsCa", default: "the certificates of the system", form: "the path of a PEM file",
        "A PEM file with the certificates of the authorities that may sign the certificates of Redis and of Sentinels.")
    public let redisTlsCert = Setting<String>(
        "redisTlsCert", form: "the path of a PEM file",
        "A PEM file with the certificate that this server shows to Redis, and its chain.")
    public let redisTlsKey = Setting<String>(
        "redisTlsKey", form: "the path of a PEM file",
        "A PEM file with the private key of this certificate, without a passphrase.")
    public let redisTlsServerName = Setting<String>(
        "redisTlsServerName", default: "the host of the address", form: "a host name",
        "The name that the certificate of Redis must be for.")
    public let redisSentinelUser = Setting<String>(
        "redisSentinelUser", form: "a user of the Sentinels",
        "Who signs in at the Sentinels, if not their default user. The user in the address is that of Redis.")
    public let redisSentinelPassword = Setting<String>(
        "redisSentinelPassword", isSecret: true, form: "the password of the Sentinels",
        "The password of the Sentinels, if they want one. Prefer the variable: other users of the machine can see the "
            + "options.")
    public let webhookUrl = Setting<String>(
        "webhookUrl", isSecret: true, form: "an http:// or https:// URL",
        "Where to post session monitoring events, as OpenTok does: docs/backend.md.")
    public let webhookTypes = Setting<String>(
        "webhookTypes", default: "none: it gets the joins and departures alone",
        form: "types of signals, separated by commas, or all, or none",
        "The webhook gets batches of all that sessions say (FEED-5): the kept signals of these types, with presence, "
            + "moderation and what is unread.")
    public let webhookSecret = Setting<String>(
        "webhookSecret", isSecret: true, form: "a webhook secret: text, or whsec_ and base64",
        "The secret that signs these posts. Prefer the variable: other users of the machine can see the options.")
    public let webhookRetryMilliseconds = Setting<Int>(
        "webhookRetryMilliseconds", 1...3_600_000,
        default: "\(Self.standard.webhookBounds.firstPause.wholeMilliseconds)",
        spellings: [.variable, .file],
        "The pause in milliseconds after a first failed post; it doubles with each failure, up to a minute."
    ) { $0.webhookBounds.firstPause = .milliseconds($1) }
    public let feedEntries = Setting<Int>(
        "feedEntries", 1...(100 * Self.million),
        default:
            "\(Self.historyBounds.feedEntryCount); without a state folder \(HistoryBounds.inMemory.feedEntryCount)",
        spellings: [.variable, .file],
        "How many entries a feed keeps, each with up to 100 events: of a project, or of the presence events for its webhook. A "
            + "backend that is further behind is told so (FEED-4)."
    ) { $0.historyBounds.feedEntryCount = $1 }
    public let adminPort = Setting<Int>(
        "adminPort", 0...65_535, default: "none: no admin listener",
        "The port for operators: metrics, health, administration and a page that shows them. 0 picks a free one.")
    public let adminHost = Setting<String>(
        "adminHost", default: Self.admin.host, form: "an IP address or a host name",
        "The address of the admin listener. If other machines can reach it, adminToken is required.")
    public let adminToken = Setting<String>(
        "adminToken", isSecret: true, form: "the admin token",
        "What clients of the admin listener must send as a bearer token. Prefer the variable: other users of the machine "
            + "can see the options.")
    public let publicMetrics = Setting<Bool>(
        "publicMetrics", default: "\(Self.standard.servesMetrics)", "Serve /metrics on the main port, too."
    ) { $0.servesMetrics = $1 }
    public let config = Setting<String>(
        "config", outsideFile: .text("the path of a JSON file"),
        "A JSON file with settings, and with lists of projects and applications.")
    public let logLevel = Setting<String>(
        "logLevel", default: "info", choice: Self.logLevels, reloads: true,
        "The lowest level of log lines to write: \(Self.logLevels.joined(separator: ", ")).")
    public let logFormat = Setting<String>(
        "logFormat", default: LogFormat.text.rawValue, choice: LogFormat.allCases.map(\.rawValue),
        "The form of a log line: text, or a JSON object (docs/operations/logs.md).")
    public let accessLog = Setting<Bool>(
        "accessLog", default: "\(Self.standard.logsRequests)",
        "Write a log line for each HTTP request. Without it, only requests that fail with 500 or more have one."
    ) { $0.logsRequests = $1 }

    package static let shared = SettingsTable()

    /// All declarations, in order.
    public static let declarations = Mirror(reflecting: shared).children.compactMap {
        ($0.value as? any DeclaredSetting)?.declaration
    }

    private static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds)" }
}
