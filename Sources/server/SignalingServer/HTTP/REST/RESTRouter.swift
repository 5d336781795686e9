import JSONText
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Answers HTTP requests: finds the route, verifies the credentials, and calls the hub. Confined to the loop.
final class RESTRouter {
    let hub: ServerHub
    /// Replaced when the settings are reloaded.
    var verifier: TokenVerifier
    private let files: StaticFiles
    private let development: DevelopmentRooms?
    private let isShared: Bool
    var links: LinkCodes?
    let revocations: any RevocationStore
    let feeds: FeedDesk
    /// Those that are open, by their numbers.
    var feedStreams: [UInt64: FeedStream] = [:]
    var feedStreamCount: UInt64 = 0
    var fields = RequestFields()
    var randomness = SystemRandomNumberGenerator()
    private var rates: RequestRates
    /// Changed when the settings are reloaded.
    var requestRate: RateLimit? {
        get { rates.limit }
        set { rates.limit = newValue }
    }
    /// Whether the server is stopping (`/readyz`).
    var isDraining = false
    private let obstacle: () -> String?
    private let historyFault: () -> String?
    let admin: AdminAPI
    private let metrics: (() -> HTTPResponse)?
    private let log: RequestLog
    private let logger: Logger
    /// The timers of answers that wait for their moment.
    private var delays: [UInt64: LoopTimer] = [:]
    private var delayCount: UInt64 = 0

    /// - Parameters:
    ///   - development: `nil` outside of development mode.
    ///   - isShared: whether devices of the local network use development mode, too.
    ///   - links: `nil` if several nodes share the sessions.
    ///   - logger: gets a line for each change of what is revoked.
    ///   - obstacle: why the server must not be given new work; `nil` when it may (`/readyz`).
    ///   - historyFault: why messages do not reach the history; `nil` when they do (`/readyz`).
    ///   - admin: for projects, each of which sees its own sessions.
    ///   - metrics: `nil` if this listener does not have them.
    init(
        hub: ServerHub, verifier: TokenVerifier, files: StaticFiles, development: DevelopmentRooms?,
        isShared: Bool, links: LinkCodes?, revocations: any RevocationStore, feeds: FeedDesk, requestRate: RateLimit?,
        obstacle: @escaping () -> String?,
        historyFault: @escaping () -> String?, admin: AdminAPI,
        metrics: (() -> HTTPResponse)?, log: RequestLog, logger: Logger
    ) {
        self.hub = hub
        self.verifier = verifier
        self.files = files
        self.development = development
        self.isShared = isShared
        self.links = links
        self.revocations = revocations
        self.feeds = feeds
        rates = RequestRates(limit: requestRate)
        self.obstacle = obstacle
        self.historyFault = historyFault
        self.admin = admin
        self.metrics = metrics
        self.log = log
        self.logger = logger
    }

    /// Answers after a while, at once without one.
    func respond(_ response: HTTPResponse, to exchange: HTTPExchange, after delay: Duration) {
        guard delay > .zero else { return exchange.respond(response) }
        delayCount += 1
        let number = delayCount
        let timer = hub.environment.makeTimer { [weak self] in
            self?.delays[number] = nil
            exchange.respond(response)
        }
        delays[number] = timer
        timer.schedule(at: hub.environment.now.advanced(by: delay))
    }

    func handle(_ exchange: HTTPExchange) {
        var route = Route(path: exchange.path)
        if route == .metrics, metrics == nil { route = .file(exchange.path) }
        log.follow(exchange, route)
        guard route.methods.contains(exchange.method) else {
            exchange.respond(refuseMethod(route))
            return
        }
        do throws(SignalingError) {
            if development != nil, !reach(exchange).permits(route, isShared: isShared) {
                throw SignalingError(
                    .permissionDenied,
                    isShared
                        ? "this server is shared with its own network for chatting only: everything else works on its own "
                            + "machine"
                        : "a server in development mode answers requests from its own machine only")
            }
            switch route {
            case .livez, .readyz: exchange.respond(health(route))
            case .metrics: if let metrics { exchange.respond(metrics()) }
            case .admin(let route):
                let project = try authorize(exchange, nil)
                if let refusal = refuseOverRate(project) { return exchange.respond(refusal) }
                admin.handle(exchange, route, in: .project(project.apiKey), charge: charge(to: project))
            case .createSession:
                exchange.respond(createSession(exchange))
            case .room(let name):
                exchange.respond(try room(exchange, name))
            case .link:
                exchange.respond(try openLink(exchange))
            case .project(let apiKey, let route):
                let project = try authorize(exchange, apiKey)
                if let refusal = refuseOverRate(project) { return exchange.respond(refusal) }
                try handle(exchange, route, of: project)
            case .file(let path):
                exchange.respond(
                    files.response(
                        at: path, ifNoneMatch: exchange.header("if-none-match"),
                        acceptEncoding: exchange.header("accept-encoding"), accept: exchange.header("accept")))
            }
        } catch {
            noteRefused(error, exchange, route)
            exchange.respond(.failure(error))
        }
    }

    /// Only credentials and rates: other errors are those of a backend that is known.
    func noteRefused(_ error: SignalingError, _ exchange: HTTPExchange, _ route: Route) {
        guard error.code == .permissionDenied || error.code == .rateLimited else { return }
        var key: APIKey?
        if case .project(let named, _) = route { key = named }
        hub.refusalLog.note(
            error, route: route.metricLabel, address: exchange.remoteAddress, key: key, now: hub.environment.now)
    }

