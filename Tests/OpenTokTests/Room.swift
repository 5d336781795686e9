import Crypto
import Dispatch
import Foundation
import Logging
import OpenTok
import SignalingCore
import SignalingProtocol
import SignalingServer
import SignalingTokens
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real server on a free port of the loopback, with one session.
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

    /// A room for the length of `body`.
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
            AccessRequest(sessionID: sessionID, role: role, connectionData: data), project: project, now: Self.now,
            using: &randomness)
    }

    /// A session that is not connected, and what its delegate hears.
    func client(
        apiKey: String = Room.apiKey, sessionId: String? = nil, settings: OTSessionSettings = .init()
    ) throws -> Client {
        if settings.apiURL == nil { settings.apiURL = url }
        return try Client(apiKey: apiKey, sessionId: sessionId ?? sessionID.rawValue, settings: settings)
    }

    /// A client whose delegate has heard that it is connected, and nothing after that.
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

    /// Sends a signal as an application's server does.
    func signalByREST(type: String, data: String) async throws -> Int? {
        func part(_ text: String) -> String { Self.base64(Data(text.utf8)) }
        let now = Int(Date().timeIntervalSince1970)
        let signed =
            part(#"{"alg":"HS256","typ":"JWT"}"#) + "."
            + part(#"{"iss":"\#(Self.apiKey)","ist":"project","iat":\#(now),"exp":\#(now + 180)}"#)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(signed.utf8), using: SymmetricKey(data: Data(Self.secret.utf8)))
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

/// What a delegate is called with.
enum Heard: Equatable, Sendable {
    case connected
    case reconnecting, reconnected
    case disconnected
    case failed(OTSessionErrorCode?)
    case created(String?)
    case destroyed(String?)
    /// `from` is the sender's connection data.
    case signal(type: String?, from: String?, string: String?)
}

/// Tells what it hears, and whether it heard it on the session's queue.
final class Recorder: NSObject, OTSessionDelegate, Sendable {
    static let mark = DispatchSpecificKey<Bool>()

    let heard: AsyncStream<Heard>
    private let continuation: AsyncStream<Heard>.Continuation

    override init() { (heard, continuation) = AsyncStream.makeStream() }

    deinit { continuation.finish() }

    private func tell(_ event: Heard) {
        #expect(DispatchQueue.getSpecific(key: Self.mark) == true, "not on the apiQueue: \(event)")
        continuation.yield(event)
    }

    func sessionDidConnect(_ session: OTSession) {
        #expect(session.sessionConnectionStatus == .connected)
        #expect(session.connection != nil)
        #expect(session.capabilities != nil)
        tell(.connected)
    }

    func sessionDidBeginReconnecting(_ session: OTSession) { tell(.reconnecting) }
    func sessionDidReconnect(_ session: OTSession) { tell(.reconnected) }

    func sessionDidDisconnect(_ session: OTSession) {
        #expect(session.sessionConnectionStatus == .notConnected)
        #expect(session.connection == nil)
        #expect(session.capabilities == nil)
        tell(.disconnected)
    }

    func session(_ session: OTSession, didFailWithError error: OTError) {
        #expect(error.domain == OT_SESSION_ERROR_DOMAIN)
        #expect(!error.localizedDescription.isEmpty)
        tell(.failed(OTSessionErrorCode(rawValue: Int32(error.code))))
    }

    func session(_ session: OTSession, streamCreated stream: OTStream) { Issue.record("a stream") }
    func session(_ session: OTSession, streamDestroyed stream: OTStream) { Issue.record("a stream") }

    func session(_ session: OTSession, connectionCreated connection: OTConnection) {
        tell(.created(connection.data))
    }

    func session(_ session: OTSession, connectionDestroyed connection: OTConnection) {
        tell(.destroyed(connection.data))
    }

    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {
        tell(.signal(type: type, from: connection?.data, string: string))
    }
}

/// A session, and what its delegate hears. Used by one test's task.
final class Client {
    let session: OTSession
    let recorder = Recorder()
    private var iterator: AsyncStream<Heard>.AsyncIterator

    init(apiKey: String, sessionId: String, settings: OTSessionSettings) throws {
        session = try #require(
            OTSession(apiKey: apiKey, sessionId: sessionId, delegate: recorder, settings: settings))
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: Recorder.mark, value: true)
        session.apiQueue = queue
        iterator = recorder.heard.makeAsyncIterator()
    }

    /// How long that may take is the suite's time limit.
    func next() async throws -> Heard {
        // Not within the macro, which would send the iterator elsewhere.
        let event = await iterator.next(isolation: #isolation)
        return try #require(event, "the delegate is gone")
    }

    /// The error of a call, at once.
    func signal(_ type: String?, _ string: String?, to connection: OTConnection? = nil) -> OTSessionErrorCode? {
        var error: OTError?
        session.signal(withType: type, string: string, connection: connection, error: &error)
        return error.flatMap { OTSessionErrorCode(rawValue: Int32($0.code)) }
    }
}

/// The code that a call leaves at once; `nil` for none.
func code(_ call: (inout OTError?) -> Void) -> OTSessionErrorCode? {
    var error: OTError?
    call(&error)
    return error.flatMap { OTSessionErrorCode(rawValue: Int32($0.code)) }
}
