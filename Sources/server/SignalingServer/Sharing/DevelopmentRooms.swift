import SignalingCryptography
import SignalingProtocol
import SignalingTokens

/// Named rooms in development mode, with tokens for every client, as in OpenTok's sample servers. Confined to the loop.
///
/// A room's session ID is derived from the room's name and the project's secret. The server therefore keeps no list of
/// rooms, and a server that restores the secret of the last run (RES-15) has the same rooms.
final class DevelopmentRooms {
    private let project: Project
    private let secret: Secret
    private var randomness = SystemRandomNumberGenerator()

    init(project: Project, secret: String) {
        self.project = project
        self.secret = Secret(Array(secret.utf8))
    }

    /// - Throws: ``SignalingError/Code/invalidParameter`` for a name, role, data or user that is not permitted.
    func access(
        room: String, role: String?, data: String?, user: String?, now: WallTime
    ) throws(SignalingError) -> SessionAccess {
        guard (1...64).contains(room.utf8.count), (try? SignalRequest(type: room).validate()) != nil else {
            throw SignalingError(
                .invalidParameter, "the room's name is not valid: use 1 to 64 letters, digits or characters - . _ ~")
        }
        guard let role = Role(rawValue: role ?? Role.publisher.rawValue) else {
            throw SignalingError(
                .invalidParameter,
                "the role is unknown: use one of \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        do {
            let session = session(of: room)
            let token = try T1Token.make(
                AccessRequest(
                    sessionId: session, role: role, connectionData: data ?? "", user: user.map { UserID($0) }),
                project: project, now: now, using: &randomness)
            return SessionAccess(apiKey: project.apiKey, session: session, token: token)
        } catch {
            throw SignalingError(.invalidParameter, "cannot create a token: \(error)")
        }
    }

    private func session(of room: String) -> SessionID {
        var bits = FixedBits(of: secret.code(.sha256, of: Array("room \(room)".utf8)))
        return SessionIDCodec.make(
            for: project, now: WallTime(milliseconds: 0), label: SessionLabel(room), using: &bits)
    }
}

/// Repeats the bits of a digest without end.
private struct FixedBits: RandomNumberGenerator {
    private let bytes: [UInt8]
    private var index = 0

    init(of digest: [UInt8]) { bytes = digest }

    mutating func next() -> UInt64 {
        defer { index = (index + 8) % bytes.count }
        return bytes[index..<index + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
