import Foundation
import SignalingProtocol
import SignalingVerification

extension Verification {
    /// How long a server may write erased text, and a little more (HIS-9).
    private static let forgettingTime = Duration.seconds(62)
    /// Longer than nodes wait for the proof that Redis keeps what they have told it.
    private static let proofTime = Duration.seconds(14)
    /// How long a server may need to notice that its history was removed. It looks once a second.
    private static let noticeTime = Duration.seconds(20)

    /// What becomes of a small history over erasures, restarts, backups and lost files, on a server of its own.
    ///
    /// - Returns: what the run adds to the report; nil if the plan has none of these.
    func runArchive(_ start: ContinuousClock.Instant) async throws -> VerifyReport? {
        guard plan.archives + plan.restores > 0 else { return nil }
        var report = VerifyReport(plan: plan)
        var random = SplitMix64(state: plan.seed)
        var terms = ServerTerms.smallHistory
        (terms.isDurable, terms.isShared, terms.permitsChanges) = (!plan.isInMemory, plan.isShared, plan.changes > 0)
        let stage = try await stages.add { [terms] isOver in
            try Stage(programs: programs, port: 0, cluster: plan.cluster, terms: terms, start: start, isOver: isOver)
        }
        defer { stage.tearDown() }
        let room = try stage.addRoom(members: 2)
        try await ArchiveStories(room: room, stage: stage, number: 0).meet()
        for number in 0..<plan.archives {
            try await keep(ArchiveStories(room: room, stage: stage, number: number), &random)
        }
        for number in 0..<plan.restores {
            try await lose(ArchiveStories(room: room, stage: stage, number: number), &random)
        }
        let unsettled = await stage.settle(within: Self.settleTime)
        report.add(stage, unsettled: unsettled, epochLimit: 1 + 2 * plan.restores)
        report.addViolations(of: stage)
        return report
    }

    // MARK: - What a history keeps, and what it forgets

    private func keep(_ story: ArchiveStories, _ random: inout SplitMix64) async throws {
        let stage = story.stage
        let begin = stage.elapsed
        let other = try await story.beginLog()
        let (muted, reader) = try await story.fillAndErase()
        if stage.terms.isShared {
            try await Task.sleep(for: Self.proofTime)
        } else if stage.terms.isDurable {
            await waitForForgetting(on: stage)
        }
        await story.readAll()
        if stage.terms.isDurable {
            await story.mute(muted)
            try await replaceServer(on: stage, by: SIGKILL, &random)
            // What a server has in memory no longer hides what its archive has.
            await story.signalAndRead(by: muted)
        }
        await story.joinWhileSending(reader)
        await story.editByMember(20)
        await story.readAll()
        if stage.terms.isDurable {
            // A server that stops keeps a snapshot without what was erased: the mute comes back from it.
            await story.eraseNewest()
            try await replaceServer(on: stage, by: SIGTERM, &random)
            await story.signalAndRead(by: muted)
            await story.unmute(muted)
        }
        if stage.cluster.hasOwnRedis { try await loseLastSecond(of: stage, story) }
        for client in [muted, reader] { await client.depart() }
        await story.end(other)
        stage.mark("archive", since: begin)
    }

