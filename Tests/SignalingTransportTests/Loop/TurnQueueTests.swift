import Testing

@testable import SignalingTransport

@Suite("Work that waits for a later turn of the loop")
struct TurnQueueTests {
    @Test("G5: so many begin in a turn, in their order, and none is forgotten", arguments: [1, 8])
    func order(countPerTurn: Int) {
        var queue = TurnQueue<Int>(countPerTurn: countPerTurn)
        var begun: [Int] = []
        func decide(_ element: Int, in turn: UInt64) -> Bool {
            guard queue.admits(element, in: turn) else { return false }
            begun.append(element)
            return true
        }
        for element in 0..<4_000 { #expect(decide(element, in: 1) == (element < countPerTurn)) }
        #expect(queue.count == 4_000 - countPerTurn)
        var turn: UInt64 = 1
        while queue.count > 0 {
            turn += 1
            // One that arrives before the others had their turn comes after them.
            if turn == 10 { #expect(!decide(4_000, in: turn)) }
            queue.begin(turn)
            while let element = queue.next() { #expect(decide(element, in: turn)) }
            #expect(begun.count <= Int(turn) * countPerTurn)
        }
        #expect(begun.elementsEqual(0...4_000))
        #expect(turn == UInt64(4_001 / countPerTurn) + (countPerTurn == 1 ? 0 : 1))
    }

    @Test("a new turn gives a new allowance when nothing waits")
    func quiet() {
        var queue = TurnQueue<Int>(countPerTurn: 2)
        var admitted: [Bool] = []
        for turn in 1...10 as ClosedRange<UInt64> {
            for element in 1...2 { admitted.append(queue.admits(element, in: turn)) }
        }
        #expect(admitted.count == 20 && !admitted.contains(false) && queue.count == 0)
        let isAdmitted = queue.admits(3, in: 10)
        #expect(!isAdmitted && queue.count == 1)
    }

    @Test("elements that have become needless cost no allowance")
    func needless() {
        var queue = TurnQueue<Int>(countPerTurn: 1)
        for element in 0..<100 { _ = queue.admits(element, in: 1) }
        queue.begin(2)
        var count = 0
        while queue.next() != nil { count += 1 }
        #expect(count == 99 && queue.count == 0)
    }
}
