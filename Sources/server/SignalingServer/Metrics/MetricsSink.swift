import Metrics

/// Passes the totals of a server on to one backend of swift-metrics, as increments since the last time. Confined to the
/// loop.
final class MetricsSink {
    private struct Key: Hashable {
        let name: String
        let labels: [String]
    }

    private struct Published<Handle, Total> {
        let handle: Handle
        var last: Total
    }

    private let factory: any MetricsFactory
    private var counters: [Key: Published<Counter, Int>] = [:]
    private var times: [Key: Published<FloatingPointCounter, Double>] = [:]
    private var gauges: [Key: Meter] = [:]
    private var histograms: [Key: Published<any RecorderHandler, Histogram>] = [:]

    init(factory: any MetricsFactory) { self.factory = factory }

    /// A total that only grows.
    func counter(_ metric: MetricDeclaration, _ labels: [String], _ total: Int) {
        let key = Key(name: metric.name, labels: labels)
        var entry =
            counters[key]
            ?? Published(
                handle: Counter(label: metric.name, dimensions: dimensions(metric, labels), factory: factory), last: 0)
        entry.handle.increment(by: total - entry.last)
        entry.last = total
        counters[key] = entry
    }

    /// A total of time that only grows.
    func counter(_ metric: MetricDeclaration, _ labels: [String], seconds total: Double) {
        let key = Key(name: metric.name, labels: labels)
        var entry =
            times[key]
            ?? Published(
                handle: FloatingPointCounter(
                    label: metric.name, dimensions: dimensions(metric, labels), factory: factory), last: 0)
        entry.handle.increment(by: max(0, total - entry.last))
        entry.last = max(total, entry.last)
        times[key] = entry
    }

    func gauge(_ metric: MetricDeclaration, _ labels: [String], _ value: Double) {
        let key = Key(name: metric.name, labels: labels)
        let gauge =
            gauges[key] ?? Meter(label: metric.name, dimensions: dimensions(metric, labels), factory: factory)
        gauge.set(value)
        gauges[key] = gauge
    }

    /// A server's own registry gets the counts of the buckets. Another backend has buckets of its own: it gets the mean
    /// of each bucket, as often as there were observations in it.
    func histogram(_ metric: MetricDeclaration, _ labels: [String], _ histogram: Histogram) {
        guard case .histogram(let buckets) = metric.kind else { return }
        let key = Key(name: metric.name, labels: labels)
        var entry =
            histograms[key]
            ?? Published(
                handle: factory.makeRecorder(
                    label: metric.name, dimensions: dimensions(metric, labels), aggregate: true),
                last: Histogram(buckets))
        let counts = zip(histogram.counts, entry.last.counts).map { $0 - $1 }
        if let series = entry.handle as? HistogramSeries {
            series.add(counts: counts, sum: Double(histogram.sum - entry.last.sum) / buckets.scale)
        } else {
            for (index, count) in counts.enumerated() where count > 0 {
                let mean = Double(histogram.sums[index] - entry.last.sums[index]) / Double(count) / buckets.scale
                for _ in 0..<count { entry.handle.record(mean) }
            }
        }
        entry.last = histogram
        histograms[key] = entry
    }

    private func dimensions(_ metric: MetricDeclaration, _ labels: [String]) -> [(String, String)] {
        precondition(metric.labels.count == labels.count, "\(metric.name) has other labels")
        return Array(zip(metric.labels, labels))
    }
}

/// Metrics without labels.
extension MetricsSink {
    func counter(_ metric: MetricDeclaration, _ total: Int) { counter(metric, [], total) }
    func counter(_ metric: MetricDeclaration, seconds total: Double) { counter(metric, [], seconds: total) }
    func gauge(_ metric: MetricDeclaration, _ value: Double) { gauge(metric, [], value) }
    func histogram(_ metric: MetricDeclaration, _ histogram: Histogram) { self.histogram(metric, [], histogram) }
}
