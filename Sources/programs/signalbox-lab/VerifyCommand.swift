import ArgumentParser
import CommandSupport
import Foundation
import SignalingServer
import VerificationTools

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Test the delivery guarantees on this machine while faults happen.",
        discussion: """
            Starts servers and clients, sends numbered signals, cuts networks, and pauses, kills and restarts \
            servers. Then it checks what every client received and what passed on every connection \
            (docs/guarantees.md). The default run has some faults of each kind. The exit status is 1 if a promise was \
            broken.
            """)

    @Option(help: count("The number of signals to send in all.", \.signals)) var signals: Int?
    @Option(help: count("The number of sessions.", \.sessions)) var sessions: Int?
    @Option(help: count("The number of clients that stay in each session; at least 2.", \.members)) var members: Int?
    @Option(help: count("How many of the signals a backend sends through REST.", \.rest)) var rest: Int?
    @Option(help: count("How many times to reset a client's network.", \.cuts)) var cuts: Int?
    @Option(
        help: count(
            """
            How many times to discard everything in one direction of a client's network, without a reset. Each takes \
            two heartbeats.
            """, \.silences))
    var silences: Int?
    @Option(help: count("How many clients to leave without a network for 2, 12 or 20 seconds.", \.absences))
    var absences: Int?
    @Option(
        help: count(
            """
            How many times to leave a client without a network until the others are told that it is away. Each takes \
            about 12 seconds.
            """, \.longAbsences))
    var longAbsences: Int?
    @Option(help: count("How many times to try to resume with a wrong and with an old secret.", \.wrongSecrets))
    var wrongSecrets: Int?
    @Option(help: count("How many times a client reads slowly or not at all for 3 seconds.", \.slowReaders))
    var slowReaders: Int?
    @Option(help: count("How many times a client comes back after a small log has lost what it missed.", \.overruns))
    var overruns: Int?
    @Option(help: count("How many times to pause the server's process for up to 1.5 seconds.", \.stops)) var stops: Int?
    @Option(help: count("How many times to kill the server (SIGKILL) and start another one.", \.kills)) var kills: Int?
    @Option(
        help: count("How many times to stop the server (SIGTERM) and start another one with its sessions.", \.restarts))
    var restarts: Int?
    @Option(
        help: """
            How many times a node hangs until the others have declared it lost. Each takes 18 seconds. (default: 1 with \
            several nodes)
            """)
    var freezes: Int?
    @Option(help: "How many times to reset a node's connections to Redis. (default: 3 with several nodes)")
    var redisCuts: Int?
    @Option(help: "How many times to kill Redis (SIGKILL) and start it again. (default: 2 with several nodes)")
    var redisKills: Int?
    @Option(
        help: """
            How many times to kill the primary of a Redis with two replicas and three Sentinels, so that another one \
            takes over. (default: 0)
            """)
    var redisFailovers: Int?
    @Option(help: count("How many times a client disconnects and comes back.", \.leaves)) var leaves: Int?
    @Option(help: count("How many clients join for a moment and crash.", \.guests)) var guests: Int?
    @Option(help: count("How many of these guests are force-disconnected instead.", \.expulsions)) var expulsions: Int?
    @Option(help: count("How many more guests have a token that expires.", \.expiredTokens)) var expiredTokens: Int?
    @Option(help: count("How many clients join, read the whole history, and leave.", \.readers)) var readers: Int?
    @Option(help: count("How many times to erase messages of the history.", \.erasures)) var erasures: Int?
    @Option(help: count("How many times authors, or others, edit or erase messages.", \.changes)) var changes: Int?
    @Option(
        help: count(
            "How many times everybody leaves a session until it sleeps. Each takes about 6 seconds.", \.sleeps))
    var sleeps: Int?
    @Option(
        help: count(
            "How many times to erase in a small history, and to restart its server. Each takes about 20 seconds.",
            \.archives))
    var archives: Int?
    @Option(
        help: count(
            "How many times to restore a backup, to put an older copy back, and to remove a history.", \.restores))
    var restores: Int?
    @Option(help: count("How many times to mute or ban a user, or to freeze a session.", \.bans)) var bans: Int?
    @Flag(
        help: "Two backends consume the feed of the project, one by pull and one by push. What they get is checked.")
    var feed = false
    @Option(
        help: """
            How many percent of the time these backends are down, hang, fail or do not answer. (default: 30 with --feed)
            """)
    var consumerDowntime: Int?
    @Flag(help: "Leave out every fault that no option on this command line asks for.") var bare = false
    @Flag(help: "Start the server without a state folder. A kill then loses its sessions, and clients are told.")
    var inMemory = false
    @Option(help: count("The number of servers that serve the sessions together, over one Redis.", \.nodes))
    var nodes: Int?
    @Option(help: "The Redis of these servers, as in serve --redis. (default: the run starts its own)")
    var redis: String?
    @Option(help: "The server's port. (default: a free one)") var port: Int?
    @Option(help: "The signalbox program whose server to test. (default: the one beside this program)") var server:
        String?
    @Option(
        help: """
            The signalbox program of a server that starts again after a kill or a restart, as in a rolling upgrade. \
            (default: the same)
            """)
    var upgrade: String?
    @Option(help: "Repeats the plan of another run. (default: a random number)") var seed: UInt64?
    @Option(help: "Also write the report as a web page to this file.") var report: String?
    @Flag(help: "Print the report as one JSON object.") var json = false

    private func plan(seed: UInt64) -> Verification.Plan {
        var plan = bare ? Verification.Plan.withoutFaults(seed: seed) : Verification.Plan(seed: seed)
        plan.nodes = nodes ?? plan.nodes
        plan.redis = redis
        if plan.nodes > 1, !bare { plan.addFaultsOfNodes() }
        if redisFailovers ?? 0 > 0 { (plan.redisCuts, plan.redisKills) = (0, 0) }
        if upgrade != nil { plan.forgoNewRules() }
        plan.isInMemory = inMemory
        plan.hasFeed = feed
        if !feed { plan.consumerDowntime = 0 }
        if inMemory { plan.restarts = 0 }
        if inMemory || plan.isShared { plan.restores = 0 }
        let given: [(WritableKeyPath<Verification.Plan, Int>, Int?)] = [
            (\.signals, signals), (\.sessions, sessions), (\.members, members), (\.cuts, cuts), (\.silences, silences),
            (\.absences, absences), (\.longAbsences, longAbsences), (\.wrongSecrets, wrongSecrets),
            (\.slowReaders, slowReaders), (\.overruns, overruns), (\.stops, stops), (\.kills, kills),
            (\.restarts, restarts), (\.freezes, freezes), (\.redisCuts, redisCuts), (\.redisKills, redisKills),
            (\.redisFailovers, redisFailovers), (\.leaves, leaves), (\.guests, guests),
            (\.expiredTokens, expiredTokens), (\.readers, readers),
            (\.erasures, erasures), (\.changes, changes), (\.sleeps, sleeps), (\.bans, bans), (\.archives, archives),
            (\.restores, restores), (\.consumerDowntime, consumerDowntime), (\.port, port),
        ]
        for (count, value) in given { plan[keyPath: count] = value ?? plan[keyPath: count] }
        // The default shares of REST signals and of expelled guests fit into short runs, too.
        plan.rest = rest ?? min(plan.rest, plan.signals / 4)
        plan.expulsions = expulsions ?? min(plan.expulsions, plan.guests)
        return plan
    }

    func run() async throws {
        let plan = plan(seed: seed ?? .random(in: 1...999_999_999))
        if let problem = plan.problem { throw ExitStatus.exit(ExitStatus.usage, problem) }
        if upgrade != nil, plan.kills + plan.restarts == 0 {
            throw ExitStatus.exit(
                ExitStatus.usage, "--upgrade has no effect without --kills or --restarts: no server starts again.")
        }
        if feed, upgrade != nil {
            throw ExitStatus.exit(
                ExitStatus.usage, "--feed contradicts --upgrade: the older program may not know the feed.")
        }
        let page = try report.map { try ReportFile($0) }
        let program = server.map { URL(filePath: $0) } ?? Self.neighbour
        let showsProgress = isatty(STDERR_FILENO) == 1
        let programs = Verification.Programs(first: program, upgrade: try upgrade.map(Self.executable))
        let verification = Verification(plan: plan, programs: programs) { [signals = plan.signals] sentCount in
            if showsProgress { StandardError.print("Sent \(sentCount) of \(signals) signals.") }
        }
        var report: VerifyReport
        do {
            report = try await Interruption.handle(
                first: {
                    verification.abandon()
                    StandardError.print("\(ExitStatus.program): interrupted; there is no report.")
                    Foundation.exit(ExitStatus.interrupted)
                },
                during: { try await verification.run() })
        } catch is CancellationError {
            // The run was interrupted. The handler ends the process when no server is left.
            try await Task.sleep(for: .seconds(60))
            throw ExitCode(ExitStatus.interrupted)
        } catch let error as VerificationError {
            let status =
                switch error.code {
                case .serverNotStarted, .clientNotConnected: ExitStatus.unreachable
                case .serverNotRestarted: ExitStatus.failed
                }
            throw ExitStatus.exit(status, error.description)
        }
        report.version = ServerVersion.text
        report.command = command(seed: plan.seed)
        // First, since the page may not fit on the disk.
        json ? StandardOutput.print(json: report.json) : StandardOutput.print(report.text)
        try page?.write(report.html)
        if !report.isGood { throw ExitCode(ExitStatus.failed) }
    }

    private static var neighbour: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "signalbox")
    }

    /// - Throws: the exit code 69 when it cannot be executed. The run would learn this in its middle.
    private static func executable(_ path: String) throws -> URL {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "The server could not be upgraded: \(path) cannot be executed. Check the path and permissions.")
        }
        return URL(filePath: path)
    }

    /// The command that repeats this run.
    private func command(seed: UInt64) -> String {
        var words = [ExitStatus.program] + CommandLine.arguments.dropFirst()
        if self.seed == nil { words += ["--seed", "\(seed)"] }
        return words.joined(separator: " ")
    }
}

/// The help of a count, with the default of the plan.
private func count(_ help: String, _ count: KeyPath<Verification.Plan, Int>) -> ArgumentHelp {
    ArgumentHelp("\(help) (default: \(Verification.Plan(seed: 0)[keyPath: count]))")
}

/// The file of the report. It is opened and filled before the run, so that a run is not in vain.
private struct ReportFile {
    private static let reservedByteCount = 1 << 20

    private let path: String
    private let file: FileHandle

    /// - Throws: the exit code 73 when the file cannot be written.
    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path) }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try write(String(repeating: " ", count: Self.reservedByteCount))
    }

    func write(_ text: String) throws {
        do {
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data(text.utf8))
            if (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) == .typeRegular {
                try file.truncate(atOffset: UInt64(text.utf8.count))
            }
        } catch { throw Self.failure(path) }
    }

    private static func failure(_ path: String) -> any Error {
        ExitStatus.exit(
            ExitStatus.fileNotWritten,
            "the report \(path) cannot be written: \(String(cString: strerror(errno))). Choose a folder with space that "
                + "you may write to.")
    }
}
