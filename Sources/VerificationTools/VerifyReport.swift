import JSONText
import SignalingProtocol
import SignalingVerification

/// The result of a ``Verification``, for people and as JSON.
package struct VerifyReport: Sendable {
    let seed: UInt64
    /// Whether every client was connected at the end and had received the last signal of each member of its session.
    let isSettled: Bool
    let duration: Duration
    var faults: [String: Int] = [:]
    var longestInterruption = Duration.zero
    private var counts: [String: Int] = [:]
    private var violations: [Violation] = []

    init(seed: UInt64, isSettled: Bool, duration: Duration) {
        self.seed = seed
        self.isSettled = isSettled
        self.duration = duration
    }

    package var isGood: Bool { isSettled && violations.isEmpty }

    mutating func add(_ history: History) {
        for step in history.clients.flatMap(\.steps) {
            switch step.action {
            case .sent: count("signals")
            case .answered(_, .acknowledged): count("acknowledged")
            case .answered(_, .refused): count("refused")
            case .answered(_, .unknown): count("unknown")
            case .received: count("received")
            case .entered(let entry): count(entry.outcome == .lost ? "lossesTold" : entry.outcome.rawValue)
            case .opening, .created, .destroyed, .ended: break
            }
        }
        add(HistoryChecker.violations(in: history))
    }

    mutating func add(_ found: [Violation]) {
        for violation in found {
            violations.append(violation)
            switch violation.kind {
            case .missing: count("lost")
            case .duplicate: count("duplicated")
            case .reordered: count("reordered")
            case .wrong: break
            }
        }
    }

    private mutating func count(_ name: String) { counts[name, default: 0] += 1 }

    private static let names = [
        "signals", "acknowledged", "refused", "unknown", "received", "lost", "duplicated", "reordered", "lossesTold",
        "resumed", "recovered",
    ]

    package var text: String {
        func number(_ name: String) -> String { String(counts[name] ?? 0) }
        var lines = [
            "signals \(number("signals")): acknowledged \(number("acknowledged")), refused \(number("refused")), unknown \(number("unknown")); received \(number("received"))",
            "lost \(number("lost")), duplicated \(number("duplicated")), reordered \(number("reordered"))",
            "reconnected: resumed \(number("resumed")), recovered \(number("recovered")), losses reported \(number("lossesTold"))",
            "longest interruption \(longestInterruption.wholeMilliseconds) ms, took \(duration.wholeMilliseconds) ms, seed \(seed)",
        ]
        if !isSettled {
            lines.append("BROKEN: a client did not reconnect, or did not receive the last signals, in time")
        }
        lines += violations.prefix(20).map { "BROKEN \($0)" }
        lines.append(isGood ? "every promise was kept" : "\(violations.count) violations of the promises")
        return lines.joined(separator: "\n")
    }

    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        for name in Self.names { writer.member(name, counts[name] ?? 0) }
        for (name, count) in faults.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
        writer.member("longestInterruptionMilliseconds", longestInterruption.wholeMilliseconds)
        writer.member("milliseconds", duration.wholeMilliseconds)
        writer.member("seed", seed)
        writer.member("settled", isSettled)
        writer.name("violations")
        writer.beginArray()
        for violation in violations.prefix(20) { writer.value(violation.description) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
