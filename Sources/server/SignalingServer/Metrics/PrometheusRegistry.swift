import Metrics
import Synchronization

/// A backend of swift-metrics that renders all metrics in the text format of Prometheus.
///
/// A server has one of its own for `/metrics`. A program that embeds a server may give it the metrics of its other
/// libraries, too (`MetricsSystem.bootstrap`). Handlers and ``text`` can be used on any thread.
public final class PrometheusRegistry: MetricsFactory {
    fileprivate enum Kind: String { case counter, gauge, histogram }

    fileprivate struct Family {
        let kind: Kind
        let help: String
        let bounds: [Double]
        /// By the text of their labels: `{state="joined"}`.
        var numbers: [String: NumberSeries] = [:]
        var histograms: [String: HistogramSeries] = [:]
    }

    fileprivate struct State {
        var families: [String: Family] = [:]
        /// The declared names, in their order.
        var order: [String] = []
    }

    private let state: Mutex<State>

    /// - Parameter declarations: metrics with a help text and buckets. Others get buckets for durations, and no help.
    public init(_ declarations: [MetricDeclaration] = MetricsTable.declarations) {
        var state = State()
        for declaration in declarations {
            let (kind, bounds): (Kind, [Double]) =
                switch declaration.kind {
                case .counter: (.counter, [])
                case .gauge: (.gauge, [])
                case .histogram(let buckets): (.histogram, buckets.publishedBounds)
                }
            state.families[declaration.name] = Family(kind: kind, help: declaration.help, bounds: bounds)
            state.order.append(declaration.name)
        }
        self.state = Mutex(state)
    }

    // MARK: - MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        number(.counter, label, dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { number(.counter, label, dimensions) }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        number(.gauge, label, dimensions)
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if !aggregate { return number(.gauge, label, dimensions) }
        return histogram(label, dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    // The values of a process stay until it ends, as Prometheus expects.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func number(_ kind: Kind, _ label: String, _ dimensions: [(String, String)]) -> NumberSeries {
        let labels = Self.labels(dimensions)
        return state.withLock { state in
            state.series(kind, Self.name(label)) { family in
                if let series = family.numbers[labels] { return series }
                let series = NumberSeries()
                if family.kind == kind { family.numbers[labels] = series }
                return series
            }
        }
    }

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        let labels = Self.labels(dimensions)
        return state.withLock { state in
            state.series(.histogram, Self.name(label)) { family in
                if let series = family.histograms[labels] { return series }
                let series = HistogramSeries(bounds: family.bounds)
                if family.kind == .histogram { family.histograms[labels] = series }
                return series
            }
        }
    }

    // MARK: - Text

    /// The content type of ``text``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The current values in the text format of Prometheus, version 0.0.4.
    public var text: String {
        let (families, order) = state.withLock { ($0.families, $0.order) }
        var text = ""
        for name in order {
            guard let family = families[name], !family.numbers.isEmpty || !family.histograms.isEmpty else { continue }
            if !family.help.isEmpty { text += "# HELP \(name) \(Self.escape(family.help, quotes: false))\n" }
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, series) in family.numbers.sorted(by: { $0.key < $1.key }) {
                text += "\(name)\(labels) \(Self.number(series.value))\n"
            }
            for (labels, series) in family.histograms.sorted(by: { $0.key < $1.key }) {
                series.render(name, labels, into: &text)
            }
        }
        return text
    }

    /// Integers without a fraction, as most values are.
    static func number(_ value: Double) -> String {
        if value == .infinity { return "+Inf" }
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }

    /// Prometheus permits only these characters in a name.
    private static func name(_ label: String) -> String {
        let text = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
        return text.first?.isNumber ?? true ? "_" + text : text
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        if dimensions.isEmpty { return "" }
        return "{" + dimensions.map { "\(name($0))=\"\(escape($1, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension PrometheusRegistry.State {
    fileprivate mutating func series<Series>(
        _ kind: PrometheusRegistry.Kind, _ name: String, _ find: (inout PrometheusRegistry.Family) -> Series
    ) -> Series {
        if families[name] == nil {
            let bounds = kind == .histogram ? MetricDeclaration.Buckets.durations.publishedBounds : []
            families[name] = PrometheusRegistry.Family(kind: kind, help: "", bounds: bounds)
            order.append(name)
        }
        return find(&families[name, default: PrometheusRegistry.Family(kind: kind, help: "", bounds: [])])
    }
}
