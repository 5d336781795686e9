import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Answers HTTP requests: finds the route, verifies the credentials, and calls the hub. Confined to the loop.
final class RESTRouter {
    private let hub: ServerHub
    /// Replaced when the settings are reloaded.
    var verifier: TokenVerifier
    private let files: StaticFiles
    private let development: DevelopmentRooms?
    private let isShared: Bool
    private var links: LinkCodes?
    private var parser = JSONParser(
        limits: JSONLimits(
            depth: Limits.jsonDepth, byteCount: Limits.bodyByteCount, valueCount: Limits.bodyValueCount))
    private var randomness = SystemRandomNumberGenerator()
    private var rates: RequestRates
    /// Changed when the settings are reloaded.
    var requestRate: RateLimit? {
        get { rates.limit }
        set { rates.limit = newValue }
    }
    /// Whether the server is stopping (`/readyz`).
    var isDraining = false
    private let obstacle: () -> String?
    private let admin: AdminAPI
    private let metrics: (() -> HTTPResponse)?
    private let log: RequestLog

    /// - Parameters:
    ///   - development: `nil` outside of development mode.
    ///   - isShared: whether devices of the local network use development mode, too.
    ///   - links: `nil` if several nodes share the sessions.
    ///   - obstacle: why the server must not be given new work; `nil` when it may (`/readyz`).
    ///   - admin: for projects, each of which sees its own sessions.
    ///   - metrics: `nil` if this listener does not have them.
    init(
        hub: ServerHub, verifier: TokenVerifier, files: StaticFiles, development: DevelopmentRooms?,
        isShared: Bool, links: LinkCodes?, requestRate: RateLimit?, obstacle: @escaping () -> String?, admin: AdminAPI,
        metrics: (() -> HTTPResponse)?, log: RequestLog
    ) {
        self.hub = hub
        self.verifier = verifier
        self.files = files
        self.development = development
        self.isShared = isShared
        self.links = links
        rates = RequestRates(limit: requestRate)
        self.obstacle = obstacle
        self.admin = admin
        self.metrics = metrics
        self.log = log
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

    /// The response for `/livez` and `/readyz`.
    func health(_ route: Route) -> HTTPResponse {
        guard route == .readyz else {
            return .json(development == nil ? ["status": "ok"] : ["status": "ok", "rooms": true])
        }
        let status = isDraining ? "draining" : obstacle() ?? "ok"
        return .json(["status": .string(status)], status: status == "ok" ? .ok : .serviceUnavailable)
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
    private func charge(to project: Project) -> AdminAPI.Charge {
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
            accept: exchange.header("accept"), userAgent: exchange.header("user-agent"))
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
            room: name, role: exchange.queryValue("role"), data: exchange.queryValue("data"), now: .current)
        return .json(access.json, headers: headers)
    }

    // MARK: - Links

    /// REST-7. Without credentials: the code is one.
    private func openLink(_ exchange: HTTPExchange) throws(SignalingError) -> HTTPResponse {
        let code = try required("code", in: object(exchange.body))
        guard let access = links?.open(code, now: hub.environment.now) else {
            return .failure(
                .notFound, "the code is unknown: it has been used, or has expired, or the server has restarted")
        }
        return .json(access.json)
    }

    /// REST-7. The server refuses a token that no client could use.
    private func makeLink(_ exchange: HTTPExchange, of project: Project) throws(SignalingError) -> HTTPResponse {
        guard links != nil else {
            return .failure(.notImplemented, "several nodes share the sessions, and only one would know the code")
        }
        let body = try object(exchange.body)
        let access = SessionAccess(
            apiKey: project.apiKey, session: SessionID(try required("sessionId", in: body)),
            token: try required("token", in: body))
        let wallTime = WallTime.current
        let grant = try verifier.verify(
            token: access.token, sessionId: access.session, apiKey: access.apiKey, now: wallTime)
        let now = hub.environment.now
        let until = now.advanced(by: .milliseconds(grant.validUntil.milliseconds - wallTime.milliseconds))
        guard let code = links?.add(access, until: until, now: now, using: &randomness) else {
            return .failure(
                .tooManyRequests,
                "the project has \(LinkCodes.projectLimit) codes, which are not used yet and have not expired",
                headers: [("Retry-After", "\(LinkCodes.timeAfterUse.components.seconds)")])
        }
        return .json(["code": .string(code)])
    }

    // MARK: - Inside a project

