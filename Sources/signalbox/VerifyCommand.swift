import ArgumentParser
import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Prove on this machine that the promises hold, whatever fails.",
        discussion: """
            Starts servers of this program and clients, sends numbered signals, cuts networks, stops, kills and restarts \
            servers, and judges what every client saw: docs/guarantees.md. Ends with 1 if a promise was broken.
            """)

    @Option(help: "How many signals are sent in all.") var signals = 2_000
    @Option(help: "In how many sessions.") var sessions = 4
    @Option(help: "How many clients each session has; at least 2.") var members = 3
    @Option(help: "How often a client's network is reset.") var cuts = 20
    @Option(help: "How often it swallows everything in one direction, without a word; each takes two heartbeats.")
    var silences = 0
    @Option(help: "How often the server's process is stopped for a while (SIGSTOP), and goes on.") var stops = 2
    @Option(help: "How often the server is killed (SIGKILL) and started anew.") var kills = 0
    @Option(help: "How often it is told to end (SIGTERM), and started anew with the sessions that it kept.")
    var restarts = 0
    @Option(help: "Which random story is told. (default: a new one)") var seed: UInt64?
    @Flag(help: "Print the report as one JSON object.") var json = false

    private enum Fault { case cut(NetworkRelay.Cut), stop, kill, restart }

    func validate() throws {
        guard signals > 0, sessions > 0, members > 1, [cuts, silences, stops, kills, restarts].allSatisfy({ $0 >= 0 })
        else {
            throw ValidationError("numbers are positive, and a session has at least 2 members")
        }
    }

    func run() async throws {
        let seed = seed ?? .random(in: 1...999_999_999)
        var random = Random(state: seed)
        let secrets = "\(UInt64.random(in: .min ... .max))"
        guard let project = Project(apiKey: APIKey("100"), secret: secrets) else {
            throw ExitStatus.exit(ExitStatus.failed, "no project can be made")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-verify-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func startServer() throws -> ServerProcess {
            try ServerProcess(apiKey: "100", apiSecret: secrets, stateFolder: folder)
        }
        let server = RestartableServer(try startServer())
        defer { server.current.signal(SIGKILL) }
        let start = ContinuousClock.now
        let rooms = try makeRooms(project, port: server.current.port, start)
        let clients = rooms.flatMap { $0 }
        defer { for client in clients { client.relay.stop() } }
        for client in clients where await !client.connect(until: .now + .seconds(20)) {
            throw ExitStatus.exit(ExitStatus.unreachable, "a client could not connect")
        }

        let sent = Progress()
        let faults = faults(&random)
        let watcher = Task { await Self.tell(sent, of: signals) }
        defer { watcher.cancel() }
        let isSettled = try await withThrowingTaskGroup(of: Void.self) { group in
            for room in rooms {
                for client in room {
                    let own = Random(state: random.next())
                    let count = signals / clients.count + 1
                    group.addTask { await Self.send(count, by: client, in: room, own, sent) }
                }
            }
            for (number, fault) in faults.enumerated() {
                // Spread over the whole of it.
                let due = signals * (number + 1) / (faults.count + 1)
                while sent.count.load(ordering: .relaxed) < due { try await Task.sleep(for: .milliseconds(5)) }
                try await commit(fault, server, clients, startServer, &random)
            }
            try await group.waitForAll()
            return await settle(rooms)
        }

        var report = VerifyReport(seed: seed, isSettled: isSettled, took: start.duration(to: .now))
        for room in rooms {
            report.add(History(clients: room.map(\.history), isSettled: isSettled, mostEpochs: kills + 1))
            report.longestInterruption = max(report.longestInterruption, room.map(\.longestInterruption).max() ?? .zero)
        }
        report.faults = ["cuts": cuts, "silences": silences, "stops": stops, "kills": kills, "restarts": restarts]
        for client in clients { await client.session.disconnect() }
        StandardOutput.print(json ? report.json : report.text)
        if !report.isGood { throw ExitCode(ExitStatus.failed) }
    }

    private func makeRooms(_ project: Project, port: Int, _ start: ContinuousClock.Instant) throws -> [[VerifiedClient]]
    {
        var randomness = SystemRandomNumberGenerator()
        return try (0..<sessions).map { room in
            let id = SessionIDCodec.make(
                for: project, now: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
                using: &randomness)
            return try (0..<members).map { member in
                let token = try T1Token.make(
                    AccessRequest(sessionID: id, role: .publisher, connectionData: "\(member)"), project: project,
                    now: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)), using: &randomness)
                return try VerifiedClient(
                    name: "s\(room)c\(member)", apiKey: "100", sessionID: id, token: token, port: port, start: start)
            }
        }
    }

    private func faults(_ random: inout Random) -> [Fault] {
        var faults = Array(repeating: Fault.cut(.abrupt), count: cuts)
        for number in 0..<silences { faults.append(.cut(number.isMultiple(of: 2) ? .silentDown : .silentUp)) }
        faults += Array(repeating: .stop, count: stops) + Array(repeating: .kill, count: kills)
        faults += Array(repeating: .restart, count: restarts)
        return faults.shuffled(using: &random)
    }

    private func commit(
        _ fault: Fault, _ server: RestartableServer, _ clients: [VerifiedClient],
        _ startServer: () throws -> ServerProcess, _ random: inout Random
    ) async throws {
        switch fault {
        case .cut(let cut): clients.randomElement(using: &random)?.relay.cut(cut)
        case .stop:
            server.current.signal(SIGSTOP)
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_500, using: &random)))
            server.current.signal(SIGCONT)
        case .kill, .restart:
            if case .kill = fault { server.current.signal(SIGKILL) } else { server.current.signal(SIGTERM) }
            server.current = try startServer()
            for client in clients { client.relay.retarget(to: server.current.port) }
        }
    }

    private static func send(
        _ count: Int, by client: VerifiedClient, in room: [VerifiedClient], _ random: Random, _ sent: Progress
    ) async {
        var random = random
        let lanes = 4
        for first in stride(from: 0, to: count, by: lanes) {
            if await !client.connect(until: .now + .seconds(60)) { return }
            let plan = (first..<min(first + lanes, count)).map { _ in
                let target = Int.random(in: 0..<6, using: &random) == 0 ? room.randomElement(using: &random) : nil
                let type = ["a", "b"].randomElement(using: &random) ?? "a"
                return (target?.session.connectionID, type, Int.random(in: 0..<6, using: &random) == 0)
            }
            await withTaskGroup(of: Void.self) { group in
                for (to, type, isOnlineOnly) in plan {
                    group.addTask { _ = await client.send(to: to, type: type, isOnlineOnly: isOnlineOnly) }
                }
            }
            sent.count.add(plan.count, ordering: .relaxed)
        }
    }

    /// For a person who waits: now and then, how far it is.
    private static func tell(_ sent: Progress, of count: Int) async {
        guard isatty(STDERR_FILENO) == 1 else { return }
        while (try? await Task.sleep(for: .seconds(5))) != nil {
            StandardError.print("\(sent.count.load(ordering: .relaxed)) of \(count) signals are sent")
        }
    }

    /// Everybody is back, and has got a last signal of everybody.
    private func settle(_ rooms: [[VerifiedClient]]) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(90)
        for room in rooms {
            for client in room where await !client.connect(until: deadline) { return false }
        }
        for room in rooms {
            for client in room {
                var isDone = false
                // One that is cut off in between, and comes back as another connection, may never get it.
                while !isDone, ContinuousClock.now < deadline {
                    let data = await client.send(to: nil, type: "last", isOnlineOnly: false)
                    let patience = min(deadline, ContinuousClock.now + .seconds(25))
                    while !isDone, ContinuousClock.now < patience {
                        isDone = room.allSatisfy { $0.hasReceived(data) }
                        if !isDone { try? await Task.sleep(for: .milliseconds(20)) }
                    }
                }
                if !isDone { return false }
            }
        }
        return true
    }
}

private final class Progress: Sendable {
    let count = Atomic(0)
}

/// The server that runs at the moment.
private final class RestartableServer: Sendable {
    private let server: Mutex<ServerProcess>
    init(_ server: ServerProcess) { self.server = Mutex(server) }
    var current: ServerProcess {
        get { server.withLock { $0 } }
        set { server.withLock { $0 = newValue } }
    }
}

/// Randomness that repeats (SplitMix64: Steele, Lea and Flood, 2014).
struct Random: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
