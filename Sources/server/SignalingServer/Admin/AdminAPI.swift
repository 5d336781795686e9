import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Answers an operator's questions about sessions and connections, disconnects connections, and moderates. Confined to the loop.
///
/// It tells nothing that a client wrote: no type and no data of a signal. The data of a connection comes from the token.
final class AdminAPI {
    /// Which sessions a caller may see.
    enum Scope: Hashable {
        case everything
        case project(APIKey)

        /// `nil` for all projects.
        var project: APIKey? {
            switch self {
            case .everything: nil
            case .project(let key): key
            }
        }
    }

    /// The items of a list that one response has at most.
    static let pageCount = 1000
    private static let defaultCount = 100

    /// Called with the number of items of a list.
    typealias Charge = (Int) -> Void

    /// The members that a turn of the loop reads.
    private static let membersPerTurn = 200

    private let hub: ServerHub
    private let stats: () -> JSONValue
    private let feeds: FeedConsumers
    private let work: SlicedWork<Scope>
    private let lists: SessionLists
    private var fields = RequestFields()
    /// What the settings call sessions. Changed when the settings are reloaded.
    var labels: [SessionID: SessionLabel] {
        get { lists.labels }
        set { lists.labels = newValue }
    }

    /// - Parameters:
    ///   - labels: what the settings call sessions.
    ///   - feeds: who consumes the feeds.
    ///   - stats: the numbers of the whole server.
    init(hub: ServerHub, labels: [SessionID: SessionLabel], feeds: FeedConsumers, stats: @escaping () -> JSONValue) {
        self.hub = hub
        self.stats = stats
        self.feeds = feeds
        work = SlicedWork(hub: hub)
        lists = SessionLists(hub: hub, work: work, labels: labels)
    }

    /// - Parameter charge: counts the items of a list for the caller's rate (REST-6).
    func handle(
        _ exchange: HTTPExchange, _ route: AdminRoute, in scope: Scope, charge: @escaping Charge = { _ in }
    ) {
        do throws(SignalingError) {
            switch route {
            case .stats:
                guard scope == .everything else {
                    throw SignalingError(
                        .permissionDenied, "the numbers of the whole server are on the admin listener only")
                }
                exchange.respond(.json(stats()))
            case .sessions:
                let page = try Page(exchange)
                if try exchange.flag("asleep") {
                    listSleepers(exchange, page, scope, charge)
                } else {
                    listSessions(exchange, page, scope, charge)
                }
            case .connections: listConnections(exchange, try Page(exchange), scope, charge)
            case .feeds:
                feeds.describe(scope.project, now: .current) { list in
                    charge(list["items"]?.arrayValue?.count ?? 0)
                    exchange.respond(.json(list))
                }
            case .session(let session):
                guard isVisible(session, scope) else { throw Self.notFound }
                describe(session, exchange)
            case .sessionConnections(let session):
                let page = try Page(exchange)
                let state = try find(session, scope)
                let part = SessionListing.Part(session: session, offset: page.offset, limit: page.limit)
                respond(exchange, [part], count: state.connectionCount, scope, charge)
            case .events(let session):
                let page = try Page(exchange)
                listEvents(exchange, of: try find(session, scope), after: page.after, limit: page.limit, charge)
            case .moderation(let session):
                // Also a session that sleeps, which nobody is in.
                guard isVisible(session, scope) else { throw Self.notFound }
                if exchange.method == .post {
                    try hub.moderate(.object(try fields.object(exchange.body)), in: session, for: exchange)
                } else {
                    hub.listModeration(of: session, for: exchange, charge: charge)
                }
            case .messages(let session):
                guard isVisible(session, scope) else { throw Self.notFound }
                submit(.erase(.server, try exchange.erasure()), to: session, for: exchange)
            case .connection(let session, let connection):
                _ = try find(session, scope)
                submit(.forceDisconnect(.server, connection), to: session, for: exchange)
            }
        } catch {
            exchange.respond(.failure(error))
        }
    }

