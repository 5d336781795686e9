import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Answers an operator's questions about sessions and connections, and disconnects connections. Confined to the loop.
///
/// It tells nothing that a client wrote: no type and no data of a signal. The data of a connection comes from the token.
final class AdminAPI {
    /// Which sessions a caller may see.
    enum Scope: Hashable {
        case everything
        case project(APIKey)
    }

    /// The items of a list that one response has at most.
    static let pageCount = 1000
    private static let defaultCount = 100

    private let hub: ServerHub
    private let stats: () -> JSONValue
    private let keys = ProjectKeys()

    /// - Parameter stats: the numbers of the whole server.
    init(hub: ServerHub, stats: @escaping () -> JSONValue) {
        self.hub = hub
        self.stats = stats
    }

    func handle(_ exchange: HTTPExchange, _ route: AdminRoute, in scope: Scope) {
        do throws(SignalingError) {
            switch route {
            case .stats:
                guard scope == .everything else {
                    throw SignalingError(
                        .permissionDenied, "the numbers of the whole server are on the admin listener only")
                }
                exchange.respond(.json(stats()))
            case .sessions: exchange.respond(sessions(try Page(exchange), scope, search: exchange.queryValue("search")))
            case .connections: exchange.respond(connections(try Page(exchange), scope))
            case .session(let session):
                let state = try find(session, scope)
                exchange.respond(.json(.object(description(of: state))))
            case .sessionConnections(let session):
                let page = try Page(exchange)
                let state = try find(session, scope)
                let members = state.memberOverviews
                let items = members.dropFirst(page.offset).prefix(page.limit).map { description(of: $0, in: session) }
                exchange.respond(.page(items, count: members.count))
            case .events(let session):
                let page = try Page(exchange)
                exchange.respond(events(of: try find(session, scope), after: page.after, limit: page.limit))
            case .connection(let session, let connection):
                _ = try find(session, scope)
                exchange.overdueResponse = .undecided
                hub.submit(.forceDisconnect(.server, connection), to: session) { exchange.respond(.answer(to: $0)) }
            }
        } catch {
            exchange.respond(.failure(error))
        }
    }

    // MARK: - Sessions

    private struct Row {
        let state: SessionState
        let sentBytesPerSecond: Double
    }

    /// Sessions with the most traffic first; of two with the same, the larger one.
    private func sessions(_ page: Page, _ scope: Scope, search: String?) -> HTTPResponse {
        let now = hub.environment.now
        var rows: [Row] = []
        visit(scope) { state in
            if let search, !state.id.rawValue.contains(search) { return }
            let traffic = hub.rooms[state.id]?.traffic
            rows.append(Row(state: state, sentBytesPerSecond: traffic?.sentBytes.perSecond(now: now) ?? 0))
        }
        rows.sort { left, right in
            // A rate that has decayed to almost nothing does not count.
            let (one, other) = (left.sentBytesPerSecond.rounded(), right.sentBytesPerSecond.rounded())
            if one != other { return one > other }
            if left.state.connectionCount != right.state.connectionCount {
                return left.state.connectionCount > right.state.connectionCount
            }
            return left.state.id < right.state.id
        }
        let items = rows.dropFirst(page.offset).prefix(page.limit).map { JSONValue.object(description(of: $0.state)) }
        return .page(items, count: rows.count)
    }

    private func description(of state: SessionState) -> JSONObject {
        let now = hub.environment.now
        let traffic = hub.rooms[state.id]?.traffic ?? RoomTraffic()
        return [
            "sessionId": .string(state.id.rawValue),
            "apiKey": keys.key(of: state.id).map { .string($0.rawValue) } ?? .null,
            "connections": .integer(Int64(state.connectionCount)),
            "detached": .integer(Int64(state.detachedCount)),
            "lastSeq": .integer(state.log.lastSeq.rawValue),
            "logEvents": .integer(Int64(state.log.entries.count)),
            "logBytes": .integer(Int64(state.log.byteCount)),
            "eventsPerSecond": .rate(traffic.events.perSecond(now: now)),
            "sentBytesPerSecond": .rate(traffic.sentBytes.perSecond(now: now)),
            "sentBytes": .integer(Int64(traffic.sentByteCount)),
        ]
    }

    /// - Throws: `notFound`, also for a session of another project, so that a caller learns nothing about it.
    private func find(_ session: SessionID, _ scope: Scope) throws(SignalingError) -> SessionState {
        guard isVisible(session, scope), let state = (hub.engine as? any InspectableEngine)?.state(of: session) else {
            throw SignalingError(.notFound, "there is no such session, or nobody is in it")
        }
        return state
    }

    private func visit(_ scope: Scope, _ body: (SessionState) -> Void) {
        (hub.engine as? any InspectableEngine)?.visitSessions { if isVisible($0.id, scope) { body($0) } }
    }

    private func isVisible(_ session: SessionID, _ scope: Scope) -> Bool {
        switch scope {
        case .everything: true
        case .project(let key): keys.key(of: session) == key
        }
    }

