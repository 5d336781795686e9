/// The declaration of a metric. The help text in `/metrics` and the row in docs/operations/metrics.md derive from it.
public struct MetricDeclaration: Sendable {
    public enum Kind: Sendable, Hashable {
        /// Only grows while the process runs.
        case counter
        case gauge
        /// Observations, counted in these buckets.
        case histogram(Buckets)
    }

    /// The upper bounds of a histogram's buckets. They are fixed, so that the histograms of several servers can be
    /// added.
    public enum Buckets: Sendable, Hashable {
        /// From 100 µs to 10 s. Observed in nanoseconds, published in seconds.
        case durations
        /// From 64 bytes to 1 MiB.
        case sizes

        /// In the unit of observation.
        var bounds: [Int64] {
            switch self {
            case .durations:
                [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000]
                    .map { $0 * 1000 } + [2_500_000_000, 5_000_000_000, 10_000_000_000]
            case .sizes: [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
            }
        }

        /// How many units of observation are one published unit.
        var scale: Double {
            switch self {
            case .durations: 1_000_000_000
            case .sizes: 1
            }
        }

        /// The bounds in the published unit.
        var publishedBounds: [Double] { bounds.map { Double($0) / scale } }
    }

    /// Begins with `signalbox_`, or with `process_` if Prometheus' client libraries have the same metric: dashboards and
    /// alerts for any process then work. Ends in the unit; a counter ends in `_total`.
    public let name: String
    public let kind: Kind
    /// The names of the labels. Every label has few values; none is the ID of a session or a connection.
    public let labels: [String]
    /// One sentence.
    public let help: String

    init(_ kind: Kind, _ name: String, labels: [String] = [], _ help: String) {
        self.name = name.hasPrefix("process_") ? name : "signalbox_" + name
        self.kind = kind
        self.labels = labels
        self.help = help
    }

    /// The kind in Prometheus' words.
    public var kindText: String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}