    private func submit(_ command: SessionCommand, to session: SessionID, for exchange: HTTPExchange) {
        exchange.overdueResponse = .undecided
        hub.submit(command, to: session) { exchange.respond(.answer(to: $0)) }
    }

    /// Responds with a value that another thread computes: the items of a list are many.
    private func respond(_ exchange: HTTPExchange, _ value: @escaping @Sendable () -> JSONValue) {
        hub.environment.loop.runInBackground({ value().encoded() }, then: { exchange.respond(.json(encoded: $0)) })
    }

    /// - Throws: `notFound`, also for a session of another project, so that a caller learns nothing about it.
    private func find(_ session: SessionID, _ scope: Scope) throws(SignalingError) -> SessionState {
        guard isVisible(session, scope), let state = hub.inspectableEngine?.state(of: session) else {
            throw Self.notFound
        }
        return state
    }

    private static var notFound: SignalingError {
        SignalingError(.notFound, "there is no such session, or nobody is in it")
    }

    private func isVisible(_ session: SessionID, _ scope: Scope) -> Bool {
        switch scope {
        case .everything: true
        case .project(let key): (try? SessionIDCodec.apiKey(of: session)) == key
        }
    }

    // MARK: - Sleeping sessions

    /// Responds with one session, whether it is awake or asleep.
    private func describe(_ session: SessionID, _ exchange: HTTPExchange) {
        if let state = hub.inspectableEngine?.state(of: session) {
            let row = SessionRow(state, hub.rooms[session]?.traffic, labels: labels, now: hub.environment.now)
            return exchange.respond(.json(row.json))
        }
        readSleepers(in: .only(session), atMost: 1) { [labels] result in
            guard let sleeper = (try? result.get())?.decoded(where: { _ in true }).first else {
                return exchange.respond(.failure(Self.notFound))
            }
            exchange.respond(.json(SessionRow(sleeper, labels: labels).json))
        }
    }

    private func listSleepers(_ exchange: HTTPExchange, _ page: Page, _ scope: Scope, _ charge: @escaping Charge) {
        let query = SleeperQuery(
            project: scope.project, before: exchange.queryValue("before").map { SessionID($0) },
            search: exchange.queryValue("search") ?? "", limit: page.limit, labels: labels)
        list(query, query.ranges[...], exchange, charge)
    }

    private func list(
        _ query: SleeperQuery, _ ranges: ArraySlice<Range<SessionID>>, _ exchange: HTTPExchange,
        _ charge: @escaping Charge
    ) {
        guard let range = ranges.first else { return exchange.respond(.json(["items": []])) }
        let rest = ranges.dropFirst()
        readSleepers(in: range, atMost: query.readCount) { [self] result in
            switch result {
            case .success(let read):
                if read.rows.isEmpty, read.next == nil, !rest.isEmpty { return list(query, rest, exchange, charge) }
                charge(read.rows.count)
                respond(exchange) { query.page(of: read, followedBelow: rest.isEmpty ? nil : range.lowerBound) }
            case .failure:
                exchange.respond(
                    .failure(.serviceUnavailable, "sleeping sessions cannot be read at present; repeat the request"))
            }
        }
    }

