import SignalingCore
import SignalingCryptography
import SignalingProtocol
import SignalingTransport

/// Answers the requests of the admin listener. Confined to the loop.
///
/// On a loopback address every program of the machine may ask. A page of another site may not: the host in the request
/// must be this machine's (DNS rebinding), and a request from a page must come from the listener's own. Nor may a client
/// of another machine, by way of a proxy: it needs the token.
final class AdminRouter: TransportServerHandler {
    private let listener: AdminListener
    /// The header of a request with the token; nil if the listener needs none.
    private let authorization: Secret?
    private let api: AdminAPI
    private let health: (Route) -> HTTPResponse
    private let metrics: () -> HTTPResponse
    private let log: RequestLog
    private let noteRefused: (SignalingError, HTTPExchange, Route) -> Void
    private var guesses = TokenGuesses()

    /// - Parameter noteRefused: writes a line about a refused request, unless there were many.
    init(
        listener: AdminListener, api: AdminAPI, log: RequestLog, health: @escaping (Route) -> HTTPResponse,
        metrics: @escaping () -> HTTPResponse, noteRefused: @escaping (SignalingError, HTTPExchange, Route) -> Void
    ) {
        self.noteRefused = noteRefused
        self.listener = listener
        authorization = listener.token.map { Secret(Array("Bearer \($0)".utf8)) }
        self.api = api
        self.log = log
        self.health = health
        self.metrics = metrics
    }

    // The listener has no WebSockets.
    func socketOpened(_ socket: ServerSocket) {
        socket.close(code: CloseReason.connectRefused.rawValue, reason: CloseReason.connectRefused.text)
    }
    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {}
    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {}
    func socketDrained(_ socket: ServerSocket) {}
    func socketClosed(_ socket: ServerSocket, code: UInt16?) {}

    func requestReceived(_ exchange: HTTPExchange) {
        let route = Route(path: exchange.path)
        log.follow(exchange, route)
        if let refusal = refusal(of: exchange, route) { return exchange.respond(refusal) }
        switch route {
        case .livez, .readyz: exchange.respond(health(route))
        case .metrics: exchange.respond(metrics())
        case .admin(let route): api.handle(exchange, route, in: .everything)
        case .file(let path): exchange.respond(AdminPage.response(at: path))
        case .createSession, .room, .link, .project:
            exchange.respond(.failure(.notFound, "there is nothing at this path of the admin listener"))
        }
    }

    private func refusal(of exchange: HTTPExchange, _ route: Route) -> HTTPResponse? {
        if case .file = route {
        } else if !route.methods.contains(exchange.method) {
            let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
            return .failure(.methodNotAllowed, "use \(allowed) for this path", headers: [("Allow", allowed)])
        }
        switch route {
        case .livez, .readyz: return nil
        case .file where exchange.method != .get && exchange.method != .head:
            return .failure(.methodNotAllowed, "use GET, HEAD for this path", headers: [("Allow", "GET, HEAD")])
        case .file, .metrics, .admin, .createSession, .room, .link, .project: break
        }
        if ServerConfiguration.isLoopback(listener.host), !LoopbackName.matches(exchange.header("host")) {
            return .failure(.forbidden, "the admin listener answers requests from its own machine only")
        }
        if authorization == nil, !exchange.isOfThisMachine {
            return .failure(.forbidden, "without a token the admin listener answers its own machine only, and no proxy")
        }
        if let origin = exchange.header("origin"), WebOrigin(origin)?.authority != exchange.header("host") {
            return .failure(.forbidden, "pages of this origin may not use the admin listener")
        }
        // The page has to load before it can ask for the token.
        if case .file = route { return nil }
        guard let authorization else { return nil }
        return refusal(of: exchange.header("authorization"), unless: authorization, exchange, route)
    }

    private func refusal(
        of header: String?, unless authorization: Secret, _ exchange: HTTPExchange, _ route: Route
    ) -> HTTPResponse? {
        let missing = HTTPResponse.failure(
            .unauthorized, "the admin token is missing or wrong; send Authorization: Bearer and the token",
            headers: [("WWW-Authenticate", "Bearer")])
        // The page asks without a token first. That is no guess.
        guard let header else { return missing }
        let verdict = guesses.verdict(
            isRight: authorization.equals(Array(header.utf8)), from: exchange.remotePrefix,
            on: exchange.connectionID, now: LoopThread.now)
        log.statistics.note(adminToken: verdict)
        switch verdict {
        case .right: return nil
        case .wrong:
            noteRefused(SignalingError(.permissionDenied, "the admin token is wrong"), exchange, route)
            return missing
        case .tooMany:
            let message = "this address has sent too many wrong admin tokens; wait, then send the right one"
            noteRefused(SignalingError(.rateLimited, message), exchange, route)
            return .failure(.tooManyRequests, message, headers: [("Retry-After", "1")])
        }
    }
}

/// The files of the admin page, which are part of the program.
enum AdminPage {
    static func response(at path: String) -> HTTPResponse {
        let (type, bytes): (String, [UInt8])
        switch path {
        case "/", "/index.html": (type, bytes) = ("text/html", PackageResources.index_html)
        case "/admin.js": (type, bytes) = ("text/javascript", PackageResources.admin_js)
        case "/model.mjs": (type, bytes) = ("text/javascript", PackageResources.model_mjs)
        case "/admin.css": (type, bytes) = ("text/css", PackageResources.admin_css)
        default: return .failure(.notFound, "there is nothing at this path of the admin listener")
        }
        return HTTPResponse(
            status: HTTPStatus.ok.rawValue,
            headers: [
                ("Content-Type", type + "; charset=utf-8"), ("Cache-Control", "no-cache"),
                ("Content-Security-Policy", SafetyHeaders.pagePolicy),
            ], body: bytes)
    }
}
