import SignalingTransport
import Testing

@Suite("Random numbers in blocks")
struct BufferedRandomnessTests {
    @Test("no number comes twice, within a block, across blocks, or from two sources")
    func numbers() {
        let sources = [BufferedRandomness(), BufferedRandomness()]
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            for source in sources { #expect(seen.insert(source.next()).inserted) }
        }
        #expect(!seen.contains(0))
    }
}
