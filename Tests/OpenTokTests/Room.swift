import Foundation
import Logging
import OpenTok
import SignalingCore
import SignalingCryptography
import SignalingProtocol
import SignalingServer
import SignalingTokens
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real server on a free loopback port, with one session.
final class Room: Sendable {
    static let apiKey = "100"
    static let secret = "opentok-secret"

    let server: SignalingServer
    let url: URL
    let project: Project
    let sessionID: SessionID

    init(sessionBounds: SessionState.Bounds = .init()) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        server = try SignalingServer(
            configuration: ServerConfiguration(
                port: 0, access: .project(apiKey: Self.apiKey, apiSecret: Self.secret),
                sessionBounds: sessionBounds), logger: logger)
        url = try #require(URL(string: try await server.start().url))
        project = try #require(Project(apiKey: APIKey(Self.apiKey), secret: Self.secret))
        var randomness = SystemRandomNumberGenerator()
        sessionID = SessionIDCodec.make(for: project, now: Self.now, using: &randomness)
    }

    /// Runs `body` with a room, and stops its server.
    static func run(_ body: (Room) async throws -> Void) async throws {
        let room = try await Room()
        do { try await body(room) } catch {
            await room.server.stop()
            throw error
        }
        await room.server.stop()
    }

    var sessionId: String { sessionID.rawValue }

    func stop() async { await server.stop() }

    static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    func token(_ data: String = "", role: Role = .publisher) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        return try T1Token.make(
            AccessRequest(sessionId: sessionID, role: role, connectionData: data), project: project, now: Self.now,
            using: &randomness)
    }

    /// A client whose session is not connected.
    func client(
        apiKey: String = Room.apiKey, sessionId: String? = nil, settings: OTSessionSettings = .init()
    ) throws -> Client {
        if settings.apiURL == nil { settings.apiURL = url }
        return try Client(apiKey: apiKey, sessionId: sessionId ?? sessionID.rawValue, settings: settings)
    }

    /// A client that is connected. The test has received no event after `connected`.
    func join(
        _ data: String = "", role: Role = .publisher, settings: OTSessionSettings = .init()
    ) async throws -> Client {
        let client = try client(settings: settings)
        var error: OTError?
        client.session.connect(withToken: try token(data, role: role), error: &error)
        #expect(error == nil)
        #expect(try await client.next() == .connected)
        return client
    }

    /// Sends a signal by REST, as the server of an application does.
    func signalByREST(type: String, data: String) async throws -> Int? {
        func part(_ text: String) -> String { Self.base64(Data(text.utf8)) }
        let now = Int(Date().timeIntervalSince1970)
        let signed =
            part(#"{"alg":"HS256","typ":"JWT"}"#) + "."
            + part(#"{"iss":"\#(Self.apiKey)","ist":"project","iat":\#(now),"exp":\#(now + 180)}"#)
        let code = Secret(Array(Self.secret.utf8)).code(.sha256, of: Array(signed.utf8))
        var request = URLRequest(
            url: url.appending(path: "v2/project/\(Self.apiKey)/session/\(sessionID.rawValue)/signal"))
        request.httpMethod = "POST"
        request.setValue("\(signed).\(Self.base64(Data(code)))", forHTTPHeaderField: "X-OPENTOK-AUTH")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"type":"\#(type)","data":"\#(data)"}"#.utf8)
        return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
