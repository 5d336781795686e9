import SignalingProtocol

/// The report for people.
extension LoadReport {
    private static let percents: [Double] = [50, 90, 99, 99.9]
    private static let barLength = 40

    package var text: String {
        ([headline, ""] + figureLines + histogramLines).joined(separator: "\n")
    }

    private var headline: String {
        let load =
            plan.rate == 0
            ? "\(grouped(plan.memberCount)) idle connections for \(plan.seconds) s"
            : "\(grouped(Int(signalsPerSecond.rounded()))) signals and \(grouped(Int(deliveriesPerSecond.rounded()))) "
                + "deliveries a second for \(plan.seconds) s"
        switch verdict {
        case .carried:
            let latency = "99 % of the deliveries took at most \(readable(figures.deliveryLatency.percentile(99)))."
            return "The server carried the load: \(load)" + (plan.rate == 0 ? "." : "; " + latency)
        case .notCarried(let reasons): return (["The server did not carry the load."] + reasons).joined(separator: " ")
        case .unknown(let reason): return "No verdict. \(reason)"
        case .interrupted: return "No verdict: the run was interrupted."
        }
    }

    private var figureLines: [String] {
        var lines = [
            "plan          \(grouped(plan.rooms)) rooms of \(grouped(plan.members)) members, \(grouped(plan.rate)) "
                + "signals a second in each, of \(grouped(plan.bytes)) bytes",
            "joins         \(grouped(joinLatency.count)) in \(readable(joinTime)): \(decimal(joinsPerSecond)) a second; "
                + "99 % took at most \(readable(joinLatency.percentile(99)))",
        ]
        if plan.rate > 0 {
            lines += [
                "signals       \(grouped(figures.sent)) sent, \(grouped(figures.acknowledged)) acknowledged, "
                    + "\(grouped(figures.refusedCount)) failed",
                "deliveries    \(grouped(figures.deliveries)) of \(grouped(expectedDeliveries))",
            ]
        }
        lines.append(
            "connections   \(grouped(figures.reconnects)) reconnects, \(grouped(figures.disconnects)) disconnects")
        if let server = serverLine { lines.append(server) }
        let late =
            plan.rate > 0 ? "; 99 % of its signals left at most \(readable(figures.lateness.percentile(99))) late" : ""
        lines.append("this program  \(share(ownCPU)) of a processor core\(late)")
        return lines
    }

    private var serverLine: String? {
        guard let serverCPU, let usageAfter else { return nil }
        var parts = ["\(share(serverCPU)) of a processor core"]
        if let each = serverCPUPerDelivery { parts.append("\(readable(each)) per delivery") }
        if let each = serverCPUPerJoin { parts.append("\(readable(each)) per join") }
        parts.append("\(decimal(Double(usageAfter.residentByteCount) / 1_048_576)) MiB of memory")
        if let each = serverBytesPerConnection { parts.append("\(grouped(each)) bytes per connection") }
        return "server        " + parts.joined(separator: ", ")
    }

    private func share(_ time: Duration) -> String {
        measuredTime > .zero ? "\(decimal(100 * (time / measuredTime))) %" : "0 %"
    }

    private var histogramLines: [String] {
        guard figures.deliveryLatency.count > 0 else { return [] }
        var lines = ["", "latency from the planned moment of a signal", "         acknowledgement     delivery"]
        for percent in Self.percents {
            lines.append(
                row(
                    "\(decimal(percent)) %", figures.acknowledgementLatency.percentile(percent),
                    figures.deliveryLatency.percentile(percent)))
        }
        lines.append(row("max", figures.acknowledgementLatency.longest, figures.deliveryLatency.longest))
        lines += ["", "deliveries by latency"]
        let octaves = figures.deliveryLatency.octaves
        let most = octaves.map(\.count).max() ?? 1
        for octave in octaves {
            let length = octave.count == 0 ? 0 : max(1, octave.count * Self.barLength / most)
            lines.append(
                "  below " + padded(readable(octave.below), 8) + "  "
                    + String(repeating: "#", count: length) + (length > 0 ? " " : "") + grouped(octave.count))
        }
        return lines
    }

    private func row(_ name: String, _ acknowledgement: Duration, _ delivery: Duration) -> String {
        padded(name, 7) + padded(readable(acknowledgement), 17) + padded(readable(delivery), 13)
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
