import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens

/// One run of `signalbox-lab bench`: members join rooms, send signals at planned moments, and leave.
package struct LoadTest: Sendable {
    /// How many members join at a time.
    private static let concurrentJoins = 32
    /// How long answers and deliveries may come behind the last signal.
    private static let settleTime = Duration.seconds(10)

    private let plan: LoadPlan
    private let target: LoadTarget
    private let project: Project
    private let usage: @Sendable () async -> ServerUsage?
    private let onProgress: @Sendable (String) -> Void

    /// - Parameters:
    ///   - usage: reads the server's metrics; returns nil if they are not available.
    ///   - onProgress: called with a sentence when a phase begins.
    package init(
        plan: LoadPlan, target: LoadTarget, project: Project, usage: @escaping @Sendable () async -> ServerUsage?,
        onProgress: @escaping @Sendable (String) -> Void
    ) {
        self.plan = plan
        self.target = target
        self.project = project
        self.usage = usage
        self.onProgress = onProgress
    }

    /// Runs the plan. When the task is cancelled, the members leave early, and the report says so.
    ///
    /// - Throws: ``SignalingError`` of the first member that cannot join.
    package func run() async throws -> LoadReport {
        var report = LoadReport(plan: plan)
        let record = LoadRecord()
        let rooms = try makeRooms(record)
        report.usageAtStart = await usage()
        onProgress("\(plan.memberCount) members join.")
        let joinsFrom = ContinuousClock.now
        do { report.joinLatency = try await join(rooms.joined()) } catch {
            record.end()
            await leave(rooms.joined())
            throw error
        }
        report.joinTime = joinsFrom.duration(to: .now)
        report.usageAfterJoins = await usage()
        if !Task.isCancelled {
            onProgress("The load runs for \(plan.warmUpSeconds + plan.seconds) s.")
            await load(rooms, record, &report)
        }
        report.figures = record.figures
        report.isInterrupted = Task.isCancelled
        record.end()
        onProgress("The members leave.")
        await leave(rooms.joined())
        return report
    }

    private func makeRooms(_ record: LoadRecord) throws -> [[LoadMember]] {
        var randomness = SystemRandomNumberGenerator()
        return try (0..<plan.rooms).map { _ in
            let id = SessionIDCodec.make(for: project, now: .current, using: &randomness)
            return try (0..<plan.members).map { _ in
                let token = try T1Token.make(
                    AccessRequest(sessionId: id), project: project, now: .current, using: &randomness)
                return LoadMember(
                    apiKey: project.apiKey.rawValue, sessionId: id, token: token, target: target, record: record)
            }
        }
    }

    /// - Returns: the time of each join.
    private func join(_ members: some Sequence<LoadMember>) async throws -> LatencyHistogram {
        try await withThrowingTaskGroup(of: Duration?.self) { group in
            var latencies = LatencyHistogram()
            for (index, member) in members.enumerated() {
                if index >= Self.concurrentJoins, let latency = try await group.next() ?? nil { latencies.add(latency) }
                if Task.isCancelled { break }
                group.addTask {
                    let start = ContinuousClock.now
                    do { try await member.connect() } catch {
                        // The end of the run ends the connects under way: that is no failure.
                        if Task.isCancelled { return nil }
                        throw error
                    }
                    return start.duration(to: .now)
                }
            }
            for try await latency in group { if let latency { latencies.add(latency) } }
            return latencies
        }
    }

    private func load(_ rooms: [[LoadMember]], _ record: LoadRecord, _ report: inout LoadReport) async {
        let start = ContinuousClock.now
        record.begin(at: start, measuredFrom: plan.warmUp)
        let pacer = Pacer()
        let plan = plan
        let sending = Task { await pacer.run(plan, rooms, record, start: start) }
        await withTaskCancellationHandler {
            try? await Task.sleep(until: start + plan.warmUp, clock: .continuous)
            report.usageBefore = await usage()
            let ownBefore = OwnUsage.current
            let measuredFrom = ContinuousClock.now
            await sending.value
            try? await Task.sleep(until: start + plan.length, clock: .continuous)
            report.ownCPU = OwnUsage.current - ownBefore
            report.usageAfter = await usage()
            report.measuredTime = measuredFrom.duration(to: .now)
            await settle(record)
        } onCancel: {
            pacer.stop()
        }
    }

    /// Waits until every signal is answered and delivered, or until the time is over.
    private func settle(_ record: LoadRecord) async {
        let deadline = ContinuousClock.now + Self.settleTime
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let figures = record.figures
            if figures.unansweredCount == 0, figures.deliveries >= figures.acknowledged * plan.members { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func leave(_ members: some Sequence<LoadMember>) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, member) in members.enumerated() {
                if index >= Self.concurrentJoins { await group.next() }
                group.addTask { await member.disconnect() }
            }
        }
    }
}
