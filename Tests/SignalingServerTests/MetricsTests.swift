import Foundation
import Logging
import Metrics
import MetricsTestKit
import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("Metrics")
struct MetricsTests {
    private static let document = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/operations/metrics.md").standardized

    @Test("docs/operations/metrics.md has the table that the declarations give")
    func documented() throws {
        let rows = MetricsTable.declarations.map {
            "| `\($0.name)` | \($0.kindText) | \($0.labels.map { "`\($0)`" }.joined(separator: ", ")) | \($0.help) |"
        }
        let table = (["| name | type | labels | meaning |", "| --- | --- | --- | --- |"] + rows).joined(separator: "\n")
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        #expect(text.contains("\n\n" + table + "\n\n"), "The table should be:\n\n\(table)\n")
    }

    /// The names of Prometheus' client libraries, which dashboards for any process ask for.
    private static let processNames: Set = [
        "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_start_time_seconds",
        "process_cpu_seconds_total",
    ]

    @Test("the process has the metrics of Prometheus' client libraries")
    func process() throws {
        #expect(Self.processNames.isSubset(of: MetricsTable.declarations.map(\.name)))
        #if os(Linux)
            let began = try #require(ProcessUsage.startedAt)
            // The system's own clock of the boot has whole seconds. No run of the tests takes a day.
            #expect((-2...86_400).contains(Date().timeIntervalSince1970 - began), "\(began)")
        #endif
    }

