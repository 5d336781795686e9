import Foundation
import SignalingClient
import SignalingProtocol
import SignalingVerification

/// What happens to single clients beside the faults of the network.
enum Stories {
    /// How long a client may need to learn of a change on a busy machine.
    private static let patience = Duration.seconds(15)

    /// Ends a guest's connection, through REST or by the room's moderator. The guest must learn of it and stay away.
    static func expel(_ guest: VerifiedClient, from room: Stage.Room, on stage: Stage, byREST: Bool) async {
        guard let id = guest.session.connectionId else { return }
        if byREST {
            guard await room.backend.forceDisconnect(id, port: stage.cluster.somePort) else { return }
        } else {
            guard (try? await room.members.first?.session.forceDisconnect(id)) != nil else { return }
        }
        stage.mark("expulsion")
        if await !isTrue(on: stage, { guest.session.connectionId != id }) {
            stage.report(.g7, .wrong, "\(guest.name) was force-disconnected, and is still connected as \(id)")
        }
    }

    /// A guest's token expires while it is connected. It may resume (RES-7), and must be refused after the window.
    static func expireToken(in room: Stage.Room, on stage: Stage) async throws {
        let begin = stage.elapsed
        let lossCount = stage.lossCount
        let tokenTime = Duration.seconds(10)
        let guest = try stage.addGuest(to: room, suppressesPresence: false, tokenTime: tokenTime)
        // On a machine that is too slow for the first connect, there is no story.
        guard await guest.connectOnce() == nil else { return await guest.crash() }
        try await Task.sleep(for: tokenTime + .seconds(1))
        let id = guest.session.connectionId
        guest.willBeCut(by: .cut)
        let cutAt = stage.elapsed
        guest.relay.cut(.abrupt)
        try await Task.sleep(for: .milliseconds(500))
        let isBack = await isTrue(on: stage) { guest.interruptions.count > 0 || !guest.session.isConnected }
        // After a kill there is nothing to resume, and a slow restart may take longer than the window.
        let isInTime = stage.elapsed - cutAt < .seconds(stage.terms.resumeSeconds) - .seconds(2)
        if stage.lossCount == lossCount, isInTime, !isBack || guest.session.connectionId != id {
            stage.report(.g3, .missing, "\(guest.name) could not resume with an expired token (RES-7)")
        }
        guest.relay.goDown()
        try await Task.sleep(for: .seconds(stage.terms.resumeSeconds + 1))
        guest.relay.goUp()
        // A server that stood still notices the loss later, and may resume the connection: the wire shows when.
        if await !isTrue(on: stage, { !guest.session.isConnected }), guest.session.connectionId != id {
            stage.report(.g8, .wrong, "\(guest.name) got a new connection with an expired token (RES-7)")
        }
        await guest.crash()
        stage.mark("expiredToken", since: begin)
    }

    /// A guest crashes, and then a member is without a network until the others have been told that both are away
    /// (PRES-4). A watcher whose socket is cut meanwhile, and a guest that joins, learn it from `connected`.
    ///
    /// The resume window must be longer than ``Limits/awayDelay`` by a few seconds.
    static func longAbsence(of victim: VerifiedClient, in room: Stage.Room, on stage: Stage) async throws {
        let watchers = room.members.filter { $0 !== victim && !$0.suppressesPresence }
        guard let id = victim.session.connectionId, let watcher = watchers.first else { return }
        let begin = stage.elapsed
        let crashing = try stage.addGuest(to: room, suppressesPresence: false)
        if await crashing.connectOnce() == nil { await crashing.crash() }
        victim.willBeCut(by: .absence)
        victim.relay.goDown()
        await watcher.sendBurst(20)
        let isTold = await isTrue(on: stage, within: Limits.awayDelay + patience) {
            watchers.allSatisfy { $0.session.awayConnections.contains { $0.connectionId == id } }
        }
        if !isTold { stage.report(.g7, .missing, "\(victim.name) was away, and not all were told (PRES-4)") }
        watcher.willBeCut(by: .cut)
        watcher.relay.cut(.abrupt)
        let late = try stage.addGuest(to: room, suppressesPresence: false)
        // The library reports the list of `connected` when it knows the connections (PRES-5), after `connect` returns.
        if await late.connectOnce() == nil, isTold,
            await !isTrue(on: stage, { late.session.awayConnections.contains { $0.connectionId == id } })
        {
            stage.report(.g7, .missing, "\(late.name) joined while \(victim.name) was away, and was not told (PRES-4)")
        }
        victim.networkIsBack()
        victim.relay.goUp()
        stage.mark("longAbsence", since: begin)
        let isBack = await isTrue(on: stage) { victim.session.isConnected }
        let areToldOfReturn = await isTrue(on: stage) {
            (watchers + [late]).allSatisfy { !$0.session.awayConnections.contains { $0.connectionId == id } }
        }
        if isBack, !areToldOfReturn {
            stage.report(.g7, .missing, "\(victim.name) is back, and not all were told (PRES-4)")
        }
        await late.crash()
    }

    /// A connection is resumed with its newest secret, and with no other one (RES-6).
    static func showWrongSecrets(in room: Stage.Room, on stage: Stage) async throws {
        let begin = stage.elapsed
        let impostor = try stage.makeImpostor(in: room)
        guard let first = await impostor.connect(end: .loss) else {
            return stage.report(.g3, .missing, "a client without the library could not connect")
        }
        guard let second = await impostor.connect(resuming: first, end: .loss), second.outcome == "resumed" else {
            return stage.report(.g3, .missing, "a client without the library could not resume its connection")
        }
        var forged = second
        forged.secret = String(second.secret.map { $0 == "0" ? "1" : "0" })
        if let entry = await impostor.connect(resuming: forged, end: .departure), entry.outcome != "lost" {
            stage.report(.g8, .wrong, "a client with a wrong secret got the outcome \(entry.outcome) (RES-6)")
        }
        var outdated = second
        outdated.secret = first.secret
        if let entry = await impostor.connect(resuming: outdated, end: .departure), entry.outcome != "lost" {
            stage.report(.g8, .wrong, "a client with an old secret got the outcome \(entry.outcome) (RES-6)")
        }
        let last = await impostor.connect(resuming: second, end: .departure)
        if last?.outcome != "resumed" {
            stage.report(
                .g3, .missing,
                "a client with its newest secret got \(last?.outcome ?? "no answer") after attempts with others (RES-3)"
            )
        }
        stage.mark("wrongSecret", since: begin)
    }

    /// Whether the condition comes true in time. The time in which the machine stood still does not count.
    private static func isTrue(
        on stage: Stage, within time: Duration = patience, _ condition: () -> Bool
    ) async -> Bool {
        let deadline = ContinuousClock.now + time - stage.tap.stalledTime
        while ContinuousClock.now < deadline + stage.tap.stalledTime, !Task.isCancelled {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return condition()
    }
}
