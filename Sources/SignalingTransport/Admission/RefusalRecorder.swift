import Logging
import SignalingProtocol

/// The one place that counts refusals and logs them, rate-limited. Confined to the loop of its server.
public final class RefusalRecorder {
    public private(set) var counts = RefusalCounts()
    private var lastAt: [Refusal: MonotonicInstant] = [:]
    private var limit = RefusalLogLimit()
    private let logger: Logger

    public init(logger: Logger) { self.logger = logger }

    /// Counts a refusal, and logs it unless there was a line about the same kind in the last ten seconds.
    ///
    /// - Parameter address: the client's address, as text; computed only for a line.
    public func note(_ refusal: Refusal, address: @autoclosure () -> String, now: MonotonicInstant) {
        counts.note(refusal)
        lastAt[refusal] = now
        guard let suppressed = limit.note(refusal, now: now) else { return }
        logger.log(
            level: refusal.isUsual ? .debug : .warning, "refused a connection: \(refusal.text)",
            metadata: [
                "reason": "\(refusal.rawValue)", "address": "\(address())", "suppressed": "\(suppressed)",
            ])
    }

    /// Whether such a refusal happened in the last `time`.
    func hasNoted(_ refusal: Refusal, within time: Duration, now: MonotonicInstant) -> Bool {
        lastAt[refusal].map { now < $0.advanced(by: time) } ?? false
    }
}