    // MARK: - Connections

    /// Sessions in the order of their IDs, so that the pages of one list fit together.
    private func connections(_ page: Page, _ scope: Scope) -> HTTPResponse {
        var states: [SessionState] = []
        visit(scope) { states.append($0) }
        states.sort { $0.id < $1.id }
        var (offset, items): (Int, [JSONValue]) = (page.offset, [])
        for state in states where items.count < page.limit {
            if offset >= state.connectionCount {
                offset -= state.connectionCount
                continue
            }
            let members = state.memberOverviews.dropFirst(offset).prefix(page.limit - items.count)
            items += members.map { description(of: $0, in: state.id) }
            offset = 0
        }
        return .page(items, count: states.reduce(0) { $0 + $1.connectionCount })
    }

    private func description(of member: SessionState.MemberOverview, in session: SessionID) -> JSONValue {
        let id = member.connection.connectionId
        let age = max(0, hub.environment.wallTime.milliseconds - member.connection.creationTime.milliseconds)
        var object: JSONObject = [
            "connectionId": .string(id.rawValue), "sessionId": .string(session.rawValue),
            "data": .string(member.connection.data), "role": .string(member.role.rawValue),
            "createdAt": .integer(member.connection.creationTime.milliseconds), "ageSeconds": .integer(age / 1000),
            "state": .string(member.detachedAt == nil ? "connected" : "detached"),
        ]
        if member.detachedAt == nil, let peer = hub.rooms[session]?.subscription(of: id)?.peer {
            object["address"] = .string(peer.socket.remoteAddress)
            object["isBacklogged"] = .bool(peer.isBacklogged)
            object["isPaused"] = .bool(peer.state.isReadingPaused)
            object["waitingBytes"] = .integer(Int64(peer.waitingByteCount))
        }
        return .object(object)
    }

    // MARK: - Events

    /// The events of a session's log after a seq, without what they say.
    private func events(of state: SessionState, after: Int64?, limit: Int) -> HTTPResponse {
        let log = state.log
        // Without a seq: the newest events.
        let start = max(after ?? log.lastSeq.rawValue - Int64(limit), log.reachesBackTo.rawValue)
        let entries = log.entries(after: Seq(min(start, log.lastSeq.rawValue))).map { Array($0.prefix(limit)) } ?? []
        let items = entries.map { entry -> JSONValue in
            var object: JSONObject = [
                "seq": .integer(entry.seq.rawValue), "bytes": .integer(Int64(entry.line.byteCount)),
            ]
            switch (entry.kind, entry.audience) {
            case (.signal, .everyone): object["kind"] = "signal"
            case (.signal, .only(let target)):
                object["kind"] = "directedSignal"
                object["connectionId"] = .string(target.rawValue)
            case (.presence(let subject), _):
                object["kind"] = "presence"
                object["connectionId"] = .string(subject.rawValue)
            }
            return .object(object)
        }
        return .json([
            "lastSeq": .integer(log.lastSeq.rawValue), "reachesBackTo": .integer(log.reachesBackTo.rawValue),
            "count": .integer(Int64(items.count)), "items": .array(items),
        ])
    }

    // MARK: - Pages

    /// `limit`, `offset` and `after` in the query.
    private struct Page {
        let limit: Int
        let offset: Int
        let after: Int64?

        init(_ exchange: HTTPExchange) throws(SignalingError) {
            limit = Int(try Self.number("limit", 1...Int64(AdminAPI.pageCount), exchange) ?? Int64(defaultCount))
            offset = Int(try Self.number("offset", 0...1_000_000_000, exchange) ?? 0)
            after = try Self.number("after", 0...Int64.max, exchange)
        }

        private static func number(
            _ name: String, _ bounds: ClosedRange<Int64>, _ exchange: HTTPExchange
        ) throws(SignalingError) -> Int64? {
            guard let text = exchange.queryValue(name) else { return nil }
            guard let number = Int64(text), bounds.contains(number) else {
                throw SignalingError(
                    .invalidParameter,
                    "\"\(name)\" is not valid: use a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
            }
            return number
        }
    }
}

/// The projects of sessions, by their IDs. Reading an ID costs more than everything else about a row.
private final class ProjectKeys {
    private static let limit = 50_000
    private var known: [SessionID: APIKey] = [:]

    func key(of session: SessionID) -> APIKey? {
        if let key = known[session] { return key }
        guard let key = try? SessionIDCodec.read(session).apiKey else { return nil }
        if known.count >= Self.limit { known.removeAll() }
        known[session] = key
        return key
    }
}

extension JSONValue {
    /// A rate, to one hundredth.
    fileprivate static func rate(_ value: Double) -> JSONValue { .double((value * 100).rounded() / 100) }
}

extension HTTPResponse {
    /// A part of a list, and the size of the whole list.
    fileprivate static func page(_ items: some Sequence<JSONValue>, count: Int) -> HTTPResponse {
        .json(["count": .integer(Int64(count)), "items": .array(Array(items))])
    }
}
