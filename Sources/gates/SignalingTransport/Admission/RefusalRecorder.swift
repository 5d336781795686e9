import Logging
import SignalingProtocol

/// The one place that counts refusals and logs them, rate-limited. Confined to the loop of its server.
public final class RefusalRecorder {
    public private(set) var counts = RefusalCounts()
    private var lastAt: [Refusal: MonotonicInstant] = [:]
    private var lines = LogLineLimit<Refusal>()
    private let logger: Logger

    public init(logger: Logger) { self.logger = logger }

    /// Counts a refusal, and logs it unless there was a line about the same kind in the last ten seconds.
    ///
    /// - Parameters:
    ///   - address: the client's address, as text; computed only for a line.
    ///   - origin: what an operator may want to allow, as the client sent it; only for ``Refusal/origin``.
    public func note(
        _ refusal: Refusal, address: @autoclosure () -> String, origin: String? = nil, now: MonotonicInstant
    ) {
        counts.note(refusal)
        lastAt[refusal] = now
        guard let suppressed = lines.note(refusal, now: now) else { return }
        var metadata: Logger.Metadata = [
            "reason": "\(refusal.rawValue)", "address": "\(address())", "suppressed": .stringConvertible(suppressed),
        ]
        if let origin { metadata["origin"] = "\(Self.printable(origin))" }
        logger.log(
            level: refusal.isUsual ? .debug : .warning, "refused a connection: \(refusal.text)", metadata: metadata)
    }

    /// An origin of a browser is short and has no other characters. Anything else comes from a client that wants
    /// something with the log.
    private static func printable(_ origin: String) -> String {
        String(String.UnicodeScalarView(origin.unicodeScalars.prefix(100).map { ("!"..."~").contains($0) ? $0 : "?" }))
    }

    /// Whether such a refusal happened in the last `time`.
    func hasNoted(_ refusal: Refusal, within time: Duration, now: MonotonicInstant) -> Bool {
        lastAt[refusal].map { now < $0.advanced(by: time) } ?? false
    }
}