    private func handle(
        _ exchange: HTTPExchange, _ route: ProjectRoute, of project: Project
    ) throws(SignalingError) {
        switch route {
        case .signal(let session, let target):
            try check(session, of: project)
            var request = try signalRequest(exchange.body)
            request.to = target
            submit(.signal(.server, request), to: session, for: exchange)
        case .connection(let session, let target):
            try check(session, of: project)
            submit(.forceDisconnect(.server, target), to: session, for: exchange)
        case .connections(let session):
            try check(session, of: project)
            let charge = charge(to: project)
            hub.listConnections(of: session) { [hub] connections in
                guard let connections else {
                    return exchange.respond(.answer(to: .unavailable(mayBeCarriedOut: false)))
                }
                charge(connections.count)
                // A list of thousands takes longer to write than the other clients should wait.
                let write = { @Sendable in JSONValue.list(connections, of: session, in: project.apiKey).encoded() }
                hub.environment.loop.runInBackground(write, then: { exchange.respond(.json(encoded: $0)) })
            }
        case .messages(let session):
            try check(session, of: project)
            if exchange.method == .delete {
                guard let through = try seq("through", exchange) else {
                    throw SignalingError(.invalidParameter, "\"through\" is missing: the last message to erase")
                }
                submit(.erase(.server, .through(through)), to: session, for: exchange)
            } else {
                let charge = charge(to: project)
                hub.readHistory(try historyRequest(exchange), of: session) { result in
                    switch result {
                    case .success(let page):
                        charge(page.messageCount)
                        exchange.respond(.json(encoded: page.body))
                    case .failure(let error): exchange.respond(.failure(error))
                    }
                }
            }
        case .message(let session, let seq):
            try check(session, of: project)
            submit(.erase(.server, .message(seq)), to: session, for: exchange)
        case .link: exchange.respond(try makeLink(exchange, of: project))
        case .media,
            .streams where exchange.method == .put:
            exchange.respond(.failure(.notImplemented, "this server carries signals, not media"))
        case .streams(let session):
            try check(session, of: project)
            exchange.respond(.list([]))
        case .stream(let session):
            try check(session, of: project)
            exchange.respond(.failure(.notFound, "there are no streams: this server carries signals, not media"))
        }
    }

    /// Checks that the session in the path belongs to the project in the path.
    private func check(_ session: SessionID, of project: Project) throws(SignalingError) {
        let content: SessionIDCodec.Content
        do { content = try SessionIDCodec.read(session) } catch {
            throw SignalingError(.invalidSession, "the session ID is refused: \(error)")
        }
        guard content.apiKey == project.apiKey else {
            throw SignalingError(.permissionDenied, "the session belongs to another project")
        }
    }

    private func submit(_ command: SessionCommand, to session: SessionID, for exchange: HTTPExchange) {
        exchange.overdueResponse = .undecided
        hub.submit(command, to: session) { exchange.respond(.answer(to: $0)) }
    }

    // MARK: - History

    private func historyRequest(_ exchange: HTTPExchange) throws(SignalingError) -> HistoryRequest {
        let (before, after) = (try seq("before", exchange), try seq("after", exchange))
        var limit = HistoryRequest.standardLimit
        if let text = exchange.queryValue("limit") {
            guard let number = Seq(digits: text)?.rawValue, number >= 1 else {
                throw SignalingError(.invalidParameter, "\"limit\" must be a number from 1")
            }
            limit = Int(clamping: number)
        }
        switch (before, after) {
        case (nil, nil): return HistoryRequest(.newest, limit: limit)
        case (let before?, nil): return HistoryRequest(.before(before), limit: limit)
        case (nil, let after?): return HistoryRequest(.after(after), limit: limit)
        case (.some, .some): throw SignalingError(.invalidParameter, "use \"before\" or \"after\", not both")
        }
    }

    private func seq(_ name: String, _ exchange: HTTPExchange) throws(SignalingError) -> Seq? {
        guard let text = exchange.queryValue(name) else { return nil }
        guard let seq = Seq(digits: text) else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be a number, the seq of a message")
        }
        return seq
    }

    // MARK: - Bodies

    private func signalRequest(_ body: [UInt8]) throws(SignalingError) -> SignalRequest {
        let object = try object(body)
        // A misspelt member would otherwise reach every client as a signal without content. An empty object means one: so
        // do OpenTok's SDKs send it.
        guard object.isEmpty || object["type"] != nil || object["data"] != nil else {
            throw SignalingError(
                .invalidParameter,
                "the signal has neither \"type\" nor \"data\": put the text into \"data\", and its kind into \"type\"")
        }
        return SignalRequest(type: try text("type", in: object), data: try text("data", in: object))
    }

    private func object(_ body: [UInt8]) throws(SignalingError) -> JSONObject {
        let value: JSONValue
        do { value = try parser.parse(body) } catch {
            throw SignalingError(.invalidParameter, "the body is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw SignalingError(.invalidParameter, "the body is not a JSON object")
        }
        return object
    }

    private func required(_ name: String, in object: JSONObject) throws(SignalingError) -> String {
        guard let text = try text(name, in: object) else {
            throw SignalingError(.invalidParameter, "\"\(name)\" is missing")
        }
        return text
    }

    /// REST-2: `null` means absent. OpenTok's SDKs for Java and .NET write every member that a signal lacks as `null`.
    private func text(_ name: String, in object: JSONObject) throws(SignalingError) -> String? {
        guard let member = object[name], !member.isNull else { return nil }
        guard let text = member.stringValue else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be a string")
        }
        return text
    }
}

extension JSONValue {
    fileprivate static func list(
        _ connections: [Connection], of session: SessionID, in project: APIKey
    ) -> JSONValue {
        [
            "projectId": .string(project.rawValue), "sessionId": .string(session.rawValue),
            "count": .integer(Int64(connections.count)), "items": .array(connections.map(\.restDescription)),
        ]
    }
}

extension Connection {
    /// The connection as an item of the list of connections.
    fileprivate var restDescription: JSONValue {
        [
            "connectionId": .string(connectionId.rawValue), "createdAt": .integer(creationTime.milliseconds),
            "connectionState": "Connected", "data": .string(data),
        ]
    }
}
