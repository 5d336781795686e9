import SignalingProtocol
import Testing

@testable import LoadTools

@Suite("The verdict on a load")
struct LoadReportTests {
    private let plan = LoadPlan(
        rooms: 1, members: 2, rate: 1, bytes: 128, seconds: 1, warmUpSeconds: 0, limitMilliseconds: 100)

    /// A report of one signal that took this long, unless the figures are changed.
    private func report(
        _ latency: Duration = .milliseconds(2), lateness: Duration = .zero,
        _ change: (inout LoadRecord.Figures) -> Void = { _ in }
    ) -> LoadReport {
        var report = LoadReport(plan: plan)
        report.figures.sent = 1
        report.figures.acknowledged = 1
        report.figures.deliveries = 2
        for _ in 0..<2 { report.figures.deliveryLatency.add(latency) }
        report.figures.lateness.add(lateness)
        change(&report.figures)
        return report
    }

    @Test("a load is carried if everything arrived in time")
    func carried() {
        #expect(report().verdict == .carried)
        #expect(report(.milliseconds(100)).verdict == .carried)
    }

    @Test("each fault is a reason")
    func faults() {
        let faults: [(LoadReport, String)] = [
            (report(.milliseconds(101)), "1 % of the deliveries took more than"),
            (report { $0.deliveries = 1 }, "1 deliveries had not arrived"),
            (report { $0.sent = 3 }, "2 signals had no answer"),
            (report { $0.reconnects = 1 }, "Members had to reconnect 1 times"),
            (report { $0.disconnects = 1_000 }, "1,000 members lost their connection"),
            (
                report {
                    $0.sent = 2
                    $0.refused = ["429 slow down": 1]
                }, "1 signals failed: 429 slow down"
            ),
        ]
        for (report, text) in faults {
            guard case .notCarried(let reasons) = report.verdict else {
                Issue.record("\(report.verdict) instead of: \(text)")
                continue
            }
            #expect(reasons.count == 1 && reasons[0].hasPrefix(text), "\(reasons)")
            #expect(!report.isGood && report.text.hasPrefix("The server did not carry the load."))
        }
    }

    @Test("a program that sent late does not blame the server")
    func lateProgram() {
        guard case .unknown = report(.milliseconds(200), lateness: .milliseconds(150)).verdict else {
            Issue.record("a verdict on the server")
            return
        }
        // Lateness that the limit permits does not matter.
        #expect(report(.milliseconds(90), lateness: .milliseconds(80)).verdict == .carried)
    }

    @Test("processor time and memory are divided by deliveries, joins and connections")
    func usage() throws {
        func usage(_ seconds: Double, _ bytes: Int) throws -> ServerUsage {
            try #require(
                ServerUsage(
                    metrics: """
                        # TYPE process_cpu_seconds_total counter
                        process_cpu_seconds_total \(seconds)
                        process_resident_memory_bytes \(bytes)
                        process_open_fds 9
                        """))
        }
        var report = report()
        #expect(report.serverCPUPerDelivery == nil && report.serverBytesPerConnection == nil)
        for _ in 0..<500 { report.joinLatency.add(.milliseconds(1)) }
        report.usageAtStart = try usage(1, 1_000)
        report.usageAfterJoins = try usage(1.5, 2_001_000)
        report.usageBefore = try usage(2, 9_000)
        report.usageAfter = try usage(2.001, 10_000)
        #expect(report.serverCPUPerJoin == .milliseconds(1))
        #expect(report.serverBytesPerConnection == 4_000)
        let each = try #require(report.serverCPUPerDelivery)
        #expect(each > .microseconds(499) && each < .microseconds(501))
        #expect(ServerUsage(metrics: "process_cpu_seconds_total 1\n") == nil)
    }

    @Test("numbers are readable")
    func numbers() {
        #expect(grouped(1_234_567) == "1,234,567" && grouped(-1_000) == "-1,000" && grouped(999) == "999")
        #expect(readable(.microseconds(12)) == "12 µs" && readable(.microseconds(1_250)) == "1.3 ms")
        #expect(readable(.milliseconds(12_000)) == "12 s" && decimal(0.05) == "0.1" && decimal(1_234.4) == "1,234")
    }
}
