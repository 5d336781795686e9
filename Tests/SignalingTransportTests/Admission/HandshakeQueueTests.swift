import Testing

@testable import SignalingTransport

@Suite("The queue of TLS handshakes")
struct HandshakeQueueTests {
    @Test("G5: one handshake begins in a turn, in the order of their greetings, and none is forgotten")
    func order() {
        var queue = HandshakeQueue()
        var begun: [UInt64] = []
        func decide(_ id: UInt64) -> Bool {
            guard case .begin(let isFirst) = queue.decide(id) else { return false }
            #expect(isFirst == begun.count.isMultiple(of: HandshakeQueue.countPerTurn))
            begun.append(id)
            return true
        }
        for id in 0..<5_000 as Range<UInt64> { #expect(decide(id) == (id < HandshakeQueue.countPerTurn)) }
        #expect(queue.count == 5_000 - HandshakeQueue.countPerTurn)
        var turnCount = 0
        while queue.count > 0 {
            queue.nextTurn()
            turnCount += 1
            while let id = queue.next() { #expect(decide(id)) }
            // One that arrives in this turn comes after the others.
            if turnCount == 10 { #expect(!decide(5_000)) }
        }
        #expect(begun.elementsEqual(0...5_000))
        #expect(turnCount == 5_000 / HandshakeQueue.countPerTurn)
    }

    @Test("connections that have closed meanwhile cost no allowance")
    func closed() {
        var queue = HandshakeQueue()
        for id in 0..<100 as Range<UInt64> { _ = queue.decide(id) }
        queue.nextTurn()
        var count = 0
        while queue.next() != nil { count += 1 }
        #expect(count == 100 - HandshakeQueue.countPerTurn && queue.count == 0)
    }
}
