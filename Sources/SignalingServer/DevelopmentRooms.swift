import SignalingProtocol
import SignalingTokens

/// What OpenTok's sample servers do, for development mode: rooms by name, tokens for whoever asks. Confined to the loop.
final class DevelopmentRooms {
    /// A way into a room.
    struct Access {
        let apiKey: APIKey
        let session: SessionID
        let token: String
    }

    /// Rooms that are remembered (G5); a name beyond that gets a new session each time that it is asked for.
    private static let roomLimit = 10_000

    private let project: Project
    private var sessions: [String: SessionID] = [:]
    private var randomness = SystemRandomNumberGenerator()

    init(project: Project) {
        self.project = project
    }

    /// - Throws: 400 for a name, role or data that is not permitted.
    func access(room: String, role: String?, data: String?, now: WallTime) throws(SignalingError) -> Access {
        guard (1...64).contains(room.utf8.count), (try? SignalRequest(type: room).validate()) != nil else {
            throw SignalingError(
                .invalidParameter, "a room's name has 1 to 64 letters, digits, or characters - . _ ~")
        }
        guard let role = Role(rawValue: role ?? Role.publisher.rawValue) else {
            throw SignalingError(
                .invalidParameter, "role is one of \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        do {
            let session = sessions[room] ?? SessionIDCodec.make(for: project, now: now, using: &randomness)
            if sessions.count < Self.roomLimit { sessions[room] = session }
            let token = try T1Token.make(
                AccessRequest(sessionID: session, role: role, connectionData: data ?? ""), project: project, now: now,
                using: &randomness)
            return Access(apiKey: project.apiKey, session: session, token: token)
        } catch {
            throw SignalingError(.invalidParameter, "no token can be made: \(error)")
        }
    }
}
