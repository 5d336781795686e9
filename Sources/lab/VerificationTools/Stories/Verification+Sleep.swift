import Foundation
import SignalingProtocol

extension Verification {
    /// Longer than the windows of a session that is about to sleep, and than a kill in it takes.
    private static let sleepTime = Duration.seconds(6)

    /// Everybody leaves, the session sleeps, and the next client wakes it (HIS-3), on a server of its own. Kills hit the
    /// session before it sleeps, while it falls asleep, and in its sleep.
    ///
    /// - Returns: what the run adds to the report; nil if the plan has none of these.
    func runSleep(_ start: ContinuousClock.Instant) async throws -> VerifyReport? {
        guard plan.sleeps > 0 else { return nil }
        var report = VerifyReport(plan: plan)
        var random = SplitMix64(state: plan.seed)
        var terms = ServerTerms.sleeping
        (terms.isDurable, terms.isShared) = (!plan.isInMemory, plan.isShared)
        (terms.keepsHistory, terms.permitsChanges) = (true, plan.changes > 0)
        let stage = try await stages.add { [terms] isOver in
            try Stage(programs: programs, port: 0, cluster: plan.cluster, terms: terms, start: start, isOver: isOver)
        }
        defer { stage.tearDown() }
        let room = try stage.addRoom(members: 2)
        // A session without a history sleeps if a restriction holds.
        let quietRoom = plan.bans > 0 ? try stage.addRoom(members: 1) : nil
        func connectAll() async throws {
            for client in stage.members where await !client.connect(until: .now + Self.reconnectTime) {
                throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
            }
        }
        for number in 0..<plan.sleeps {
            try await connectAll()
            let bans = [room, quietRoom].compactMap(\.self).filter { _ in plan.bans > 0 }.map { room in
                ModerationStories(room: room, stage: stage, number: number)
            }
            var banned: [UserID] = []
            for ban in bans { banned.append(await ban.banAbsentee()) }
            for client in room.members { await client.sendBurst(Int.random(in: 20...90, using: &random)) }
            if plan.changes > 0 { await ChangeStories(room: room, stage: stage).editLatest(5, by: room.members[1]) }
            await HistoryStories.erase(HistoryStories.Erasure.allCases[number % 3], in: room, on: stage)
            let begin = stage.elapsed
            async let first: Void = room.members[0].leave(for: Self.sleepTime)
            async let second: Void = room.members[1].leave(for: Self.sleepTime)
            async let third: Void? = quietRoom?.members[0].leave(for: Self.sleepTime)
            if terms.isDurable {
                try? await Task.sleep(for: Self.sleepTime / 3 * (number % 3))
                try await replaceServer(on: stage, by: SIGKILL, &random)
            }
            _ = await (first, second, third)
            for (ban, user) in zip(bans, banned) { try await ban.expectBanned(user) }
            try await connectAll()
            for (ban, user) in zip(bans, banned) { await ban.pardon(user) }
            if plan.changes > 0 { await ChangeStories(room: room, stage: stage).run(.edits) }
            stage.mark("sleep", since: begin)
        }
        report.add(stage, unsettled: await stage.settle(within: Self.settleTime), epochLimit: 1)
        report.addViolations(of: stage)
        return report
    }
}
