import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// One run of `signalbox-lab verify`: real servers, real clients behind relays, faults, and a report of what was observed.
package struct Verification: Sendable {
    private enum Fault {
        case cut, stop, kill, restart, redisCut, redisKill, redisFailover, leave, guest(Guest), slow(isStalled: Bool)
        case read, erase(HistoryStories.Erasure)
        case ban(number: Int), change(ChangeStories.Story)
    }
    private enum Guest { case crashes, isExpelled(byREST: Bool) }

    /// How long a client may need to connect: at the start, and after a fault.
    static let firstConnectTime = Duration.seconds(20)
    static let reconnectTime = Duration.seconds(90)
    static let settleTime = Duration.seconds(120)
    /// Longer than the other nodes wait before they declare a node lost.
    private static let freezeTime = Duration.seconds(18)
    /// Longer than clients need to notice that their node hangs, and to come back on another one.
    private static let hostTime = Duration.seconds(30)
    /// How many signals a client sends at once.
    private static let concurrentSends = 4
    /// How long a client waits that may not signal, so that it does not use up its signals.
    private static let restrictedWait = Duration.milliseconds(20)

    /// The programs of the servers.
    package struct Programs: Sendable {
        var first: URL
        /// The program of a server that starts again after a kill or a restart; nil: the first one.
        var upgrade: URL?

        package init(first: URL, upgrade: URL? = nil) {
            self.first = first
            self.upgrade = upgrade
        }
    }

    let plan: Plan
    let programs: Programs
    let stages = RunningStages()
    private let onProgress: @Sendable (_ sentCount: Int) -> Void

    /// - Parameters:
    ///   - programs: the `signalbox` executables, whose `serve` is verified.
    ///   - onProgress: called every five seconds with the number of signals sent so far.
    package init(
        plan: Plan, programs: Programs, onProgress: @escaping @Sendable (_ sentCount: Int) -> Void = { _ in }
    ) {
        self.plan = plan
        self.programs = programs
        self.onProgress = onProgress
    }

    /// Runs the plan and judges it.
    ///
    /// - Throws: ``VerificationError`` when the server does not start or a client cannot connect to it at the
    ///   beginning.
    package func run() async throws -> VerifyReport {
        let start = ContinuousClock.now
        var report = VerifyReport(plan: plan)
        async let longWindow = runLongWindow(start)
        async let sleep = runSleep(start)
        async let archive = runArchive(start)
        try await runFaults(start, &report)
        if let other = try await longWindow { report.add(other) }
        if let other = try await sleep { report.add(other) }
        if let other = try await archive { report.add(other) }
        if plan.overruns > 0, report.isSettled { try await runOverruns(start, &report) }
        report.duration = start.duration(to: .now)
        return report
    }

    /// Ends a run from another thread: kills its servers and removes their state. The process has to end then.
    package func abandon() { stages.tearDown() }

    // MARK: - The run with all faults

    private func runFaults(_ start: ContinuousClock.Instant, _ report: inout VerifyReport) async throws {
        var random = SplitMix64(state: plan.seed)
        var terms = ServerTerms.standard
        terms.isDurable = !plan.isInMemory
        terms.isShared = plan.isShared
        (terms.keepsHistory, terms.permitsChanges) = (plan.keepsHistory, plan.changes > 0)
        let stage = try await stages.add { [terms] isOver in
            try Stage(
                programs: programs, port: plan.port, cluster: plan.cluster, terms: terms, start: start,
                hasFeed: plan.hasFeed, isOver: isOver)
        }
        defer { stage.tearDown() }
        for _ in 0..<plan.sessions { _ = try stage.addRoom(members: plan.members) }
        for client in stage.members where await !client.connect(until: .now + Self.firstConnectTime) {
            throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
        }
        stage.feed?.start(on: stage, downtime: plan.consumerDowntime, seed: plan.seed)
        let sentCount = Counter()
        let watcher = Task {
            while (try? await Task.sleep(for: .seconds(5))) != nil { onProgress(sentCount.value) }
        }
        defer { watcher.cancel() }
        let balancer = programs.upgrade == nil ? nil : Task { await balance(stage) }
        defer { balancer?.cancel() }
        try await sendAndCommitFaults(stage, sentCount, &random)
        if plan.bans > 0 {
            for room in stage.rooms { await ModerationStories.liftAll(in: room, on: stage) }
        }
        let lossCount = stage.terms.isDurable ? 0 : plan.kills
        report.add(stage, unsettled: await stage.settle(within: Self.settleTime), epochLimit: lossCount + 1)
        report.resources = try await ResourceCheck(stage: stage).run()
        report.addViolations(of: stage)
    }

    /// While two versions serve, an older node may send a client away, since it cannot read its session. Behind a load
    /// balancer, the client reaches a newer node in time.
    private func balance(_ stage: Stage) async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            stage.rebalance(stage.members.filter { !$0.session.isConnected })
        }
    }

    private func sendAndCommitFaults(
        _ stage: Stage, _ sentCount: Counter, _ random: inout SplitMix64
    ) async throws {
        let faults = faults(&random)
        let clientCount = plan.sessions * plan.members
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for room in stage.rooms {
                for client in room.members {
                    let own = SplitMix64(state: random.next())
                    let count = (plan.signals - plan.rest) / clientCount + 1
                    group.addTask { await send(count, by: client, in: room, own, since: begin, sentCount) }
                }
                let own = SplitMix64(state: random.next())
                let share = plan.rest / plan.sessions + (room.number < plan.rest % plan.sessions ? 1 : 0)
                group.addTask { await sendByREST(share, in: room, stage, own, since: begin, sentCount) }
            }
            startLongFaults(stage, &group, &random)
            for (number, fault) in faults.enumerated() {
                // The faults are spread evenly over the signals.
                let due = plan.signals * (number + 1) / (faults.count + 1)
                while sentCount.value < due { try await Task.sleep(for: .milliseconds(5)) }
                try await commit(fault, stage, &group, &random)
            }
            try await group.waitForAll()
        }
    }

    private func faults(_ random: inout SplitMix64) -> [Fault] {
        var faults = Array(repeating: Fault.cut, count: plan.cuts)
        faults += Array(repeating: .stop, count: plan.stops) + Array(repeating: .kill, count: max(0, plan.kills - 1))
        faults += Array(repeating: .restart, count: plan.restarts) + Array(repeating: .leave, count: plan.leaves)
        faults += Array(repeating: .redisCut, count: plan.redisCuts)
        faults += Array(repeating: .redisKill, count: plan.redisKills)
        faults += Array(repeating: .redisFailover, count: plan.redisFailovers)
        faults += (0..<plan.slowReaders).map { .slow(isStalled: !$0.isMultiple(of: 2)) }
        faults += (0..<plan.guests).map { number in
            .guest(number < plan.expulsions ? .isExpelled(byREST: number.isMultiple(of: 2)) : .crashes)
        }
        faults += Array(repeating: .read, count: plan.readers) + (0..<plan.bans).map { .ban(number: $0) }
        faults += (0..<plan.changes).map { .change(ChangeStories.Story.allCases[$0 % 4]) }
        faults += (0..<plan.erasures).map { .erase(HistoryStories.Erasure.allCases[$0 % 3]) }
        // In memory, a kill ends the sessions, and with them what can be judged of the faults before it: one comes last.
        return faults.shuffled(using: &random) + (plan.kills > 0 ? [.kill] : [])
    }

    /// The faults that last for seconds begin with the run.
    private func startLongFaults(
        _ stage: Stage, _ group: inout ThrowingTaskGroup<Void, any Error>, _ random: inout SplitMix64
    ) {
        let terms = stage.terms
        let lengths = [
            terms.resumeSeconds / 3, (terms.resumeSeconds + terms.recoverySeconds) / 2, terms.recoverySeconds + 2,
        ]
        // Different clients, as long as there are enough.
        let victims = stage.members.shuffled(using: &random)
        for number in 0..<plan.absences {
            let client = victims[number % victims.count]
            let length = Duration.seconds(lengths[number % lengths.count])
            group.addTask { await absence(of: client, for: length, on: stage) }
        }
        for number in 0..<plan.silences {
            let client = victims[(plan.absences + number) % victims.count]
            stage.mark("silence")
            client.willBeCut(by: .silence)
            client.relay.cut(number.isMultiple(of: 2) ? .silentDown : .silentUp)
        }
        for number in 0..<plan.freezes {
            let node = stage.cluster.nodes[number % stage.cluster.nodes.count]
            group.addTask { try await freeze(node, on: stage) }
        }
        for number in 0..<plan.expiredTokens {
            let room = stage.rooms[number % stage.rooms.count]
            group.addTask { try await Stories.expireToken(in: room, on: stage) }
        }
    }

    /// A node hangs for so long that the others declare it lost, and goes on then (LOG-32).
    private func freeze(_ node: RestartableServer, on stage: Stage) async throws {
        let begin = stage.elapsed
        let clients = stage.clients(of: node)
        node.isSuspended.store(true, ordering: .relaxed)
        for client in clients {
            client.willBeCut(by: .freeze)
            client.relay.cut(.silentServer)
        }
        stage.rebalance(clients)
        let process = node.process
        await process?.signal(SIGSTOP)
        try? await Task.sleep(for: Self.freezeTime)
        await process?.signal(SIGCONT)
        stage.tap.judging { judge, now in judge.serverStarted(at: now) }
        node.isSuspended.store(false, ordering: .relaxed)
        stage.mark("freeze", since: begin, repeatsFeed: true)
    }

    private func absence(of client: VerifiedClient, for length: Duration, on stage: Stage) async {
        let begin = stage.elapsed
        client.willBeCut(by: .absence)
        client.relay.goDown()
        try? await Task.sleep(for: length)
        client.networkIsBack()
        client.relay.goUp()
        stage.mark("absence", since: begin)
    }

    private func commit(
        _ fault: Fault, _ stage: Stage, _ group: inout ThrowingTaskGroup<Void, any Error>, _ random: inout SplitMix64
    ) async throws {
        guard let room = stage.rooms.randomElement(using: &random),
            let client = room.members.randomElement(using: &random)
        else { return }
        let pause = Duration.milliseconds(Int.random(in: 100...1_500, using: &random))
        let begin = stage.elapsed
        switch fault {
        case .cut:
            client.willBeCut(by: .cut)
            stage.rebalance([client])
            client.relay.cut(.abrupt)
            stage.mark("cut")
        case .stop:
            guard let process = stage.cluster.servingNodes.randomElement(using: &random)?.process else { return }
            await process.signal(SIGSTOP)
            try await Task.sleep(for: pause)
            await process.signal(SIGCONT)
            stage.mark("stop", since: begin)
        case .kill: try await replaceServer(on: stage, by: SIGKILL, &random)
        case .restart: try await replaceServer(on: stage, by: SIGTERM, &random)
        case .redisCut:
            stage.cluster.cutRedis(of: Int.random(in: 0..<stage.cluster.nodes.count, using: &random))
            stage.mark("redisCut", repeatsFeed: true)
        case .redisKill: try await harmRedis(on: stage, "redisKill", &group) { try $0.replaceRedis() }
        case .redisFailover: try await harmRedis(on: stage, "redisFailover", &group) { try $0.failOverRedis() }
        case .leave:
            group.addTask {
                await client.leave(for: pause)
                stage.mark("leave", since: begin)
            }
        case .slow(let isStalled):
            group.addTask {
                client.relay.setPace(isStalled ? .stalled : .bytesPerSecond(4_096))
                try? await Task.sleep(for: .seconds(3))
                client.relay.setPace(.full)
                stage.mark(isStalled ? "stalledReader" : "slowReader", since: begin)
            }
        case .read: group.addTask { await HistoryStories.read(in: room, on: stage) }
        case .erase(let erasure): group.addTask { await HistoryStories.erase(erasure, in: room, on: stage) }
        case .change(let story): group.addTask { await ChangeStories(room: room, stage: stage).run(story) }
        case .ban(let number):
            let story = ModerationStories.Story.allCases[number % ModerationStories.Story.allCases.count]
            group.addTask { await ModerationStories(room: room, stage: stage, number: number).run(story) }
        case .guest(let end):
            let suppressesPresence = Bool.random(using: &random)
            group.addTask {
                let guest = try stage.addGuest(to: room, suppressesPresence: suppressesPresence)
                guard await guest.connect(until: .now + Self.reconnectTime) else { return }
                for _ in 0..<3 { await guest.send(to: nil, type: "a", isOnlineOnly: false) }
                try? await Task.sleep(for: pause)
                switch end {
                case .crashes: break
                case .isExpelled(let byREST): await Stories.expel(guest, from: room, on: stage, byREST: byREST)
                }
                await guest.crash()
                stage.mark("guest", since: begin)
            }
        }
    }

    /// Waits until a running node has each session, which an acknowledgement shows, but not for ever.
    func confirmHosts(on stage: Stage, _ group: inout ThrowingTaskGroup<Void, any Error>) async {
        let begin = ContinuousClock.now
        for client in stage.members where client.session.isConnected {
            group.addTask { await client.send(to: nil, type: "a", isOnlineOnly: false) }
        }
        func hasHost(_ room: Stage.Room) -> Bool {
            room.members.contains { client in client.lastAcknowledgedAt.map { $0 > begin } ?? false }
        }
        while ContinuousClock.now < begin + Self.hostTime, !stage.rooms.allSatisfy(hasHost) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Ends a server, and starts it again.
    ///
    /// - Parameters:
    ///   - change: what happens to its files meanwhile.
    ///   - judging: tells the judge of it.
    func replaceServer(
        on stage: Stage, by signal: Int32, _ random: inout SplitMix64, meanwhile change: () async throws -> Void = {},
        judging: @Sendable (inout WireJudge, MonotonicInstant) -> Void = { _, _ in }
    ) async throws {
        let isKill = signal == SIGKILL
        let begin = stage.elapsed
        // One that has ended by itself is started again, too.
        let ended = stage.cluster.nodes.first { $0.process?.isRunning == false }
        guard let node = ended ?? stage.cluster.servingNodes.randomElement(using: &random) else { return }
        let clients = stage.clients(of: node)
        let oldPort = node.port
        for client in clients where stage.members.contains(where: { $0 === client }) {
            client.willBeCut(by: isKill ? .kill : .restart)
        }
        if isKill, !stage.terms.isDurable { stage.serverWillBeKilled() }
        let process = node.process
        node.isSuspended.store(true, ordering: .relaxed)
        // To the other nodes, if there are any.
        if !stage.cluster.servingNodes.isEmpty { stage.rebalance(clients) }
        guard await process?.signal(signal) == true else {
            throw VerificationError(.serverNotRestarted, "The server did not stop within 30 s of SIGTERM.")
        }
        try await change()
        do { try await onOwnThread { try node.start() } } catch let error as VerificationError {
            throw VerificationError(.serverNotRestarted, error.description)
        }
        stage.mark(isKill ? "kill" : "restart", since: begin, repeatsFeed: true)
        // The last bytes of the old server have passed, and no client can reach the new one yet.
        stage.tap.judging { judge, now in
            if isKill { judge.serverKilled(at: now) } else if !stage.terms.isShared { judge.serverStopped() }
            judging(&judge, now)
            judge.serverStarted(at: now)
        }
        node.isSuspended.store(false, ordering: .relaxed)
        // No other node may have served meanwhile, since it was the only one, or another one was suspended. The clients
        // that still have the old port would never connect again.
        stage.rebalance(stage.rooms.flatMap(\.all).filter { $0.relay.targetPort == oldPort })
    }

    // MARK: - Signals

    /// Waits until it is time for signal `number` of `count`, in a run that lasts at least ``Plan/leastDuration``.
    private func pace(_ number: Int, of count: Int, since begin: ContinuousClock.Instant) async {
        if plan.leastDuration == .zero || count == 0 { return }
        try? await Task.sleep(until: begin + plan.leastDuration * (Double(number) / Double(count)), clock: .continuous)
    }

    private func send(
        _ count: Int, by client: VerifiedClient, in room: Stage.Room, _ random: SplitMix64,
        since begin: ContinuousClock.Instant, _ sentCount: Counter
    ) async {
        var random = random
        let members = room.members
        for first in stride(from: 0, to: count, by: Self.concurrentSends) {
            await pace(first, of: count, since: begin)
            let end = min(first + Self.concurrentSends, count)
            // A client that is away for long sends the rest later.
            guard await client.connect(until: .now + Self.reconnectTime) else { return sentCount.add(count - first) }
            let requests = (first..<end).map { _ in
                let target = Int.random(in: 0..<6, using: &random) == 0 ? members.randomElement(using: &random) : nil
                let type = ["a", "b"].randomElement(using: &random) ?? "a"
                return (target?.session.connectionId, type, Int.random(in: 0..<6, using: &random) == 0)
            }
            let refusals = client.restrictedCount
            await withTaskGroup(of: Void.self) { group in
                for (to, type, isOnlineOnly) in requests {
                    group.addTask { await client.send(to: to, type: type, isOnlineOnly: isOnlineOnly) }
                }
            }
            sentCount.add(requests.count)
            if client.restrictedCount > refusals { try? await Task.sleep(for: Self.restrictedWait) }
        }
    }

    private func sendByREST(
        _ count: Int, in room: Stage.Room, _ stage: Stage, _ random: SplitMix64, since begin: ContinuousClock.Instant,
        _ sentCount: Counter
    ) async {
        var random = random
        for number in 0..<count {
            await pace(number, of: count, since: begin)
            let target = Int.random(in: 0..<6, using: &random) == 0 ? room.members.randomElement(using: &random) : nil
            await room.backend.send(to: target?.session.connectionId, port: stage.cluster.somePort)
            sentCount.add(1)
        }
    }
}
