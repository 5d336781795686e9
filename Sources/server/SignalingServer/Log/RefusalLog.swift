import Logging
import SignalingProtocol

/// Writes a line for each kind of refused request, rate-limited. Confined to the loop.
///
/// A line has the client's address, the reason, the route and the API key that the client named. It never has a token
/// or what a client wrote.
final class RefusalLog {
    private struct Kind: Hashable {
        let route: String
        let reason: String
    }

    private let logger: Logger
    /// Bounded: routes and reasons are those of the program.
    private var lines = LogLineLimit<Kind>()

    init(logger: Logger) { self.logger = logger }

    /// - Parameter key: the API key as the client gave it; nil if it gave none.
    func note(
        _ error: SignalingError, route: String, address: @autoclosure () -> String, key: APIKey?, now: MonotonicInstant
    ) {
        let kind = Kind(route: route, reason: error.code.metricLabel)
        guard let suppressed = lines.note(kind, now: now) else { return }
        var metadata: Logger.Metadata = [
            "route": "\(kind.route)", "reason": "\(kind.reason)", "address": "\(address())",
            "suppressed": .stringConvertible(suppressed),
        ]
        if let key { metadata["apiKey"] = Self.isPrintable(key) ? "\(key)" : "malformed" }
        logger.notice("refused a request", metadata: metadata)
    }

    /// Any other text may be a secret in the wrong place.
    private static func isPrintable(_ key: APIKey) -> Bool {
        (1...64).contains(key.rawValue.utf8.count)
            && key.rawValue.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
