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
            guard await room.backend.forceDisconnect(id, port: stage.server.port) else { return }
        } else {
            guard (try? await room.members.first?.session.forceDisconnect(id)) != nil else { return }
        }
        stage.mark("expulsion")
        if await !isTrue({ guest.session.connectionId != id }) {
            stage.report(.g7, .wrong, "\(guest.name) was force-disconnected, and is still connected as \(id)")
        }
    }

    /// A guest's token expires while it is connected. It may resume (RES-7), and must be refused after the window.
    ///
    /// - Parameter canLoseSessions: the server may be killed meanwhile, so that there is nothing to resume.
    static func expireToken(in room: Stage.Room, on stage: Stage, canLoseSessions: Bool) async throws {
        let begin = stage.elapsed
        let tokenTime = Duration.seconds(10)
        let guest = try stage.addGuest(to: room, suppressesPresence: false, tokenTime: tokenTime)
        // On a machine that is too slow for the first connect, there is no story.
        guard await guest.connectOnce() == nil else { return await guest.crash() }
        try await Task.sleep(for: tokenTime + .seconds(1))
        let id = guest.session.connectionId
        guest.willBeCut(by: .cut)
        guest.relay.cut(.abrupt)
        try await Task.sleep(for: .milliseconds(500))
        let isBack = await isTrue { guest.interruptions.count > 0 || !guest.session.isConnected }
        if !canLoseSessions, !isBack || guest.session.connectionId != id {
            stage.report(.g3, .missing, "\(guest.name) could not resume with an expired token (RES-7)")
        }
        guest.relay.goDown()
        try await Task.sleep(for: .seconds(stage.terms.resumeSeconds + 1))
        guest.relay.goUp()
        if await !isTrue({ !guest.session.isConnected }) {
            stage.report(.g8, .wrong, "\(guest.name) got a new connection with an expired token (RES-7)")
        }
        await guest.crash()
        stage.mark("expiredToken", since: begin)
    }

    private static func isTrue(_ condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return condition()
    }
}
