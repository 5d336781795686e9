import JSONText
import SignalingProtocol

/// The report for programs. Durations are in microseconds.
extension LoadReport {
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writeVerdict(&writer)
        for setting in plan.settings {
            writer.name(escaping: String(setting.name.drop { $0 == "-" }).replacing("-u", with: "U"))
            writer.value(setting.value)
        }
        writer.member("joins", joinLatency.count)
        writer.member("joinMicroseconds", joinTime.microseconds)
        writer.member("sent", figures.sent)
        writer.member("acknowledged", figures.acknowledged)
        writer.member("failed", figures.refusedCount)
        writer.member("unanswered", figures.unansweredCount)
        writer.member("deliveries", figures.deliveries)
        writer.member("expectedDeliveries", expectedDeliveries)
        writer.member("reconnects", figures.reconnects)
        writer.member("disconnects", figures.disconnects)
        write("joinLatency", joinLatency, &writer)
        write("acknowledgementLatency", figures.acknowledgementLatency, &writer)
        write("deliveryLatency", figures.deliveryLatency, &writer)
        write("lateness", figures.lateness, &writer)
        writer.member("measuredMicroseconds", measuredTime.microseconds)
        writer.member("ownCPUMicroseconds", ownCPU.microseconds)
        writeServer(&writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func writeVerdict(_ writer: inout JSONWriter) {
        var reasons: [String] = []
        switch verdict {
        case .carried: writer.member("verdict", "carried")
        case .notCarried(let why):
            writer.member("verdict", "notCarried")
            reasons = why
        case .unknown(let why):
            writer.member("verdict", "unknown")
            reasons = [why]
        case .interrupted: writer.member("verdict", "interrupted")
        }
        writer.name("reasons")
        writer.beginArray()
        for reason in reasons { writer.value(reason) }
        writer.endArray()
    }

    private func writeServer(_ writer: inout JSONWriter) {
        guard let serverCPU, let usageAfter else { return }
        writer.name("server")
        writer.beginObject()
        writer.member("cpuMicroseconds", serverCPU.microseconds)
        if let each = serverCPUPerDelivery { writer.member("cpuNanosecondsPerDelivery", each.wholeNanoseconds) }
        if let each = serverCPUPerJoin { writer.member("cpuNanosecondsPerJoin", each.wholeNanoseconds) }
        if let each = serverBytesPerConnection { writer.member("bytesPerConnection", each) }
        if let usageAfterJoins { writer.member("residentBytesAfterJoins", usageAfterJoins.residentByteCount) }
        writer.member("residentBytes", usageAfter.residentByteCount)
        writer.member("openDescriptors", usageAfter.openDescriptorCount)
        writer.endObject()
    }

    private func write(_ name: StaticString, _ histogram: LatencyHistogram, _ writer: inout JSONWriter) {
        writer.name(name)
        writer.beginObject()
        writer.member("count", histogram.count)
        for (key, percent) in [("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)] as [(StaticString, Double)] {
            writer.member(key, histogram.percentile(percent).microseconds)
        }
        writer.member("max", histogram.longest.microseconds)
        writer.name("below")
        writer.beginArray()
        for octave in histogram.octaves {
            writer.beginObject()
            writer.member("microseconds", octave.below.microseconds)
            writer.member("count", octave.count)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { wholeNanoseconds / 1_000 }
}
