import CoreTestSupport
import DequeModule
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("LOG-22: transactions")
struct WorkBatchTests {
    private let key = SessionKey(1)

    private func command(_ byteCount: Int = 1) -> LogWork {
        let position = LogPosition(number: 1, id: CommandID(run: RunID(1), counter: 1))
        return .append(
            key,
            CommandEntry(
                session: "a", position: position, time: .seconds(0), bytes: [UInt8](repeating: 0, count: byteCount)))
    }

    private var snapshot: LogWork {
        .keep(key, PendingSnapshot(CommandSnapshot(session: "a", position: .none) { [] }))
    }

    /// The sizes of the transactions into which the work is split.
    private func batches(_ work: [LogWork]) -> [Int] {
        var queue = Deque(work)
        var sizes: [Int] = []
        while !queue.isEmpty {
            var batch = WorkBatch()
            batch.take(from: &queue)
            sizes.append(batch.work.count)
        }
        return sizes
    }

    @Test("LOG-22: a transaction has at most 1,000 commands")
    func commandLimit() {
        #expect(batches(Array(repeating: command(), count: 2_500)) == [1_000, 1_000, 500])
    }

    @Test("LOG-22: a transaction has at most 1 MiB, or one larger command")
    func byteLimit() {
        let half = 1 << 19
        #expect(batches([command(half), command(half), command(1), command(3 << 20), command(1)]) == [2, 1, 1, 1])
    }

    @Test("A step that refers to earlier commands waits until they are committed")
    func stepsBehindCommands() {
        #expect(batches([.begin(key, "a"), command(), .end(key), .begin(key, "a"), command()]) == [2, 3])
        #expect(batches([command(), .cover(key, "a", through: .none), command()]) == [1, 2])
        #expect(batches([command(), snapshot, snapshot, command()]) == [1, 1, 1, 1])
    }
}