    private func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        _ answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        guard let engine = hub.inspectableEngine else { return answer(.success(SleepingSessions(atMost: count))) }
        engine.readSleepers(in: range, atMost: count, answer: answer)
    }

    // MARK: - Sessions

    private func listSessions(_ exchange: HTTPExchange, _ page: Page, _ scope: Scope, _ charge: @escaping Charge) {
        lists.list(scope) { [self] listing in
            guard let text = exchange.queryValue("search"), !text.isEmpty else {
                return respond(exchange, listing.byTraffic, page, charge)
            }
            search(SessionSearch(text, in: listing, on: hub), scope) { [self] in respond(exchange, $0, page, charge) }
        }
    }

    private func respond(_ exchange: HTTPExchange, _ rows: [SessionRow], _ page: Page, _ charge: Charge) {
        charge(min(page.limit, max(0, rows.count - page.offset)))
        respond(exchange) {
            .page(rows.dropFirst(page.offset).prefix(page.limit).map(\.json), count: rows.count)
        }
    }

    private func search(_ search: SessionSearch, _ scope: Scope, then answer: @escaping ([SessionRow]) -> Void) {
        var search = search
        work.begin(for: scope) {
            guard search.advance(memberCount: Self.membersPerTurn) else { return false }
            answer(search.found)
            return true
        }
    }

    // MARK: - Connections

    private func listConnections(_ exchange: HTTPExchange, _ page: Page, _ scope: Scope, _ charge: @escaping Charge) {
        lists.list(scope) { [self] listing in
            let parts = listing.parts(offset: page.offset, limit: page.limit)
            respond(exchange, parts, count: listing.connectionCount, scope, charge)
        }
    }

    /// Responds with the members of a page. A turn of the loop reads a bounded number of them.
    private func respond(
        _ exchange: HTTPExchange, _ parts: [SessionListing.Part], count: Int, _ scope: Scope,
        _ charge: @escaping Charge
    ) {
        var rest = parts[...]
        var rows: [ConnectionRow] = []
        work.begin(for: scope) { [self] in
            var allowance = Self.membersPerTurn
            while allowance > 0, let part = rest.first {
                let read = min(allowance, part.limit)
                if let state = hub.inspectableEngine?.state(of: part.session) {
                    let members = state.memberOverviews.dropFirst(part.offset).prefix(read)
                    for member in members { rows.append(ConnectionRow(member, of: part.session, on: hub)) }
                }
                // A session that has ended costs a little, too.
                allowance -= max(1, read)
                rest.removeFirst()
                guard read < part.limit else { continue }
                rest = [.init(session: part.session, offset: part.offset + read, limit: part.limit - read)] + rest
            }
            guard rest.isEmpty else { return false }
            charge(rows.count)
            let now = hub.environment.wallTime
            respond(exchange) { [rows] in .page(rows.map { $0.json(now: now) }, count: count) }
            return true
        }
    }

    // MARK: - Events

    /// The events of a session's log after a seq, without what they say.
    private func listEvents(
        _ exchange: HTTPExchange, of state: SessionState, after: Int64?, limit: Int, _ charge: Charge
    ) {
        let log = state.log
        // Without a seq: the newest events.
        let start = max(after ?? log.lastSeq.rawValue - Int64(limit), log.reachesBackTo.rawValue)
        let entries = log.entries(after: Seq(min(start, log.lastSeq.rawValue))).map { Array($0.prefix(limit)) } ?? []
        charge(entries.count)
        let (lastSeq, reachesBackTo) = (log.lastSeq, log.reachesBackTo)
        respond(exchange) {
            [
                "lastSeq": .integer(lastSeq.rawValue), "reachesBackTo": .integer(reachesBackTo.rawValue),
                "count": .integer(Int64(entries.count)), "items": .array(entries.map(Self.description)),
            ]
        }
    }

    private static func description(of entry: LogEntry) -> JSONValue {
        var object: JSONObject = [
            "seq": .integer(entry.seq.rawValue), "bytes": .integer(Int64(entry.line.byteCount)),
        ]
        switch (entry.kind, entry.audience) {
        case (.signal, .everyone): object["kind"] = "signal"
        case (.signal, .only(let target)):
            object["kind"] = "directedSignal"
            object["connectionId"] = .string(target.rawValue)
        case (.change, _): object["kind"] = "change"
        case (.reactions, _): object["kind"] = "reactions"
        case (.erasure, _): object["kind"] = "erasure"
        case (.erased, _): object["kind"] = "erased"
        case (.moderation, _): object["kind"] = "moderation"
        case (.presence(let subject), _):
            object["kind"] = "presence"
            object["connectionId"] = .string(subject.rawValue)
        }
        return .object(object)
    }

    // MARK: - Pages

    /// `limit`, `offset` and `after` in the query.
    private struct Page: Sendable {
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

extension JSONValue {
    /// A part of a list, and the size of the whole list.
    fileprivate static func page(_ items: [JSONValue], count: Int) -> JSONValue {
        ["count": .integer(Int64(count)), "items": .array(items)]
    }
}
