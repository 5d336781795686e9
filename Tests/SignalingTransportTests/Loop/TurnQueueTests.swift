import Testing

@testable import SignalingTransport

@Suite("Work that waits for a later turn of the loop")
struct TurnQueueTests {
    @Test("G5: so many begin in a turn, in their order, and none is forgotten", arguments: [1, 8])
    func order(countPerTurn: Int) {
        var queue = TurnQueue<String, Int>(countPerTurn: countPerTurn)
        var begun: [Int] = []
        func decide(_ element: Int, in turn: UInt64) -> Bool {
            guard queue.admits(element, of: "one", in: turn) else { return false }
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
        var queue = TurnQueue<String, Int>(countPerTurn: 2)
        var admitted: [Bool] = []
        for turn in 1...10 as ClosedRange<UInt64> {
            for element in 1...2 { admitted.append(queue.admits(element, of: "one", in: turn)) }
        }
        #expect(admitted.count == 20 && !admitted.contains(false) && queue.count == 0)
        let isAdmitted = queue.admits(3, of: "one", in: 10)
        #expect(!isAdmitted && queue.count == 1)
    }

    @Test("elements that have become needless cost no allowance")
    func needless() {
        var queue = TurnQueue<String, Int>(countPerTurn: 1)
        for element in 0..<100 { _ = queue.admits(element, of: "one", in: 1) }
        queue.begin(2)
        var count = 0
        while queue.next() != nil { count += 1 }
        #expect(count == 99 && queue.count == 0)
    }

    @Test("G5: sources take turns: thousands of pieces of one delay the piece of another by one", arguments: [1, 8])
    func fairness(countPerTurn: Int) {
        var queue = TurnQueue<String, Int>(countPerTurn: countPerTurn)
        for element in 0..<2_000 { _ = queue.admits(element, of: "flood", in: 1) }
        let isAdmitted = queue.admits(9_000, of: "newcomer", in: 1)
        #expect(!isAdmitted)
        var waited = 0
        search: for turn in 2...3_000 as ClosedRange<UInt64> {
            queue.begin(turn)
            while let element = queue.next() {
                if element == 9_000 { break search }
                waited += 1
                let source = element < 2_000 ? "flood" : "newcomer"
                let isAdmitted = queue.admits(element, of: source, in: turn)
                #expect(isAdmitted)
            }
        }
        #expect(waited == 1)
    }

    @Test("G5: each of several sources gets as many turns, in the order of its own elements")
    func shares() {
        var queue = TurnQueue<String, Int>(countPerTurn: 1)
        _ = queue.admits(-1, of: "first", in: 1)
        let sources = ["a", "b", "c"]
        for element in 0..<300 { _ = queue.admits(element, of: sources[element / 100], in: 1) }
        var begun: [Int] = []
        var turn: UInt64 = 1
        while queue.count > 0 {
            turn += 1
            queue.begin(turn)
            while let element = queue.next() {
                begun.append(element)
                let isAdmitted = queue.admits(element, of: sources[element / 100], in: turn)
                #expect(isAdmitted)
            }
        }
        #expect(begun == (0..<300).map { ($0 % 3) * 100 + $0 / 3 })
    }
}
