import Testing

@testable import LoadTools

@Suite("The histogram of latencies")
struct LatencyHistogramTests {
    @Test("a percentile is at most 3.2 % above the exact value, from a microsecond to an hour")
    func precision() {
        for microseconds in [0, 1, 2, 63, 64, 65, 100, 127, 128, 1_000, 4_095, 4_096, 123_456, 3_600_000_000] as [Int64]
        {
            var histogram = LatencyHistogram()
            histogram.add(.microseconds(microseconds))
            // A longer one, so that the percentile is not simply the longest.
            histogram.add(.seconds(10_000))
            let found = histogram.percentile(50)
            #expect(found > .microseconds(microseconds), "\(microseconds)")
            #expect(found <= .microseconds(microseconds + 1 + microseconds / 32), "\(microseconds)")
        }
    }

    @Test("percentiles are nearest ranks, and the longest duration is exact")
    func ranks() {
        var histogram = LatencyHistogram()
        for milliseconds in 1...1_000 { histogram.add(.milliseconds(milliseconds)) }
        #expect(histogram.count == 1_000)
        for (percent, milliseconds) in [(50.0, 500), (90, 900), (99, 990), (99.9, 999)] {
            let found = histogram.percentile(percent)
            #expect(found >= .milliseconds(milliseconds) && found <= .milliseconds(milliseconds * 33 / 32 + 1))
        }
        #expect(histogram.percentile(100) == .milliseconds(1_000))
        #expect(histogram.longest == .milliseconds(1_000))
    }

    @Test("an empty histogram has no durations, and a negative one counts as zero")
    func edges() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(99) == .zero && histogram.octaves.isEmpty)
        histogram.add(.milliseconds(-5))
        #expect(histogram.count == 1 && histogram.percentile(99) == .zero && histogram.longest == .zero)
    }

    @Test("octaves have all durations, with the empty ones between the first and the last")
    func octaves() {
        var histogram = LatencyHistogram()
        for microseconds in [100, 100, 127, 128, 1_500] { histogram.add(.microseconds(microseconds)) }
        let octaves = histogram.octaves
        #expect(octaves.map(\.below) == [128, 256, 512, 1_024, 2_048].map { .microseconds($0) })
        #expect(octaves.map(\.count) == [3, 1, 0, 0, 1])
    }
}
