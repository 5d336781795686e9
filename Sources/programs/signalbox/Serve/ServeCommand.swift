import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle
import SignalingCore
import SignalingRedis
import SignalingServer
import SignalingTransport
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Host sessions.",
        discussion: """
            Without credentials the server runs in development mode: it listens on this machine only, creates a \
            project, and gives tokens to every client that asks at /session and /room/NAME. It keeps its rooms for the \
            next server on the same port, and leaves its credentials for the other commands of the same user. With \
            --share, phones and other devices on the same Wi-Fi can join the rooms, too: the server prints a link and a \
            QR code for them.

            Command-line options override environment variables (SIGNALBOX_PORT and so on), which override the file, \
            which overrides the defaults. docs/CONFIGURATION.md lists all settings.

            On SIGTERM or SIGINT the server tells every client when to reconnect and ends with status 0. A second \
            signal shortens this. A third ends the process at once with status 1. On SIGHUP it reads \
            its settings, projects and certificate again; if the terminal was closed, it stops.

            A service manager can pass the listening socket (LISTEN_FDS, sd_listen_fds(3)). Connections then wait \
            while the server restarts. The server tells the service manager when it is ready, reloads, stops and is \
            alive (NOTIFY_SOCKET and WATCHDOG_USEC, sd_notify(3)).
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: ArgumentHelp("End at once when standard input ends.", visibility: .private))
    var endsWithInput = false

    func run() async throws {
        if let problem = ClockCheck.problem() {
            throw ExitStatus.exit(ExitStatus.configuration, problem)
        }
        let socket = try Self.takeSocket()
        let notifier = try Self.takeNotifier()
        let terminal = ControllingTerminal()
        // Before anything else: by default, each of these signals ends the process. SIGUSR1 and SIGUSR2 have no effect.
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
        // Also when the process ends by `exit`.
        atexit { ServeCommand.log.flush() }
        let report = ReadyReport()
        let (server, reloader) = try await makeServer(on: socket, notifier: notifier, report: report)
        let group = ServiceGroup(services: [server], logger: reloader.logger)
        let watcher = Task {
            var reloader = reloader
            for await signal in signals where signal == .sighup {
                if terminal.hasHungUp { await group.triggerGracefulShutdown() } else { await reloader.reload() }
            }
        }
        defer {
            watcher.cancel()
            report.end()
        }
        if endsWithInput { Interruption.followInput() }
        do {
            try await Interruption.handle(
                first: { await group.triggerGracefulShutdown() }, second: { server.hurry() },
                during: { try await group.run() })
        } catch let error as TransportError {
            Self.log.flush()
            throw ExitStatus.exit(ExitStatus.status(of: error), error.message)
        } catch let error as CommandLogFault {
            Self.log.flush()
            throw ExitStatus.exit(ExitStatus.unreachable, error.message)
        } catch let error as StateFolderError {
            Self.log.flush()
            // From then on a fault of the state folder is a failure, and no longer a folder that cannot be used.
            throw ExitStatus.exit(report.hasBegun ? ExitStatus.failed : ExitStatus.fileNotWritten, error.description)
        }
    }

    /// The listening socket that a service manager has passed to this process, if any. Removes the variables that
    /// describe it, so that no child process takes them for its own.
    private static func takeSocket() throws -> ListeningSocket? {
        let environment = ProcessInfo.processInfo.environment
        for name in SocketActivation.variables { unsetenv(name) }
        do {
            return try SocketActivation.socket(in: environment, processID: getpid())
        } catch let error as ConfigurationError {
            throw ExitStatus.exit(ExitStatus.usage, error.description)
        } catch let error as TransportError {
            throw ExitStatus.exit(ExitStatus.unreachable, error.message)
        }
    }

    /// The way to the service manager that has started this process, if it wants reports. Removes its variables.
    private static func takeNotifier() throws -> ServiceNotifier? {
        let environment = ProcessInfo.processInfo.environment
        for name in ServiceNotifier.variables { unsetenv(name) }
        do {
            return try ServiceNotifier(environment: environment, processID: getpid())
        } catch {
            throw ExitStatus.exit(ExitStatus.usage, error.description)
        }
    }

    private func makeServer(
        on socket: ListeningSocket?, notifier: ServiceNotifier?, report: ReadyReport
    ) async throws -> (SignalingServer, SettingsReloader) {
        do {
            let options = options.settings
            let settings = try await options.resolved(environment: ProcessInfo.processInfo.environment)
            let level = LogLevel(Logger.Level(settings: settings.values))
            let logger = Logger(label: Self.label) { QueuedLogHandler(label: $0, writer: Self.log, level: level) }
            if let format = settings.values.logFormat.flatMap({ LogFormat(rawValue: $0.lowercased()) }) {
                Self.log.format = format
            }
            var configuration = try settings.configuration()
            if let socket { configuration.listen(on: socket) }
            configuration.serviceNotifier = notifier
            // libwebsockets reads the limit once, when the server's loop starts.
            DescriptorLimit.set(
                configuration.admission.maxConnections.map { $0 + Self.spareDescriptorCount }
                    ?? DescriptorLimit.sufficient)
            DescriptorLimit.mayBeLowered = true
            configuration.webFiles = EmbeddedFiles.web
            if settings.values.ephemeral != true { configuration.keepDevelopmentState() }
            let hasPage = configuration.webRoot != nil || configuration.webFiles != nil
            for warning in settings.warnings { logger.warning("\(warning)") }
            if let warning = TestedLibraries.warning(about: TestedLibraries.all) { logger.warning("\(warning)") }
            let isShared = configuration.isShared
            let server = try SignalingServer(configuration: configuration, logger: logger) { address in
                report.begin(at: address, hasPage: hasPage, isShared: isShared)
            }
            if isShared {
                StandardError.print(
                    "signalbox: warning: --share lets every device on your network join the rooms and read them. Use it "
                        + "only on a network that you trust, and stop the server when you are done.")
            }
            return (
                server,
                SettingsReloader(
                    options: options, server: server, notifier: notifier, logger: logger, level: level,
                    current: settings)
            )
        } catch let error as ConfigurationError {
            throw ExitStatus.exit(ExitStatus.usage, error)
        }
    }

    private static let label = "signalbox"
    /// Descriptors beyond those of the connections: files, databases, and the second one of an HTTP connection that
    /// waits for its next request.
    private static let spareDescriptorCount = 1_024

    /// Log lines go to standard error: standard output is for the ready line.
    private static let log = LogWriter(descriptor: STDERR_FILENO, label: label)
}
