import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// One run of `signalbox verify`: real servers, real clients behind relays, faults, and a report of what the clients
/// observed.
package struct Verification: Sendable {
    /// The number of signals and clients, and the faults that happen meanwhile.
    package struct Plan: Sendable {
        /// The number of signals in all; each client sends at least one.
        package var signals = 2_000
        package var sessions = 4
        /// The number of clients in each session; at least 2.
        package var members = 3
        /// Resets of one client's network.
        package var cuts = 20
        /// Losses of one direction of one client's network, without a reset.
        package var silences = 0
        /// Pauses of the server's process (SIGSTOP, SIGCONT).
        package var stops = 2
        /// Restarts after SIGKILL: the server loses its sessions.
        package var kills = 0
        /// Restarts after SIGTERM: the server keeps its sessions.
        package var restarts = 0
        /// Repeats the order of the faults and the signals. The machine's own timing is not repeated.
        package var seed: UInt64

        package init(seed: UInt64) { self.seed = seed }

        package var isValid: Bool {
            signals > 0 && sessions > 0 && members > 1
                && [cuts, silences, stops, kills, restarts].allSatisfy { $0 >= 0 }
        }
    }

    private enum Fault { case cut(NetworkRelay.Cut), stop, kill, restart }

    private static let apiKey = "100"
    /// How long a client may need to connect: at the start, after a fault, and after the last signal.
    private static let firstConnectTime = Duration.seconds(20)
    private static let reconnectTime = Duration.seconds(60)
    private static let settleTime = Duration.seconds(90)
    /// How long each client's last signal may need to reach the others before it is sent again.
    private static let lastSignalTime = Duration.seconds(25)
    /// How many signals a client sends at once.
    private static let concurrentSends = 4

    private let plan: Plan
    private let program: URL
    private let onProgress: @Sendable (_ sentCount: Int) -> Void

    /// - Parameters:
    ///   - program: the `signalbox` executable, whose `serve` is verified.
    ///   - onProgress: called every five seconds with the number of signals sent so far.
    package init(plan: Plan, program: URL, onProgress: @escaping @Sendable (_ sentCount: Int) -> Void = { _ in }) {
        self.plan = plan
        self.program = program
        self.onProgress = onProgress
    }

    /// Runs the plan and judges it.
    ///
    /// - Throws: ``VerificationError`` when the server does not start or a client cannot connect to it at the
    ///   beginning.
    package func run() async throws -> VerifyReport {
        var random = SplitMix64(state: plan.seed)
        let secret = "\(UInt64.random(in: .min ... .max))"
        guard let project = Project(apiKey: APIKey(Self.apiKey), secret: secret) else {
            preconditionFailure("the key and the secret of the verification are valid")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-verify-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = RestartableServer {
            try ServerProcess(program: program, apiKey: Self.apiKey, apiSecret: secret, stateFolder: folder)
        }
        try server.start()
        defer { server.signal(SIGKILL) }
        let start = ContinuousClock.now
        let tap = WireTap(terms: ServerProcess.terms, start: start)
        let sessions = try makeSessions(project, port: server.port, tap, start)
        let clients = sessions.flatMap { $0 }
        defer { for client in clients { client.relay.stop() } }
        for client in clients where await !client.connect(until: .now + Self.firstConnectTime) {
            throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
        }

        let sentCount = Counter()
        let watcher = Task {
            while (try? await Task.sleep(for: .seconds(5))) != nil { onProgress(sentCount.value) }
        }
        defer { watcher.cancel() }
        try await sendAndCommitFaults(sessions, server, tap, sentCount, &random)
        let isSettled = await settle(sessions)

        var report = VerifyReport(seed: plan.seed, isSettled: isSettled, duration: start.duration(to: .now))
        for members in sessions {
            report.add(
                History(clients: members.map(\.history), isSettled: isSettled, epochLimit: plan.kills + 1))
            report.longestInterruption = max(
                report.longestInterruption, members.map(\.longestInterruption).max() ?? .zero)
        }
        report.add(tap.judging { judge, now in judge.violations(at: now, isSettled: isSettled) })
        report.faults = [
            "cuts": plan.cuts, "silences": plan.silences, "stops": plan.stops, "kills": plan.kills,
            "restarts": plan.restarts,
        ]
        for client in clients { await client.session.disconnect() }
        return report
    }

    private func makeSessions(
        _ project: Project, port: Int, _ tap: WireTap, _ start: ContinuousClock.Instant
    ) throws -> [[VerifiedClient]] {
        var randomness = SystemRandomNumberGenerator()
        return try (0..<plan.sessions).map { session in
            let id = SessionIDCodec.make(for: project, now: .current, using: &randomness)
            return try (0..<plan.members).map { member in
                let token = try T1Token.make(
                    AccessRequest(sessionId: id, role: .publisher, connectionData: "\(member)"), project: project,
                    now: .current, using: &randomness)
                return try VerifiedClient(
                    name: "s\(session)c\(member)", apiKey: Self.apiKey, sessionId: id, token: token, port: port,
                    tap: tap,
                    start: start)
            }
        }
    }

    // MARK: - Signals and faults

    private func sendAndCommitFaults(
        _ sessions: [[VerifiedClient]], _ server: RestartableServer, _ tap: WireTap, _ sentCount: Counter,
        _ random: inout SplitMix64
    ) async throws {
        let clients = sessions.flatMap { $0 }
        let faults = faults(&random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for members in sessions {
                for client in members {
                    let own = SplitMix64(state: random.next())
                    let count = plan.signals / clients.count + 1
                    group.addTask { await Self.send(count, by: client, among: members, own, sentCount) }
                }
            }
            for (number, fault) in faults.enumerated() {
                // The faults are spread evenly over the signals.
                let due = plan.signals * (number + 1) / (faults.count + 1)
                while sentCount.value < due { try await Task.sleep(for: .milliseconds(5)) }
                try await commit(fault, server, clients, tap, &random)
            }
            try await group.waitForAll()
        }
    }

    private func faults(_ random: inout SplitMix64) -> [Fault] {
        var faults = Array(repeating: Fault.cut(.abrupt), count: plan.cuts)
        for number in 0..<plan.silences {
            faults.append(.cut(number.isMultiple(of: 2) ? .silentDown : .silentUp))
        }
        faults += Array(repeating: .stop, count: plan.stops) + Array(repeating: .kill, count: plan.kills)
        faults += Array(repeating: .restart, count: plan.restarts)
        return faults.shuffled(using: &random)
    }

    private func commit(
        _ fault: Fault, _ server: RestartableServer, _ clients: [VerifiedClient], _ tap: WireTap,
        _ random: inout SplitMix64
    ) async throws {
        switch fault {
        case .cut(let cut): clients.randomElement(using: &random)?.relay.cut(cut)
        case .stop:
            server.signal(SIGSTOP)
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_500, using: &random)))
            server.signal(SIGCONT)
        case .kill, .restart:
            let losesSessions = if case .kill = fault { true } else { false }
            server.signal(losesSessions ? SIGKILL : SIGTERM)
            try server.start()
            // The last bytes of the old server have passed, and no client can reach the new one yet.
            tap.judging { judge, now in
                if losesSessions { judge.serverLostSessions() }
                judge.serverStarted(at: now)
            }
            for client in clients { client.relay.retarget(to: server.port) }
        }
    }

    private static func send(
        _ count: Int, by client: VerifiedClient, among members: [VerifiedClient], _ random: SplitMix64,
        _ sentCount: Counter
    ) async {
        var random = random
        for first in stride(from: 0, to: count, by: concurrentSends) {
            if await !client.connect(until: .now + reconnectTime) { return }
            let requests = (first..<min(first + concurrentSends, count)).map { _ in
                let target = Int.random(in: 0..<6, using: &random) == 0 ? members.randomElement(using: &random) : nil
                let type = ["a", "b"].randomElement(using: &random) ?? "a"
                return (target?.session.connectionId, type, Int.random(in: 0..<6, using: &random) == 0)
            }
            await withTaskGroup(of: Void.self) { group in
                for (to, type, isOnlineOnly) in requests {
                    group.addTask { _ = await client.send(to: to, type: type, isOnlineOnly: isOnlineOnly) }
                }
            }
            sentCount.add(requests.count)
        }
    }

    // MARK: - The end

    /// Waits until every client is connected again and has received a last signal from each member of its session.
    private func settle(_ sessions: [[VerifiedClient]]) async -> Bool {
        let deadline = ContinuousClock.now + Self.settleTime
        for members in sessions {
            for client in members where await !client.connect(until: deadline) { return false }
        }
        for members in sessions {
            for client in members where await !sendLast(by: client, to: members, until: deadline) { return false }
        }
        return true
    }

    private func sendLast(
        by client: VerifiedClient, to members: [VerifiedClient], until deadline: ContinuousClock.Instant
    ) async -> Bool {
        // A client that is cut off meanwhile and returns with another connection may never receive this signal: send
        // another one.
        while ContinuousClock.now < deadline {
            let data = await client.send(to: nil, type: VerifiedClient.lastSignalType, isOnlineOnly: false)
            let attemptEnd = min(deadline, ContinuousClock.now + Self.lastSignalTime)
            while ContinuousClock.now < attemptEnd {
                if members.allSatisfy({ $0.hasReceived(data) }) { return true }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        return false
    }
}

/// Why a verification failed to run.
package struct VerificationError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable { case serverNotStarted, clientNotConnected }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// A count that many tasks add to.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// The server that runs now. ``start()`` replaces it.
private final class RestartableServer: Sendable {
    private let make: @Sendable () throws -> ServerProcess
    private let current = Mutex<ServerProcess?>(nil)

    init(_ make: @escaping @Sendable () throws -> ServerProcess) { self.make = make }

    var port: Int { current.withLock { $0?.port ?? 0 } }

    func start() throws {
        let started = try make()
        current.withLock { $0 = started }
    }

    func signal(_ number: Int32) { current.withLock(\.self)?.signal(number) }
}

/// A random number generator with a seed, so that a run can be repeated (SplitMix64: Steele, Lea and Flood, 2014).
private struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
