import SignalingProtocol

/// The runs on servers of their own: with a small log, and with a long resume window.
extension Verification {
    // MARK: - The run with a small log

    /// Clients come back after the log has lost what they missed: they learn which events are missing (RES-16).
    func runOverruns(_ start: ContinuousClock.Instant, _ report: inout VerifyReport) async throws {
        var terms = ServerTerms.smallLog
        terms.isShared = plan.isShared
        terms.keepsHistory = plan.keepsHistory
        let stage = try await stages.add { [terms] isOver in
            try Stage(
                programs: programs, port: plan.port, cluster: plan.cluster, terms: terms, start: start,
                receiveBufferByteCount: 4_096, isOver: isOver)
        }
        defer { stage.tearDown() }
        let room = try stage.addRoom(members: max(plan.members, 2))
        for client in room.members where await !client.connect(until: .now + Self.firstConnectTime) {
            throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
        }
        for number in 0..<plan.overruns {
            let (sender, victim) = (room.members[0], room.members[1])
            guard await victim.connect(until: .now + Self.reconnectTime) else { break }
            let begin = stage.elapsed
            if number.isMultiple(of: 2) {
                victim.willBeCut(by: .absence)
                victim.relay.goDown()
                await sender.sendBurst(200)
                victim.networkIsBack()
                victim.relay.goUp()
            } else {
                victim.relay.setPace(.stalled)
                // More than the buffers of the system and of the server hold.
                await sender.sendBurst(1_000, padding: 8_000)
                victim.relay.setPace(.full)
            }
            stage.mark("overrun", since: begin)
        }
        report.add(stage, unsettled: await stage.settle(within: Self.settleTime), epochLimit: 1)
        report.addViolations(of: stage)
    }

    // MARK: - The run with a long resume window

    /// Long absences and wrong secrets, on a server of their own and beside the run with all faults.
    ///
    /// - Returns: what the run adds to the report; nil if the plan has none of these.
    func runLongWindow(_ start: ContinuousClock.Instant) async throws -> VerifyReport? {
        guard plan.longAbsences + plan.wrongSecrets > 0 else { return nil }
        var report = VerifyReport(plan: plan)
        // The port of the plan belongs to the other server.
        var terms = ServerTerms.longWindow
        terms.isShared = plan.isShared
        let stage = try await stages.add { [terms] isOver in
            try Stage(
                programs: programs, port: 0, cluster: plan.cluster, terms: terms, start: start,
                isOver: isOver)
        }
        defer { stage.tearDown() }
        let room = try stage.addRoom(members: max(plan.members, 3))
        for client in room.members where await !client.connect(until: .now + Self.firstConnectTime) {
            throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
        }
        for _ in 0..<plan.wrongSecrets { try await Stories.showWrongSecrets(in: room, on: stage) }
        for number in 0..<plan.longAbsences {
            let victim = room.members[number.isMultiple(of: 2) ? 1 : 0]
            try await Stories.longAbsence(of: victim, in: room, on: stage)
        }
        report.add(stage, unsettled: await stage.settle(within: Self.settleTime), epochLimit: 1)
        report.addViolations(of: stage)
        return report
    }
}
