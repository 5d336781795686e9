import SignalingCore
import Testing

@testable import SignalingSQLite

@Suite("LOG-3: numbers of commands")
struct SessionTailTests {
    private func id(_ run: UInt64, _ counter: UInt64) -> CommandID { CommandID(run: RunID(run), counter: counter) }

    @Test("LOG-3: commands get consecutive numbers, also of several runs")
    func numbers() throws {
        var tail = SessionTail(key: SessionKey(1))
        try expectEqual(tail.place(id(7, 1)), .new(number: 1))
        try expectEqual(tail.place(id(7, 2)), .new(number: 2))
        try expectEqual(tail.place(id(8, 1)), .new(number: 3))
        try expectEqual(tail.place(id(7, 3)), .new(number: 4))
    }

    @Test("LOG-3: a repeated command keeps its number")
    func repeats() throws {
        var tail = SessionTail(key: SessionKey(1))
        for id in [id(7, 1), id(7, 2), id(8, 1), id(7, 3)] { _ = try tail.place(id) }
        try expectEqual(tail.place(id(7, 1)), .repeated(number: 1))
        try expectEqual(tail.place(id(8, 1)), .repeated(number: 3))
        try expectEqual(tail.place(id(7, 3)), .repeated(number: 4))
        #expect(tail.number == 4)
    }

    @Test("LOG-3: a gap is refused, and changes nothing")
    func gap() throws {
        var tail = SessionTail(key: SessionKey(1))
        #expect(throws: RefusedCommand(reason: .gap(expected: 1))) { try tail.place(id(7, 2)) }
        _ = try tail.place(id(7, 1))
        #expect(throws: RefusedCommand(reason: .gap(expected: 2))) { try tail.place(id(7, 3)) }
        try expectEqual(tail.place(id(7, 2)), .new(number: 2))
    }

    @Test("LOG-3: a tail goes on behind a snapshot")
    func behindASnapshot() throws {
        var tail = SessionTail(key: SessionKey(1), covered: LogPosition(number: 40, id: id(7, 30)))
        try expectEqual(tail.place(id(7, 30)), .repeated(number: 40))
        try expectEqual(tail.place(id(7, 31)), .new(number: 41))
        #expect(throws: RefusedCommand(reason: .forgotten)) { try tail.place(id(7, 29)) }
        #expect(throws: RefusedCommand(reason: .forgotten)) { try tail.place(id(7, 0)) }
    }

    @Test("LOG-2: a position is the number and the id")
    func positions() throws {
        var tail = SessionTail(key: SessionKey(1))
        for id in [id(7, 1), id(7, 2), id(8, 1)] { _ = try tail.place(id) }
        #expect(tail.contains(LogPosition(number: 2, id: id(7, 2))))
        #expect(!tail.contains(LogPosition(number: 2, id: id(7, 1))))
        #expect(!tail.contains(LogPosition(number: 2, id: id(9, 2))))
        #expect(!tail.contains(LogPosition(number: 4, id: id(8, 2))))
        #expect(!tail.contains(.none))
    }
}