    @Test("names follow Prometheus' rules, and no label is an ID")
    func names() {
        let names = MetricsTable.declarations.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in MetricsTable.declarations {
            #expect(metric.name.hasPrefix("signalbox_") || Self.processNames.contains(metric.name))
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.labels.allSatisfy { !$0.contains("id") && !$0.contains("session") }, "\(metric.name)")
        }
    }

    @Test("a histogram counts each observation in the first bucket that includes it")
    func histogram() {
        var histogram = Histogram(.sizes)
        for value: Int64 in [0, 64, 65, 1_048_576, 1_048_577] { histogram.observe(value) }
        #expect(histogram.counts == [2, 1, 0, 0, 0, 0, 0, 1, 1])
        #expect(histogram.sum == 64 + 65 + 1_048_576 + 1_048_577)
    }

    @Test("the text has cumulative buckets, escaped labels and help")
    func text() {
        let registry = PrometheusRegistry([
            MetricDeclaration(.histogram(.sizes), "size_bytes", "The size."),
            MetricDeclaration(.counter, "things_total", labels: ["kind"], "Things\nof \\ kinds."),
        ])
        let sink = MetricsSink(factory: registry)
        var histogram = Histogram(.sizes)
        for value: Int64 in [1, 100, 2_000_000] { histogram.observe(value) }
        sink.histogram(MetricDeclaration(.histogram(.sizes), "size_bytes", ""), histogram)
        Counter(label: "signalbox_things_total", dimensions: [("kind", "a\"b\n")], factory: registry).increment(by: 3)
        #expect(
            registry.text == """
                # HELP signalbox_size_bytes The size.
                # TYPE signalbox_size_bytes histogram
                signalbox_size_bytes_bucket{le="64"} 1
                signalbox_size_bytes_bucket{le="256"} 2
                signalbox_size_bytes_bucket{le="1024"} 2
                signalbox_size_bytes_bucket{le="4096"} 2
                signalbox_size_bytes_bucket{le="16384"} 2
                signalbox_size_bytes_bucket{le="65536"} 2
                signalbox_size_bytes_bucket{le="262144"} 2
                signalbox_size_bytes_bucket{le="1048576"} 2
                signalbox_size_bytes_bucket{le="+Inf"} 3
                signalbox_size_bytes_sum 2000101
                signalbox_size_bytes_count 3
                # HELP signalbox_things_total Things\\nof \\\\ kinds.
                # TYPE signalbox_things_total counter
                signalbox_things_total{kind="a\\"b\\n"} 3

                """)
    }

    @Test("the registry is a backend for other libraries, too")
    func factory() {
        let registry = PrometheusRegistry([])
        Timer(label: "other.work", factory: registry).recordNanoseconds(2_000_000_000)
        Gauge(label: "1st", factory: registry).record(1.5)
        Meter(label: "level", factory: registry).increment(by: 2)
        let text = registry.text
        #expect(text.contains("other_work_sum 2\n") && text.contains("other_work_bucket{le=\"2.5\"} 1\n"), "\(text)")
        #expect(text.contains("\n_1st 1.5\n") && text.contains("\nlevel 2\n"), "\(text)")
    }

    @Test("another backend gets the increments of totals, and as many records as observations")
    func embedding() throws {
        let backend = TestMetrics()
        let sink = MetricsSink(factory: backend)
        let total = MetricDeclaration(.counter, "things_total", labels: ["kind"], "")
        sink.counter(total, ["a"], 5)
        sink.counter(total, ["a"], 7)
        #expect(try backend.expectCounter("signalbox_things_total", [("kind", "a")]).values == [5, 2])
        let sizes = MetricDeclaration(.histogram(.sizes), "size_bytes", "")
        var histogram = Histogram(.sizes)
        for value: Int64 in [10, 20, 100] { histogram.observe(value) }
        sink.histogram(sizes, histogram)
        histogram.observe(Int64(1000))
        sink.histogram(sizes, histogram)
        #expect(try backend.expectRecorder("signalbox_size_bytes").values == [15, 15, 100, 1000])
    }

    @Test("a running server publishes to the backend of its program")
    func running() async throws {
        let backend = PrometheusRegistry([])
        var configuration = ServerConfiguration(port: 0, access: .development)
        configuration.metricsFactory = backend
        let server = try SignalingServer(
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await server.start()
        #expect(backend.text.contains("\nsignalbox_sessions 0\n"))
        #expect(backend.text.contains("\nsignalbox_connects_total{outcome=\"new\"} 0\n"))
        await server.stop()
    }

    @Test("the sampler measures one acknowledgement at a time, and forgets a socket that closes")
    func sampler() {
        func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }
        var sampler = AckSampler()
        let (first, second) = (RequestID(1), RequestID(2))
        sampler.submitted(origin: 7, request: first, now: at(0))
        sampler.submitted(origin: 8, request: second, now: at(1))
        sampler.answered(origin: 8, request: second)
        #expect(sampler.answeredOrigin == nil && sampler.written(now: at(2)) == nil)
        sampler.answered(origin: 7, request: first)
        #expect(sampler.answeredOrigin == 7)
        #expect(sampler.written(now: at(3)) == .milliseconds(3))
        sampler.submitted(origin: 8, request: second, now: at(4))
        sampler.closed(origin: 7)
        #expect(!sampler.isIdle)
        sampler.closed(origin: 8)
        #expect(sampler.isIdle)
    }

    @Test("a rate decays, and a steady stream reaches its rate")
    func rate() {
        var rate = DecayingRate()
        for second in 0..<60 { rate.add(50, now: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)) }
        let steady = rate.perSecond(now: MonotonicInstant(nanoseconds: 59_000_000_000))
        #expect(abs(steady - 50) < 5, "\(steady)")
        #expect(rate.perSecond(now: MonotonicInstant(nanoseconds: 160_000_000_000)) < 0.01)
    }

    @Test(
        "labels are in snake case",
        arguments: [
            ("slowConsumer", "slow_consumer"), ("notTLS", "not_tls"), ("origin", "origin"),
            ("invalidUTF8", "invalid_utf8"),
        ])
    func labels(_ name: String, _ label: String) { #expect(name.snakeCased == label) }

    @Test("every error has a label of its own")
    func errorLabels() {
        let labels = SignalingError.Code.all.map(\.metricLabel)
        #expect(Set(labels).count == labels.count, "\(labels)")
    }
}
