import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// The resources of one project, for requests with its credentials.
extension RESTRouter {
    func handle(
        _ exchange: HTTPExchange, _ route: ProjectRoute, of project: Project
    ) throws(SignalingError) {
        switch route {
        case .signal(let session, let target):
            try check(session, of: project)
            var request = try fields.signalRequest(exchange.body)
            request.to = target
            submit(.signal(.server, request), to: session, for: exchange)
        case .connection(let session, let target):
            try check(session, of: project)
            submit(.forceDisconnect(.server, target), to: session, for: exchange)
        case .connections(let session):
            try check(session, of: project)
            listConnections(of: session, in: project, for: exchange)
        case .messages(let session):
            try check(session, of: project)
            if exchange.method == .delete {
                submit(.erase(.server, try exchange.erasure()), to: session, for: exchange)
            } else {
                let charge = charge(to: project)
                hub.readHistory(try exchange.historyRequest(), of: session) { result in
                    switch result {
                    case .success(let page):
                        charge(page.source.messages.count)
                        exchange.respond(.json(encoded: page.body))
                    case .failure(let error): exchange.respond(.failure(error))
                    }
                }
            }
        case .message(let session, let seq):
            try check(session, of: project)
            submit(.erase(.server, .message(seq)), to: session, for: exchange)
        case .userMessages(let session, let user):
            try check(session, of: project)
            guard UserID.isValid(user.rawValue) else {
                throw SignalingError(.invalidParameter, "the path has no user ID")
            }
            submit(.erase(.server, .user(user)), to: session, for: exchange)
        case .moderation(let session):
            try check(session, of: project)
            if exchange.method == .post {
                try hub.moderate(.object(try fields.object(exchange.body)), in: session, for: exchange)
            } else {
                hub.listModeration(of: session, for: exchange, charge: charge(to: project))
            }
        case .revocations: try handleRevocations(exchange, of: project)
        case .feed: readFeed(try FeedRequest(exchange), of: project, for: exchange)
        case .link: exchange.respond(try makeLink(exchange, of: project))
        case .media,
            .streams where exchange.method == .put:
            exchange.respond(.failure(.notImplemented, "this server carries signals, not media"))
        case .streams(let session):
            try check(session, of: project)
            let charge = charge(to: project)
            readStreams(of: session, for: exchange) { streams in
                charge(streams.count)
                return .list(streams.map(\.restDescription))
            }
        case .stream(let session, let id):
            try check(session, of: project)
            readStreams(of: session, for: exchange) { streams in
                streams.first { $0.id == id }.map { .json($0.restDescription) }
                    ?? .failure(.notFound, "the session has no stream with this ID")
            }
        }
    }

    private func listConnections(of session: SessionID, in project: Project, for exchange: HTTPExchange) {
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
    }

    private func readStreams(
        of session: SessionID, for exchange: HTTPExchange, _ response: @escaping ([AnnouncedStream]) -> HTTPResponse
    ) {
        hub.listStreams(of: session) { announcements in
            exchange.respond(
                announcements.map { response($0.flatMap(\.streams)) }
                    ?? .answer(to: .unavailable(mayBeCarriedOut: false)))
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

    /// REST-7. The server refuses a token that no client could use.
    private func makeLink(_ exchange: HTTPExchange, of project: Project) throws(SignalingError) -> HTTPResponse {
        guard links != nil else {
            return .failure(.notImplemented, "several nodes share the sessions, and only one would know the code")
        }
        let body = try fields.object(exchange.body)
        let access = SessionAccess(
            apiKey: project.apiKey, session: SessionID(try body.required("sessionId")),
            token: try body.required("token"))
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

extension AnnouncedStream {
    /// The stream as an item of OpenTok's list of streams.
    fileprivate var restDescription: JSONValue {
        [
            "id": .string(id), "videoType": .string(videoType?.rawValue ?? ""), "name": .string(name),
            "layoutClassList": .array([]),
        ]
    }
}

extension Connection {
    /// The connection as an item of the list of connections.
    fileprivate var restDescription: JSONValue {
        var object: JSONObject = [
            "connectionId": .string(connectionId.rawValue), "createdAt": .integer(creationTime.milliseconds),
            "connectionState": "Connected", "data": .string(data),
        ]
        if let user { object.append("user", .string(user.rawValue)) }
        return .object(object)
    }
}