    func noteRevocation(_ event: Logger.Message, _ subject: Revocation.Subject, of project: Project) {
        var metadata: Logger.Metadata = ["project": "\(project.apiKey)"]
        switch subject {
        case .everything: break
        case .user(let user): metadata["user"] = "\(user)"
        case .token(let id): metadata["jti"] = "\(id)"
        }
        logger.info(event, metadata: metadata)
    }

    /// The response for `/livez` and `/readyz`.
    func health(_ route: Route) -> HTTPResponse {
        guard route == .readyz else {
            return .json(development == nil ? ["status": "ok"] : ["status": "ok", "rooms": true])
        }
        let status = isDraining ? "draining" : obstacle() ?? "ok"
        var body: JSONObject = ["status": .string(status)]
        if let fault = historyFault() { body.append("history", .string(fault)) }
        return .json(.object(body), status: status == "ok" ? .ok : .serviceUnavailable)
    }

    private func refuseMethod(_ route: Route) -> HTTPResponse {
        if case .file(let path) = route, files.file(at: path) == nil {
            return .failure(.notFound, "there is nothing at this path")
        }
        let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
        return .failure(.methodNotAllowed, "use \(allowed) for this path", headers: [("Allow", allowed)])
    }

    /// REST-6. Only requests with valid credentials count, so that nobody else can use up a project's rate.
    private func refuseOverRate(_ project: Project, isXML: Bool = false) -> HTTPResponse? {
        guard let wait = rates.admit(project.apiKey, now: hub.environment.now) else { return nil }
        let message = "the project makes too many requests; wait, then repeat this one"
        var response: HTTPResponse =
            isXML ? SessionCreation.xmlFailure(.tooManyRequests, message) : .failure(.tooManyRequests, message)
        response.headers.append(("Retry-After", "\(wait.components.seconds)"))
        return response
    }

    /// Counts the items of a list (REST-6).
    func charge(to project: Project) -> AdminAPI.Charge {
        { [weak self] itemCount in
            guard let self else { return }
            rates.charge(project.apiKey, itemCount: itemCount, now: hub.environment.now)
        }
    }

    /// The headers of ``RequestCredentials/Headers``.
    private static let credentials = ["x-opentok-auth", "authorization", "x-tb-partner-auth"]

    private func authorize(_ exchange: HTTPExchange, _ apiKey: APIKey?) throws(SignalingError) -> Project {
        try verifier.verifyRequest(
            RequestCredentials.Headers(
                openTokAuth: exchange.header("x-opentok-auth"), authorization: exchange.header("authorization"),
                partnerAuth: exchange.header("x-tb-partner-auth")), apiKey: apiKey, now: .current)
    }

    // MARK: - Sessions

    /// The body may have a label. Its other options (archiving, media routing, location) concern media: the server ignores
    /// them.
    private func createSession(_ exchange: HTTPExchange) -> HTTPResponse {
        let isXML = SessionCreation.wantsXML(
            path: exchange.path, accept: exchange.header("accept"), userAgent: exchange.header("user-agent"))
        do {
            let project = try authorize(exchange, nil)
            if let refusal = refuseOverRate(project, isXML: isXML) { return refusal }
            let now = WallTime.current
            let label: SessionLabel?
            do { label = try SessionCreation.label(in: exchange.body) } catch {
                return isXML
                    ? SessionCreation.xmlFailure(.badRequest, error.message) : .failure(.badRequest, error.message)
            }
            let session = SessionIDCodec.make(for: project, now: now, label: label, using: &randomness)
            let creation = SessionCreation(session: session, apiKey: project.apiKey, createdAt: now)
            return isXML ? creation.xml : creation.json
        } catch {
            noteRefused(error, exchange, .createSession)
            // OpenTok's Python SDK treats every status but 403 as a success.
            return isXML
                ? SessionCreation.xmlFailure(.forbidden, error.message) : .failure(.forbidden, error.message)
        }
    }

    private func reach(_ exchange: HTTPExchange) -> DevelopmentReach {
        DevelopmentReach(
            isOfThisMachine: exchange.isOfThisMachine, isOfLocalNetwork: exchange.isOfLocalNetwork,
            host: exchange.header("host"), isShared: isShared)
    }

    private func room(_ exchange: HTTPExchange, _ name: String) throws(SignalingError) -> HTTPResponse {
        guard let development else {
            return .failure(.notFound, "this server has no rooms: it is not in development mode")
        }
        if let role = exchange.queryValue("role").flatMap({ Role(rawValue: $0) }), !reach(exchange).permits(role) {
            throw SignalingError(
                .permissionDenied, "moderators join on the machine of the server: this one is shared for chatting only")
        }
        var headers: [(name: String, value: String)] = [("Vary", "Origin")]
        if let origin = exchange.header("origin"), WebOrigin(origin)?.isOfThisMachine == true {
            // The pages of sample applications are on another port.
            headers.append(("Access-Control-Allow-Origin", origin))
        }
        // A client that signs a request does not mean to be let in without. A wrong secret would show only in production.
        if Self.credentials.contains(where: { exchange.header($0) != nil }) { _ = try authorize(exchange, nil) }
        let access = try development.access(
            room: name, role: exchange.queryValue("role"), data: exchange.queryValue("data"),
            user: exchange.queryValue("user"), now: .current)
        return .json(access.json, headers: headers)
    }

    // MARK: - Links

    /// REST-7. Without credentials: the code is one.
    private func openLink(_ exchange: HTTPExchange) throws(SignalingError) -> HTTPResponse {
        let code = try fields.object(exchange.body).required("code")
        guard let access = links?.open(code, now: hub.environment.now) else {
            return .failure(
                .notFound, "the code is unknown: it has been used, or has expired, or the server has restarted")
        }
        return .json(access.json)
    }
}
