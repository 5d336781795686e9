import JSONText
import SignalingProtocol
import SignalingVerification

/// What came of it.
struct VerifyReport {
    let seed: UInt64
    let isSettled: Bool
    let took: Duration
    var faults: [String: Int] = [:]
    var longestInterruption = Duration.zero
    private var counts: [String: Int] = [:]
    private var violations: [Violation] = []

    init(seed: UInt64, isSettled: Bool, took: Duration) {
        self.seed = seed
        self.isSettled = isSettled
        self.took = took
    }

    var isGood: Bool { isSettled && violations.isEmpty }

    mutating func add(_ history: History) {
        for step in history.clients.flatMap(\.steps) {
            switch step.what {
            case .sent: count("signals")
            case .answered(_, .acknowledged): count("acknowledged")
            case .answered(_, .refused): count("refused")
            case .answered(_, .unknown): count("unknown")
            case .received: count("received")
            case .entered(let entry): count(entry.outcome == .lost ? "lossesTold" : entry.outcome.rawValue)
            case .opening, .created, .destroyed, .ended: break
            }
        }
        for violation in HistoryChecker.violations(in: history) {
            violations.append(violation)
            switch violation.kind {
            case .missing: count("lost")
            case .twice: count("duplicated")
            case .disorder: count("reordered")
            case .untrue: break
            }
        }
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    private static let names = [
        "signals", "acknowledged", "refused", "unknown", "received", "lost", "duplicated", "reordered", "lossesTold",
        "resumed", "recovered",
    ]

    var text: String {
        func number(_ name: String) -> String { String(counts[name] ?? 0) }
        var lines = [
            "signals \(number("signals")): acknowledged \(number("acknowledged")), refused \(number("refused")), unknown \(number("unknown")); received \(number("received"))",
            "lost \(number("lost")), duplicated \(number("duplicated")), reordered \(number("reordered"))",
            "came back: resumed \(number("resumed")), recovered \(number("recovered")), losses told \(number("lossesTold"))",
            "longest interruption \(longestInterruption.wholeMilliseconds) ms, took \(took.wholeMilliseconds) ms, seed \(seed)",
        ]
        if !isSettled { lines.append("BROKEN: somebody did not come back, or did not get the last signal, in time") }
        lines += violations.prefix(20).map { "BROKEN \($0)" }
        lines.append(isGood ? "every promise was kept" : "\(violations.count) times a promise was broken")
        return lines.joined(separator: "\n")
    }

    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        for name in Self.names { writer.member(name, counts[name] ?? 0) }
        for (name, count) in faults.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
        writer.member("longestInterruptionMilliseconds", longestInterruption.wholeMilliseconds)
        writer.member("milliseconds", took.wholeMilliseconds)
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
