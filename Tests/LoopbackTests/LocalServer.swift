import Foundation
import Logging
import SignalingClient
import SignalingCore
import SignalingProtocol
import SignalingServer
import SignalingTokens
import TestSupport
import Testing

/// A real server on a free loopback port, and sessions of its project.
final class LocalServer: Sendable {
    static let apiKey = "100"
    static let secret = "loopback-secret"

    let server: SignalingServer
    let address: SignalingServer.Address
    let project: Project
    let sessionId: SessionID

    init(
        heartbeat: Duration = Limits.heartbeat, webRoot: String? = nil,
        sessionBounds: SessionState.Bounds = .init()
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        server = try SignalingServer(
            configuration: ServerConfiguration(
                port: 0, access: .project(apiKey: Self.apiKey, apiSecret: Self.secret), webRoot: webRoot,
                heartbeat: heartbeat, sessionBounds: sessionBounds), logger: logger)
        address = try await server.start()
        project = try #require(Project(apiKey: APIKey(Self.apiKey), secret: Self.secret))
        var randomness = SystemRandomNumberGenerator()
        sessionId = SessionIDCodec.make(for: project, now: .current, using: &randomness)
    }

    /// Runs `body` with a server, and stops the server after it.
    static func run(
        heartbeat: Duration = Limits.heartbeat, sessionBounds: SessionState.Bounds = .init(),
        _ body: (LocalServer) async throws -> Void
    ) async throws {
        let local = try await LocalServer(heartbeat: heartbeat, sessionBounds: sessionBounds)
        do { try await body(local) } catch {
            await local.server.stop()
            throw error
        }
        await local.server.stop()
    }

    func token(
        role: Role = .publisher, data: String = "", user: UserID? = nil, session: SessionID? = nil
    ) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        return try T1Token.make(
            AccessRequest(sessionId: session ?? sessionId, role: role, connectionData: data, user: user),
            project: project, now: .current, using: &randomness)
    }

    /// A session of this server. `server` is the URL to connect to, such as a relay's; by default the server's own.
    func session(_ options: Session.Options = .init(), server: String? = nil) -> Session {
        Session(apiKey: Self.apiKey, sessionId: sessionId.rawValue, server: server ?? address.url, options: options)
    }

    /// A client that has joined the session, with all events since it began to connect.
    func join(
        role: Role = .publisher, data: String = "", user: UserID? = nil, options: Session.Options = .init(),
        server: String? = nil
    ) async throws -> Client {
        let session = session(options, server: server)
        let events = session.events
        try await session.connect(token: try token(role: role, data: data, user: user))
        return Client(session: session, events: EventReader(events))
    }
}

/// A client in a session, with its events. Used by one test's task.
struct Client {
    let session: Session
    let events: EventReader

    var connection: Connection {
        get throws { try #require(session.connection) }
    }
}

/// Reads a stream one event at a time. The suite's time limit bounds the wait.
final class EventReader {
    private var iterator: AsyncStream<SessionEvent>.AsyncIterator

    init(_ stream: AsyncStream<SessionEvent>) { iterator = stream.makeAsyncIterator() }

    func next() async throws -> SessionEvent {
        // Outside the macro, which would send the iterator to another isolation domain.
        let event = await iterator.next(isolation: #isolation)
        return try #require(event, "the stream ended")
    }

    /// The next signal, without the events before it.
    func nextSignal() async throws -> Signal {
        while true {
            if case .signal(let signal) = try await next() { return signal }
        }
    }
}

/// The error that a call throws; nil when it throws none.
func refusal(_ call: () async throws -> Void) async -> SignalingError? {
    do {
        try await call()
        return nil
    } catch { return error as? SignalingError }
}
