import SignalingProtocol
import SignalingTokens
import SignalingVerification
import TestSupport

/// The project, the session and the tokens of the simulation. They are real, and the real verifier checks them.
enum Tokens {
    static let project: Project = {
        guard let project = Project(apiKey: APIKey("100"), secret: "secret of the simulation") else {
            preconditionFailure("the project is valid")
        }
        return project
    }()
    static let verifier = TokenVerifier(projects: [project])
    static let session: SessionID = {
        var random = SeededGenerator(seed: 1)
        return SessionIDCodec.make(for: project, now: World.wallTimeAtStart, using: &random)
    }()

    private static let day = Duration.seconds(24 * 60 * 60)
    /// Tokens that outlive any run, by client: the same in all runs.
    private static let lasting = Dictionary(
        uniqueKeysWithValues: (0..<4).map { ("c\($0)", make(name: "c\($0)", lifetime: day * 2)) })

    static func make(for client: SimulatedClient) -> String {
        let token = token(for: client)
        client.world.judge.issued(
            token, role: role(of: client.name).rawValue, data: client.name, user: user(of: client.name)?.rawValue)
        return token
    }

    private static func token(for client: SimulatedClient) -> String {
        if !client.getsExpiringTokens, let token = lasting[client.name] { return token }
        client.world.count("expiring token")
        return make(name: client.name, lifetime: day + client.world.milliseconds(1_000...20_000))
    }

    private static func role(of name: String) -> Role { name == "c0" ? .moderator : .publisher }

    /// Two clients have one user, and one is a guest.
    static func user(of name: String) -> UserID? {
        switch name {
        case "c0": UserID("ada")
        case "c1", "c2": UserID("bob")
        default: nil
        }
    }

    /// Issued a day before the start, so that a wall clock that is set back does not make it invalid.
    private static func make(name: String, lifetime: Duration) -> String {
        var random = SeededGenerator(seed: 2)
        let issuedAt = WallTime(milliseconds: World.wallTimeAtStart.milliseconds - day.wholeMilliseconds)
        let request = AccessRequest(
            sessionId: session, role: role(of: name), connectionData: name, user: user(of: name), lifetime: lifetime)
        guard let token = try? T1Token.make(request, project: project, now: issuedAt, using: &random) else {
            preconditionFailure("the request is valid")
        }
        return token
    }
}
