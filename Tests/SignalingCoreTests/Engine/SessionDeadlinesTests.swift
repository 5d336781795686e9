import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The deadlines of sessions")
struct SessionDeadlinesTests {
    @Test("G5: deadlines of sessions that have ended keep no memory")
    func ended() {
        var deadlines = SessionDeadlines()
        let sessions = (0..<10_000).map { SessionID("\($0)") }
        for session in sessions { deadlines.schedule(session, at: .seconds(10)) }
        for session in sessions { deadlines.remove(session) }
        #expect(deadlines.entryCount <= 64)
        #expect(deadlines.popDue(by: .seconds(10)) == nil)
    }

    @Test("G5: a deadline that moves earlier again and again keeps one entry, or a few")
    func earlier() {
        var deadlines = SessionDeadlines()
        for second in 0..<10_000 { deadlines.schedule(room, at: .seconds(20_000 - Double(second))) }
        #expect(deadlines.entryCount <= 66)
        #expect(deadlines.popDue(by: .seconds(10_000)) == nil)
        #expect(deadlines.popDue(by: .seconds(10_001)) == room)
        #expect(deadlines.popDue(by: .seconds(20_000)) == nil)
    }

    @Test("each session is due once, at its earliest deadline, in the order of the deadlines", arguments: 1...20)
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var deadlines = SessionDeadlines()
        var expected: [SessionID: Int] = [:]
        for _ in 0..<2_000 {
            let session = SessionID("\(Int.random(in: 0..<300, using: &random))")
            if Int.random(in: 0..<4, using: &random) == 0 {
                deadlines.remove(session)
                expected[session] = nil
            } else {
                let second = Int.random(in: 0..<1_000, using: &random)
                deadlines.schedule(session, at: .seconds(Double(second)))
                expected[session] = min(expected[session] ?? .max, second)
            }
        }
        for second in 0..<1_000 {
            var due: Set<SessionID> = []
            while let session = deadlines.popDue(by: .seconds(Double(second))) { due.insert(session) }
            #expect(due == Set(expected.filter { $0.value == second }.keys))
        }
    }
}
