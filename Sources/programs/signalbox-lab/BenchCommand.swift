import ArgumentParser
import CommandSupport
import Foundation
import FoundationNetworking
import LoadTools
import SignalingProtocol
import SignalingServer
import SignalingTokens
import SignalingTransport

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Put a bounded load on your own server, and tell whether it carries it.",
        discussion: """
            Members join new rooms, send signals at a steady rate for some seconds, and leave. Latencies count from \
            the planned moment of a signal, so that a stall is not hidden. The exit status is 0 if the server carried \
            the load, and 1 if it did not or there is no verdict. docs/operations/capacity.md has measured figures.
            """)

    /// Descriptors beside one for each member.
    private static let spareDescriptors = 128

    @Argument(help: "The server's URL, such as http://127.0.0.1:8080.") var url: String
    @Option(help: ArgumentHelp("The number of rooms; \(described(LoadPlan.roomsRange)).")) var rooms = 10
    @Option(help: ArgumentHelp("The members of each room; \(described(LoadPlan.membersRange)).")) var members = 10
    @Option(
        help: ArgumentHelp(
            "The signals per second in each room; \(described(LoadPlan.rateRange)). With 0, members stay idle."))
    var rate = 10
    @Option(help: ArgumentHelp("The size of a signal's data; \(described(LoadPlan.bytesRange)).")) var bytes = 128
    @Option(help: ArgumentHelp("How long to measure; \(described(LoadPlan.secondsRange)).")) var seconds = 10
    @Option(help: ArgumentHelp("How many seconds of load precede; \(described(LoadPlan.warmUpRange)).")) var warmUp = 2
    @Option(
        help: ArgumentHelp(
            """
            The server carries the load if 99 % of the deliveries take at most this many milliseconds; \
            \(described(LoadPlan.limitRange)).
            """))
    var limit = 250
    @Option(
        help: """
            Permit load on this host. Required for every host but this machine; repeat the host of the URL. Use it for \
            your own servers only.
            """)
    var yesLoad: String?
    @Option(
        help: """
            The admin listener of the server, to also show its processor time and memory (SIGNALBOX_ADMIN_URL; its \
            token: SIGNALBOX_ADMIN_TOKEN).
            """)
    var adminUrl: String?
    @Option(help: "A PEM file with certificates to trust in addition to the system's.") var caFile: String?
    @OptionGroup var projectOptions: ProjectOptions
    @Flag(help: "Print the report as one JSON object.") var json = false

    func run() async throws {
        let plan = LoadPlan(
            rooms: rooms, members: members, rate: rate, bytes: bytes, seconds: seconds, warmUpSeconds: warmUp,
            limitMilliseconds: limit)
        if let problem = plan.problem { throw ExitStatus.exit(ExitStatus.usage, problem) }
        let server = try permittedServer()
        let project = try project(of: server)
        try raiseDescriptorLimit(plan)
        let metrics = try Metrics(url: adminUrl)
        try await metrics?.check()
        let showsProgress = isatty(STDERR_FILENO) == 1
        let test = LoadTest(
            plan: plan, target: LoadTarget(server: server.text, trustedCertificatesFile: caFile), project: project,
            usage: { await metrics?.usage() },
            onProgress: { if showsProgress { StandardError.print($0) } })
        let run = Task { try await test.run() }
        let report: LoadReport
        do {
            report = try await Interruption.handle(first: { run.cancel() }, during: { try await run.value })
        } catch let error as SignalingError {
            throw ExitStatus.exit(error)
        }
        json ? StandardOutput.print(json: report.json) : StandardOutput.print(report.text)
        if report.verdict == .interrupted { throw ExitCode(ExitStatus.interrupted) }
        if !report.isGood { throw ExitCode(ExitStatus.failed) }
    }

    /// - Throws: the exit code 64 for a host that the user has not permitted.
    private func permittedServer() throws -> ServerURL {
        guard let server = ServerURL(url) else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "the server's URL is \"\(url)\". Use a URL such as http://127.0.0.1:8080.")
        }
        if let yesLoad, yesLoad != server.host {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "--yes-load permits load on \"\(yesLoad)\", but the URL's host is \"\(server.host)\". Check both.")
        }
        guard yesLoad != nil || ServerConfiguration.isLoopback(server.host) else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "\(server.host) is not this machine. If it is your own server, and no user needs it now, add --yes-load "
                    + "\(server.host).")
        }
        return server
    }

    private func project(of server: ServerURL) throws -> Project {
        if let project = try projectOptions.project() { return project }
        if let project = try LocalCredentials.project(of: server) { return project }
        throw ExitStatus.exit(
            ExitStatus.usage,
            "credentials are missing. Give --api-key and --api-secret, or SIGNALBOX_API_KEY and SIGNALBOX_API_SECRET, "
                + "or use a server in development mode on this machine.")
    }

    private func raiseDescriptorLimit(_ plan: LoadPlan) throws {
        let wanted = plan.memberCount + Self.spareDescriptors
        let limit = DescriptorLimit.raise(toward: wanted)
        guard limit >= wanted else {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "\(plan.memberCount) members need \(wanted) open files, and this process may have \(limit). Raise the "
                    + "limit (ulimit -n), or use fewer members.")
        }
    }
}

/// "1 to 100", for the help.
private func described(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }

/// The metrics of the server under load.
private struct Metrics: Sendable {
    private let request: URLRequest

    /// - Returns: nil without the URL of an admin listener.
    init?(url text: String?) throws {
        let environment = ProcessInfo.processInfo.environment
        guard let text = text ?? environment.given("SIGNALBOX_ADMIN_URL") else { return nil }
        guard let url = ServerURL(text)?.resource("/metrics") else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "the URL of the admin listener is \"\(text)\". Use a URL such as http://127.0.0.1:9091.")
        }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 10)
        if let token = try SecretVariable.value("SIGNALBOX_ADMIN_TOKEN") {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        self.request = request
    }

    /// - Throws: the exit code 69 if there are no metrics at the URL.
    func check() async throws {
        guard await usage() == nil else { return }
        throw ExitStatus.exit(
            ExitStatus.unreachable,
            "there are no metrics at \(request.url?.absoluteString ?? ""). Start the server with --admin-port, and check "
                + "--admin-url and SIGNALBOX_ADMIN_TOKEN.")
    }

    func usage() async -> ServerUsage? {
        guard let (body, response) = try? await URLSession.shared.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200
        else { return nil }
        return ServerUsage(metrics: String(decoding: body, as: UTF8.self))
    }
}
