import SignalingProtocol

/// The result of a ``LoadTest``: a verdict and its figures.
package struct LoadReport: Sendable {
    package enum Verdict: Sendable, Equatable {
        case carried
        /// The reasons as sentences.
        case notCarried([String])
        /// This program was too slow for its own plan, so the server's latencies are unknown.
        case unknown(String)
        /// The user has stopped the run.
        case interrupted
    }

    let plan: LoadPlan
    var figures = LoadRecord.Figures()
    var joinLatency = LatencyHistogram()
    var joinTime = Duration.zero
    /// From the end of the warm-up to the end of the load.
    var measuredTime = Duration.zero
    var ownCPU = Duration.zero
    /// nil without the server's metrics.
    var usageAtStart: ServerUsage?
    var usageAfterJoins: ServerUsage?
    var usageBefore: ServerUsage?
    var usageAfter: ServerUsage?
    var isInterrupted = false

    init(plan: LoadPlan) { self.plan = plan }

    var expectedDeliveries: Int { figures.acknowledged * plan.members }

    package var verdict: Verdict {
        if isInterrupted { return .interrupted }
        var faults: [String] = []
        if figures.disconnects > 0 { faults.append("\(grouped(figures.disconnects)) members lost their connection.") }
        if figures.reconnects > 0 { faults.append("Members had to reconnect \(grouped(figures.reconnects)) times.") }
        for (error, count) in figures.refused.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(3) {
            faults.append("\(grouped(count)) signals failed: \(error).")
        }
        if figures.unansweredCount > 0 {
            faults.append("\(grouped(figures.unansweredCount)) signals had no answer after 10 s.")
        }
        let missing = expectedDeliveries - figures.deliveries
        if missing > 0 { faults.append("\(grouped(missing)) deliveries had not arrived after 10 s.") }
        guard faults.isEmpty else { return .notCarried(faults) }
        let slow = figures.deliveryLatency.percentile(99)
        guard slow > plan.limit else { return .carried }
        let late = figures.lateness.percentile(99)
        if late > plan.limit / 2 {
            return .unknown(
                "This program itself sent 1 % of the signals more than \(readable(late)) late. Use a smaller load, or "
                    + "run it on another machine than the server.")
        }
        return .notCarried([
            "1 % of the deliveries took more than \(readable(slow)); the limit is \(readable(plan.limit))."
        ])
    }

    package var isGood: Bool { verdict == .carried }

    // MARK: - The server's use of resources

    var serverCPU: Duration? {
        guard let usageBefore, let usageAfter else { return nil }
        return usageAfter.cpu - usageBefore.cpu
    }

    /// The server's processor time for one delivery, of which its part of the signal is one.
    var serverCPUPerDelivery: Duration? {
        guard let serverCPU, figures.deliveries > 0 else { return nil }
        return serverCPU / figures.deliveries
    }

    var serverCPUPerJoin: Duration? {
        guard let usageAtStart, let usageAfterJoins, joinLatency.count > 0 else { return nil }
        return (usageAfterJoins.cpu - usageAtStart.cpu) / joinLatency.count
    }

    /// nil for a few connections: the server allocates in larger pieces.
    var serverBytesPerConnection: Int? {
        guard let usageAtStart, let usageAfterJoins, joinLatency.count >= 500 else { return nil }
        return (usageAfterJoins.residentByteCount - usageAtStart.residentByteCount) / joinLatency.count
    }

    var signalsPerSecond: Double { perSecond(figures.acknowledged) }
    var deliveriesPerSecond: Double { perSecond(figures.deliveries) }
    var joinsPerSecond: Double { joinTime > .zero ? Double(joinLatency.count) / (joinTime / .seconds(1)) : 0 }

    private func perSecond(_ count: Int) -> Double { plan.seconds > 0 ? Double(count) / Double(plan.seconds) : 0 }
}

/// 1234567 as 1,234,567.
func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number.magnitude).reversed().enumerated() {
        if index > 0, index.isMultiple(of: 3) { text.append(",") }
        text.append(digit)
    }
    return (number < 0 ? "-" : "") + String(text.reversed())
}

/// A duration with two or three significant digits and its unit.
func readable(_ duration: Duration) -> String {
    let microseconds = duration / .microseconds(1)
    let (value, unit) =
        microseconds < 1_000
        ? (microseconds, "µs") : microseconds < 1_000_000 ? (microseconds / 1_000, "ms") : (microseconds / 1e6, "s")
    return "\(decimal(value)) \(unit)"
}

/// One decimal below 100, none above.
func decimal(_ value: Double) -> String {
    guard value.isFinite, value.magnitude < 100 else { return value.isFinite ? grouped(Int(value.rounded())) : "0" }
    let tenths = Int((value * 10).rounded())
    return tenths.isMultiple(of: 10)
        ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
}
