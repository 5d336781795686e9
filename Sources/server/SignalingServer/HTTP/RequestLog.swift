import Logging
import SignalingProtocol
import SignalingTransport

/// Follows requests to their responses: counts them, gives each an ID, and writes the access log. Confined to the loop.
final class RequestLog {
    /// The header in which a trusted proxy names a request, and in which every response names it.
    static let idHeader = "X-Request-ID"

    let statistics: RequestStatistics
    private let logger: Logger
    private let isAccessLogged: Bool
    private var randomness = SystemRandomNumberGenerator()

    init(statistics: RequestStatistics, logger: Logger, isAccessLogged: Bool) {
        self.statistics = statistics
        self.logger = logger
        self.isAccessLogged = isAccessLogged
    }

    /// Call it before the request is answered.
    func follow(_ exchange: HTTPExchange, _ route: Route) {
        let began = LoopThread.now
        let id = requestID(of: exchange)
        // Not the exchange itself, which would keep itself alive.
        let (method, address, path) = (exchange.method.rawValue, exchange.remoteAddress, exchange.path)
        exchange.onResponse = { [self] response in
            let took = LoopThread.now.duration(since: began)
            statistics.note(route: route.metricLabel, status: response.status, took: took)
            if route.isREST { response.headers.append((Self.idHeader, id)) }
            guard isAccessLogged || (response.status >= 500 && response.status != 501) else { return }
            let namesNothing = !route.isREST && response.status >= HTTPStatus.badRequest.rawValue
            let metadata: Logger.Metadata = [
                "request": "\(id)", "method": "\(method)", "route": "\(route.metricLabel)",
                "path": "\(Self.printable(namesNothing ? Self.shortened(path) : path))",
                "status": .stringConvertible(response.status),
                "milliseconds": .stringConvertible(took.wholeNanoseconds / 1_000_000), "address": "\(address)",
            ]
            logger.info("answered a request", metadata: metadata)
        }
    }

    /// The ID that a trusted proxy has given, if it is a short name; otherwise a random one.
    private func requestID(of exchange: HTTPExchange) -> String {
        if exchange.isFromTrustedProxy, let given = exchange.header(Self.idHeader.lowercased()),
            (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ Self.isNameByte($0) })
        {
            return given
        }
        return RandomText.bits64(using: &randomness)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Such a path may hold anything, also a token that somebody has pasted. Every secret of the server is longer than
    /// the names that people look for.
    private static func shortened(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.utf8.count > 20 ? "(\($0.utf8.count)-bytes)" : String($0) }.joined(separator: "/")
    }

    /// Cut, and without characters that could end the line or change a terminal.
    private static func printable(_ text: String) -> String {
        String(text.prefix(400).map { $0.isASCII && !$0.isWhitespace && $0 > " " && $0 != "\u{7F}" ? $0 : "?" })
    }
}

extension Route {
    /// The value of the label `route`.
    var metricLabel: String {
        switch self {
        case .livez: "livez"
        case .readyz: "readyz"
        case .metrics: "metrics"
        case .createSession: "create_session"
        case .room: "room"
        case .link: "open_link"
        case .file: "file"
        case .admin: "admin"
        case .project(_, let route):
            switch route {
            case .signal: "signal"
            case .connections: "list_connections"
            case .messages: "history"
            case .message, .userMessages: "erase"
            case .moderation: "moderation"
            case .revocations: "revocations"
            case .feed: "feed"
            case .connection: "force_disconnect"
            case .streams, .stream: "streams"
            case .link: "create_link"
            case .media: "media"
            }
        }
    }

    /// Whether the request is one of a backend or an operator, rather than for a page or for health.
    var isREST: Bool {
        switch self {
        case .createSession, .project, .admin: true
        case .livez, .readyz, .metrics, .room, .link, .file: false
        }
    }
}
