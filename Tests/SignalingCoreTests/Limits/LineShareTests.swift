import SignalingCore
import Testing

@Suite("The lines of many clients in one turn")
struct LineShareTests {
    private let bounds = LineShare.Bounds()

    /// How many lines each of `count` clients has handled in each turn, until their queues of `length` lines are empty.
    private func turns(clients count: Int, lines length: Int) -> [[Int]] {
        var share = LineShare(bounds)
        var queues = Array(repeating: length, count: count)
        var waitingCount = 0
        var turns: [[Int]] = []
        while queues.contains(where: { $0 > 0 }) {
            let turn = UInt64(turns.count)
            let waiting = waitingCount
            turns.append(
                queues.indices.filter { queues[$0] > 0 }.map { client in
                    let allowance = share.allowance(in: turn, waitingCount: waiting)
                    let handled = min(allowance, queues[client])
                    for _ in 0..<handled { share.noteHandled() }
                    queues[client] -= handled
                    return handled
                })
            waitingCount = queues.count { $0 > 0 }
        }
        return turns
    }

    @Test("G5: a client alone has 32 lines handled in a turn")
    func alone() {
        #expect(turns(clients: 1, lines: 100) == [[32], [32], [32], [4]])
    }

    @Test("G5: many clients that flood together share the lines of a turn, and each gets at least one")
    func many() {
        let turns = turns(clients: 20, lines: 100)
        #expect(turns[0] == [32, 32] + Array(repeating: 1, count: 18))
        #expect(turns[1] == Array(repeating: 3, count: 20))
        #expect(turns.allSatisfy { $0.reduce(0, +) <= bounds.shared + 20 && !$0.contains(0) })
        #expect(turns.joined().reduce(0, +) == 2_000)
    }

    @Test("G5: with more clients than shared lines, each gets one line")
    func crowd() {
        let turns = turns(clients: 500, lines: 3)
        #expect(turns[1].allSatisfy { $0 == 1 })
        #expect(turns.joined().reduce(0, +) == 1_500)
    }
}
