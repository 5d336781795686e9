import JSONText
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Answers HTTP requests: reads what is asked, checks who asks, gives it to the hub. Confined to the loop.
final class RESTRouter {
    private let hub: Hub
    private let verifier: TokenVerifier
    private let files: StaticFiles
    private let development: DevelopmentRooms?
    private var parser = JSONParser(limits: JSONLimits(depth: Limits.jsonDepth, byteCount: Limits.bodyByteCount))
    private var randomness = SystemRandomNumberGenerator()
    /// Whether the server is on its way out (`/readyz`).
    var isDraining = false

    init(hub: Hub, verifier: TokenVerifier, files: StaticFiles, development: DevelopmentRooms?) {
        self.hub = hub
        self.verifier = verifier
        self.files = files
        self.development = development
    }

    func handle(_ exchange: HTTPExchange) {
        let route = Route(path: exchange.path)
        guard route.methods.contains(exchange.method) else {
            let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
            if case .file(let path) = route, files.file(at: path) == nil {
                exchange.respond(.failure(404, "there is nothing at this path"))
            } else {
                exchange.respond(
                    .failure(405, "this path takes \(allowed)", headers: [("Allow", allowed)]))
            }
            return
        }
        do throws(SignalingError) {
            switch route {
            case .livez:
                exchange.respond(.json(["status": "ok"]))
            case .readyz:
                exchange.respond(
                    isDraining ? .json(["status": "draining"], status: 503) : .json(["status": "ok"]))
            case .createSession:
                exchange.respond(try createSession(exchange))
            case .signal(let apiKey, let session, let target):
                try signal(exchange, apiKey, session, target)
            case .forceDisconnect(let apiKey, let session, let target):
                try forceDisconnect(exchange, apiKey, session, target)
            case .room(let name):
                exchange.respond(room(exchange, name))
            case .file(let path):
                exchange.respond(files.response(at: path, ifNoneMatch: exchange.header("if-none-match")))
            }
        } catch {
            exchange.respond(.failure(error))
        }
    }

    private func authorize(_ exchange: HTTPExchange, _ apiKey: APIKey?) throws(SignalingError) -> Project {
        try verifier.verifyRequest(
            credentials: exchange.header("x-opentok-auth"), apiKey: apiKey, now: .current)
    }

    /// The path's session has to be the path's project's.
    private func check(_ session: SessionID, of project: Project) throws(SignalingError) {
        let content: SessionIDCodec.Content
        do { content = try SessionIDCodec.read(session) } catch {
            throw SignalingError(.invalidSession, "the session id is refused: \(error)")
        }
        guard content.apiKey == project.apiKey else {
            throw SignalingError(.permissionDenied, "the session is of another project")
        }
    }

    /// Options in the body (archiving, media routing, location) are about media, and are taken without effect.
    private func createSession(_ exchange: HTTPExchange) throws(SignalingError) -> HTTPResponse {
        let project = try authorize(exchange, nil)
        let session = SessionIDCodec.make(for: project, now: .current, using: &randomness)
        let key = JSONValue.string(project.apiKey.rawValue)
        return .json([
            [
                "session_id": .string(session.rawValue), "project_id": key, "partner_id": key, "create_dt": nil,
                "session_status": nil, "status_invalid": nil, "media_server_hostname": nil,
                "messaging_server_url": nil, "messaging_url": nil, "symphony_address": nil, "properties": nil,
                "ice_server": nil, "session_segment_id": nil, "ice_servers": nil, "ice_credential_expiration": nil,
            ]
        ])
    }

    private func signal(
        _ exchange: HTTPExchange, _ apiKey: APIKey, _ session: SessionID, _ target: ConnectionID?
    ) throws(SignalingError) {
        try check(session, of: try authorize(exchange, apiKey))
        var request = try signalRequest(exchange.body)
        request.to = target
        hub.submit(.signal(.server, request), to: session) { outcome in
            switch outcome {
            case .refused(let error): exchange.respond(.failure(error))
            case .signalled, .joined, .left, .forcedOut: exchange.respond(.noContent)
            }
        }
    }

    private func signalRequest(_ body: [UInt8]) throws(SignalingError) -> SignalRequest {
        let value: JSONValue
        do { value = try parser.parse(body) } catch {
            throw SignalingError(.invalidParameter, "the body is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw SignalingError(.invalidParameter, "the body is not a JSON object")
        }
        var texts: [String?] = []
        for name in ["type", "data"] {
            guard let member = object[name] else {
                texts.append(nil)
                continue
            }
            guard let text = member.stringValue else {
                throw SignalingError(.invalidParameter, "\"\(name)\" has to be a string")
            }
            texts.append(text)
        }
        return SignalRequest(type: texts[0], data: texts[1])
    }

    private func forceDisconnect(
        _ exchange: HTTPExchange, _ apiKey: APIKey, _ session: SessionID, _ target: ConnectionID
    ) throws(SignalingError) {
        try check(session, of: try authorize(exchange, apiKey))
        hub.submit(.forceDisconnect(.server, target), to: session) { outcome in
            switch outcome {
            case .refused(let error): exchange.respond(.failure(error))
            case .forcedOut, .joined, .left, .signalled: exchange.respond(.noContent)
            }
        }
    }

    private func room(_ exchange: HTTPExchange, _ name: String) -> HTTPResponse {
        guard let development else {
            return .failure(404, "rooms are there in development mode only")
        }
        do throws(SignalingError) {
            let access = try development.access(
                room: name, role: exchange.queryValue("role"), data: exchange.queryValue("data"), now: .current)
            // Sample applications ask from pages of another origin; in development mode there is nothing to protect.
            return .json(
                [
                    "apiKey": .string(access.apiKey.rawValue), "sessionId": .string(access.session.rawValue),
                    "token": .string(access.token),
                ], headers: [("Access-Control-Allow-Origin", "*")])
        } catch {
            return .failure(error)
        }
    }
}
