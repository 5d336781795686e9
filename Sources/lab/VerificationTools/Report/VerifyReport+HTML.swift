import SignalingProtocol

extension VerifyReport {
    /// The report as one page: it loads nothing, and has a light and a dark appearance.
    package var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark"><title>signalbox-lab verify</title><style>
        :root { --ink: #1c1c1e; --paper: #ffffff; --faint: #d1d1d6; --accent: #0a66c2; --fault: #c2410c; --good: #15803d }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #f2f2f7; --paper: #1c1c1e; --faint: #48484a; --accent: #64b5ff; --fault: #ff9f5a; --good: #5ddb8b }
        }
        body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
          font: 16px/1.5 system-ui, sans-serif }
        pre { white-space: pre-wrap; padding: 1rem; border: 1px solid var(--faint); border-radius: 6px; font-size: 13px }
        svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: var(--ink) }
        .axis { stroke: var(--faint) } .bar, .time { fill: var(--accent) } .fault { fill: var(--fault); fill-opacity: 0.6 }
        .kept { color: var(--good) } .broken { color: var(--fault) }
        </style></head><body>
        <h1>signalbox-lab verify: <span class="\(isGood ? "kept" : "broken")">\(isGood ? "every promise was kept" : "a promise was broken")</span></h1>
        <pre>\(Self.escaped(text))</pre>
        <h2>Timeline</h2>
        <p>A tall mark is a fault. A bar is the time in which a client was cut off: s0c1 is client 1 of session 0, and s0g1
        is a guest.</p>
        \(timelineChart)
        <h2>Interruptions</h2>
        <p>How many interruptions took how long, from the cut until the client was connected again.</p>
        \(chart(of: interruptionHistogram))
        <h2>Acknowledgements</h2>
        <p>How many signals were acknowledged after how long.</p>
        \(chart(of: latencies))
        </body></html>

        """
    }

    private var interruptionHistogram: DurationCounts {
        var histogram = DurationCounts()
        for interruption in interruptions { histogram.add(interruption.duration) }
        return histogram
    }

    // MARK: - Charts, in a space 900 units wide

    private static let left = 130.0
    private static let width = 750.0
    private static let rowHeight = 18.0

    /// One row for each kind of fault, and one for each client that was cut off.
    private var timelineChart: String {
        let total = max(duration.wholeMilliseconds, 1)
        func x(_ time: Duration) -> Double {
            Self.left + Self.width * Double(min(max(time.wholeMilliseconds, 0), total)) / Double(total)
        }
        var rows: [(title: String, shapes: [String])] = []
        for kind in Set(timeline.map(\.kind)).sorted() {
            let marks = timeline.filter { $0.kind == kind }
            rows.append(
                (
                    kind.words(),
                    marks.map { shape("fault", from: x($0.at), to: x($0.at + $0.length), height: 14, kind.words()) }
                ))
        }
        for client in Set(interruptions.map(\.client)).sorted() {
            let bars = interruptions.filter { $0.client == client }.map { interruption in
                shape(
                    "time", from: x(.nanoseconds(interruption.start.nanoseconds)),
                    to: x(.nanoseconds(interruption.end.nanoseconds)), height: 8,
                    "\(interruption.cause.rawValue), \(interruption.duration.wholeMilliseconds) ms")
            }
            rows.append((client, bars))
        }
        var lines: [String] = []
        for (index, row) in rows.enumerated() {
            let y = Double(index) * Self.rowHeight
            lines.append("<text x=\"0\" y=\"\(Self.text(y + 13))\">\(Self.escaped(row.title))</text>")
            lines.append("<g transform=\"translate(0 \(Self.text(y)))\">\(row.shapes.joined())</g>")
        }
        let height = Double(rows.count) * Self.rowHeight
        let origin = Self.text(Self.left)
        let axis =
            "<line class=\"axis\" x1=\"\(origin)\" y1=\"0\" x2=\"\(origin)\" y2=\"\(Self.text(height))\"/>"
        let scale =
            "<text x=\"\(Self.text(Self.left))\" y=\"\(Self.text(height + 16))\">0 s</text>"
            + "<text x=\"\(Self.text(Self.left + Self.width))\" y=\"\(Self.text(height + 16))\" text-anchor=\"end\">"
            + "\(Self.text(Double(total) / 1_000)) s</text>"
        return svg(height: height + 22, "timeline", axis + lines.joined() + scale)
    }

    private func shape(_ style: String, from: Double, to: Double, height: Double, _ title: String) -> String {
        "<rect class=\"\(style)\" x=\"\(Self.text(from))\" y=\"\(Self.text((Self.rowHeight - height) / 2))\" "
            + "width=\"\(Self.text(max(2, to - from)))\" height=\"\(Self.text(height))\"><title>\(Self.escaped(title))</title></rect>"
    }

    private func chart(of histogram: DurationCounts) -> String {
        let counts = histogram.counts
        guard let last = counts.lastIndex(where: { $0 > 0 }), let largest = counts.max() else { return "<p>None.</p>" }
        var lines = ""
        for (index, count) in counts[...last].enumerated() {
            let y = Double(index) * Self.rowHeight
            let width = Self.width * 0.85 * Double(count) / Double(largest)
            lines += "<text x=\"0\" y=\"\(Self.text(y + 13))\">under \(1 << index) ms</text>"
            lines += "<g transform=\"translate(0 \(Self.text(y)))\">"
            lines += shape("bar", from: Self.left, to: Self.left + width, height: 14, "\(count)")
            lines += "<text x=\"\(Self.text(Self.left + width + 8))\" y=\"13\">\(count)</text></g>"
        }
        return svg(height: Double(last + 1) * Self.rowHeight, "histogram", lines)
    }

    private func svg(height: Double, _ title: String, _ content: String) -> String {
        "<svg viewBox=\"0 0 900 \(Self.text(height))\" role=\"img\" aria-label=\"\(title)\">\(content)</svg>"
    }

    /// One digit after the point is enough for a chart.
    private static func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "<": result += "&lt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
