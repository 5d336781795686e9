import ArgumentParser
import FoundationEssentials
import Logging
import ServiceLifecycle
import SignalingServer
import SignalingTransport

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Host sessions.",
        discussion: """
            Without credentials the server runs in development mode: it listens on this machine alone, makes a project, and \
            gives tokens to whoever asks at /session and /room/NAME.

            The command line beats the environment (SIGNALBOX_PORT and so on), which beats the file, which beats the \
            defaults. SIGTERM and SIGINT tell every client that the server is going and when to come back, and end it with \
            status 0. A second one makes it quick, a third ends it at once, and nothing is kept then.
            """)

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on; 0 picks a free one. (default: 8080)")
    var port: Int?

    @Option(help: "The project's API key.")
    var apiKey: String?

    @Option(
        help: "The project's secret; better in SIGNALBOX_API_SECRET, where other users of the machine do not see it.")
    var apiSecret: String?

    @Flag(help: "Development mode, which is also what no credentials mean.")
    var dev = false

    @Option(
        help: "The folder with the test page and the browser library. (default: web-test-client, where it is found)")
    var webRoot: String?

    @Flag(help: "Take X-TB-PARTNER-AUTH: key:secret with REST requests, as some old backends send it.")
    var allowPartnerAuth = false

    @Option(help: "A PEM file with the server's certificate and those that lead to its authority: https and wss.")
    var tlsCert: String?

    @Option(help: "A PEM file with the certificate's key, without a passphrase.")
    var tlsKey: String?

    @Option(help: "How long a connection goes on without a socket, in seconds; 0 to 86400. (default: 60)")
    var resumeSeconds: Int?

    @Option(
        help: "How long after that loss missed broadcasts can be fetched, in seconds; 0 to 86400. (default: 300)")
    var recoverySeconds: Int?

    @Option(help: "Most events that a session keeps for those who come back. (default: 2048)")
    var logEvents: Int?

    @Option(help: "Most bytes that a session keeps for those who come back. (default: 1048576)")
    var logBytes: Int?

    @Option(
        help: "How many connections one session takes; who comes beyond that is refused with 1027. (default: 15000)")
    var sessionConnections: Int?

    @Option(
        help: """
            How many signals a second a connection may send; what is more is refused with 429. 0: any number. \
            (default: 200; in development mode 0)
            """)
    var signalRate: Int?

    @Option(help: "How many of them may come at once. (default: five seconds' worth)")
    var signalBurst: Int?

    @Option(
        help: "In sessions of more connections, online-only signals to everybody (typing) are dropped. (default: 100)")
    var onlineOnlyLimit: Int?

    @Option(
        help: """
            How long the server's end may take to send many clients away one after the other, in seconds; 0 to 30. \
            (default: 5)
            """)
    var drainSeconds: Int?

    @Option(
        help: """
            A folder in which the server leaves its sessions when it is told to end, and finds them when it starts: a \
            restart loses nothing.
            """)
    var stateDir: String?

    @Option(help: "Where to post who connects and disconnects, as OpenTok's session monitoring: docs/webhooks.md.")
    var webhookUrl: String?

    @Option(help: "What those posts are signed with; better in SIGNALBOX_WEBHOOK_SECRET.")
    var webhookSecret: String?

    @Option(
        help: """
            A JSON file with these settings, in their names of docs/CONFIGURATION.md, and with lists of projects and \
            applications.
            """)
    var config: String?

    @Flag(help: ArgumentHelp("End at once when standard input ends.", visibility: .private))
    var endsWithInput = false

    @Option(help: "trace, debug, info, notice, warning, error or critical; SIGNALBOX_LOG_LEVEL. (default: info)")
    var logLevel: Logger.Level?

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let logger = try makeLogger(environment)
        let server: SignalingServer
        do {
            var configuration = try await ServerSettings(
                host: host, port: port, apiKey: apiKey, apiSecret: apiSecret, dev: dev ? true : nil, webRoot: webRoot,
                allowPartnerAuth: allowPartnerAuth ? true : nil, tlsCert: tlsCert, tlsKey: tlsKey,
                resumeSeconds: resumeSeconds, recoverySeconds: recoverySeconds, logEvents: logEvents,
                logBytes: logBytes, sessionConnections: sessionConnections, signalRate: signalRate,
                signalBurst: signalBurst, onlineOnlyLimit: onlineOnlyLimit,
                drainSeconds: drainSeconds, stateDir: stateDir,
                webhookUrl: webhookUrl, webhookSecret: webhookSecret, file: config
            ).configuration(environment: environment)
            if configuration.webRoot == nil { configuration.webRoot = WebFolder.find() }
            server = try SignalingServer(configuration: configuration, logger: logger) { address in
                Self.announce(address)
            }
        } catch let error as ConfigurationError {
            throw ExitStatus.exit(ExitStatus.usage, error.description)
        }
        if endsWithInput { Interruption.followInput() }
        let group = ServiceGroup(services: [server], logger: logger)
        do {
            try await Interruption.doing(
                { await group.triggerGracefulShutdown() }, hurry: { server.hurry() }, { try await group.run() })
        } catch let error as TransportError {
            throw ExitStatus.exit(ExitStatus.failed, error.message)
        } catch let error as StateFolderError {
            throw ExitStatus.exit(ExitStatus.failed, error.description)
        }
    }

    /// The first line is for programs, too: it stands there when the server accepts connections.
    private static func announce(_ address: SignalingServer.Address) {
        StandardOutput.print("signalbox is ready at \(address.url)")
        if let secret = address.developmentSecret {
            StandardOutput.print(
                "development mode: tokens for everybody at \(address.url)session, and its project:")
            StandardOutput.print(
                "export SIGNALBOX_API_KEY=\(SignalingServer.developmentKey) SIGNALBOX_API_SECRET=\(secret)")
        }
    }

    private func makeLogger(_ environment: [String: String]) throws -> Logger {
        var level = logLevel ?? .info
        if logLevel == nil, let name = environment["SIGNALBOX_LOG_LEVEL"] {
            guard let named = Logger.Level(rawValue: name.lowercased()) else {
                throw ExitStatus.exit(ExitStatus.usage, "SIGNALBOX_LOG_LEVEL is not a level: \(name)")
            }
            level = named
        }
        // Standard output is for the ready line.
        var handler = StreamLogHandler.standardError(label: "signalbox")
        handler.logLevel = level
        return Logger(label: "signalbox") { _ in handler }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
