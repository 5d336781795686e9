import Testing

@testable import SignalingServer

@Suite("What ends in an engine")
struct EngineEndsTests {
    @Test("G5: sessions and connections without a socket count when they end, and not when they begin")
    func ends() {
        var ends = EngineEnds()
        var counts: [Int] = []
        for (sessionCount, detachedCount) in [(0, 0), (100, 0), (100, 5_000), (100, 3_000), (40, 0), (40, 0), (0, 10)] {
            counts.append(ends.note(sessionCount: sessionCount, detachedCount: detachedCount))
        }
        #expect(counts == [0, 0, 0, 2_000, 3_060, 0, 40])
    }
}