    /// Until the files have nothing of what was erased, or the minute is over.
    private func waitForForgetting(on stage: Stage) async {
        let deadline = ContinuousClock.now + Self.forgettingTime
        var erased = stage.tap.judging { judge, _ in judge.erasedData }
        while true {
            let found = stage.stateFolder.search(erased)
            if found.isEmpty || Task.isCancelled { return }
            erased = Set(found.keys)
            if ContinuousClock.now > deadline {
                return stage.tap.judging { judge, now in
                    for (data, file) in found.sorted(by: { $0.key < $1.key }) {
                        judge.foundOnDisk(data, in: file, at: now)
                    }
                }
            }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Redis forgets what it has not written to the disk, and was told of as archived.
    private func loseLastSecond(of stage: Stage, _ story: ArchiveStories) async throws {
        let begin = stage.elapsed
        let kept = stage.cluster.redisByteCount
        await story.sayByMember(ArchiveStories.batch)
        // The messages are in the archive now. A node that believed the replies would forget them.
        try? await Task.sleep(for: .milliseconds(300))
        let cluster = stage.cluster
        try await onOwnThread { try cluster.replaceRedis(keeping: kept) }
        try await story.meet()
        await story.readAll()
        stage.mark("redisLoss", since: begin)
    }

    // MARK: - Lost files

    private func lose(_ story: ArchiveStories, _ random: inout SplitMix64) async throws {
        let begin = story.stage.elapsed
        try await restoreBackup(story, &random)
        try await putBackCopy(story, &random)
        try await removeHistory(story, &random)
        story.stage.mark("restore", since: begin)
    }

    /// A backup of a running server has every message that was acknowledged before it (H1).
    private func restoreBackup(_ story: ArchiveStories, _ random: inout SplitMix64) async throws {
        let stage = story.stage
        // Fewer than the server tells its archive at once: they wait in the sessions.
        await story.sayByMember(30)
        await story.editByMember(5)
        try await story.meet()
        let folder = stage.stateFolder.url.path
        let run = { (arguments: [String]) in try await runTool(["state"] + arguments, on: stage) }
        let backup = stage.stateFolder.url.deletingLastPathComponent().appending(path: "backup-\(story.number)").path
        try await run(["backup", folder, backup])
        try await replaceServer(
            on: stage, by: SIGKILL, &random, meanwhile: { try await run(["restore", backup, folder]) },
            judging: { judge, now in judge.serverLostSessions(at: now) })
        try await story.meet()
        await story.readAll()
    }

    /// Runs a command of the program, which must succeed.
    private func runTool(_ arguments: [String], on stage: Stage) async throws {
        let program = programs.first
        let output = stage.stateFolder.url.deletingLastPathComponent().appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let file = try? FileHandle(forWritingTo: output)
        let ending = try? await onOwnThread {
            try ChildProcess(
                program, arguments, input: .nullDevice, output: .nullDevice,
                errors: file.map { .handle($0) } ?? .nullDevice
            ).waitUntilExit()
        }
        guard ending != .exited(0) else { return }
        let reason = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        let command = arguments.prefix(2).joined(separator: " ")
        stage.report(.h1, .missing, "signalbox \(command) failed: \(reason)")
    }

    /// A volume is put back from a snapshot (RES-3).
    private func putBackCopy(_ story: ArchiveStories, _ random: inout SplitMix64) async throws {
        let stage = story.stage
        try await story.meet()
        let process = stage.cluster.nodes[0].process
        await process?.signal(SIGSTOP)
        let copy = try? stage.stateFolder.copy()
        stage.tap.judging { judge, _ in judge.stateCopied() }
        await process?.signal(SIGCONT)
        guard let copy else { return }
        await story.sayByMember(20)
        try await story.meet()
        try await replaceServer(
            on: stage, by: SIGKILL, &random, meanwhile: { try stage.stateFolder.putBack(copy) },
            judging: { judge, now in judge.copyPutBack(at: now) })
        try await story.meet()
        await story.sayByMember(5)
        await story.readAll()
    }

    /// The server ends when its history is removed: it would acknowledge what nobody can read later (LOG-23).
    private func removeHistory(_ story: ArchiveStories, _ random: inout SplitMix64) async throws {
        let stage = story.stage
        guard let process = stage.cluster.nodes[0].process else { return }
        process.mayEnd()
        try? stage.stateFolder.removeHistory()
        stage.tap.judging { judge, now in judge.historyRemoved(at: now) }
        let sender = Task {
            while !Task.isCancelled {
                await story.sayByMember()
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        let deadline = ContinuousClock.now + Self.noticeTime
        while process.isRunning, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(50)) }
        sender.cancel()
        try await replaceServer(on: stage, by: SIGKILL, &random)
        try await story.meet()
        await story.sayByMember(5)
        await story.readAll()
    }
}
