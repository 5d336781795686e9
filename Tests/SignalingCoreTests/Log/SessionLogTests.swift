import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The log of a session")
struct SessionLogTests {
    @Test("G1: the log assigns the seqs 1, 2, 3, …, and encodes each event once")
    func append() {
        var log = SessionLog()
        var encoded: [Int64] = []
        for number in 1...5 as ClosedRange<Int64> {
            let entry = log.append(audience: .everyone, kind: .signal) { seq in
                encoded.append(seq.rawValue)
                return line(of: 50)
            }
            #expect(entry.seq == Seq(number))
            #expect(log.lastSeq == Seq(number))
        }
        #expect(encoded == [1, 2, 3, 4, 5])
        #expect(log.entries.map(\.seq.rawValue) == [1, 2, 3, 4, 5])
        #expect(log.byteCount == 250)
    }

    @Test("an empty log reaches back to zero and has no entries")
    func empty() {
        let log = SessionLog()
        #expect(log.lastSeq == .zero)
        #expect(log.reachesBackTo == .zero)
        #expect(log.entries(after: .zero)?.count == 0)
    }

    @Test("RES-14, G5: above the bound in events the oldest ones are dropped")
    func boundedByCount() {
        let log = filled(7, bounds: .init(eventCount: 3, byteCount: .max))
        #expect(log.entries.map(\.seq.rawValue) == [5, 6, 7])
        #expect(log.reachesBackTo == Seq(4))
        #expect(log.byteCount == 150)
    }

    @Test("RES-14, G5: above the bound in bytes the oldest events are dropped; at the bound none is")
    func boundedByBytes() {
        #expect(filled(5, bounds: .init(eventCount: 100, byteCount: 250)).entries.count == 5)
        #expect(
            filled(6, bounds: .init(eventCount: 100, byteCount: 250)).entries.map(\.seq.rawValue) == [2, 3, 4, 5, 6])
        #expect(filled(5, bounds: .init(eventCount: 100, byteCount: 249)).entries.map(\.seq.rawValue) == [2, 3, 4, 5])
    }

    @Test("the newest event is kept even if it is over the bound alone, until the next one")
    func oversized() {
        var log = filled(3, bounds: .init(eventCount: 100, byteCount: 250))
        log.append(audience: .everyone, kind: .signal) { _ in line(of: 400) }
        #expect(log.entries.map(\.seq.rawValue) == [4])
        #expect(log.byteCount == 400)
        #expect(log.reachesBackTo == Seq(3))
        log.append(audience: .everyone, kind: .signal) { _ in line(of: 50) }
        #expect(log.entries.map(\.seq.rawValue) == [5])
        #expect(log.byteCount == 50)
    }

    @Test("a bound of zero events keeps one")
    func smallestBound() {
        #expect(filled(3, bounds: .init(eventCount: 0, byteCount: 0)).entries.map(\.seq.rawValue) == [3])
    }

    @Test("G4: the log returns all events after a seq, or nil after an overrun")
    func entriesAfter() {
        let log = filled(7, bounds: .init(eventCount: 3, byteCount: .max))
        #expect(log.entries(after: Seq(7))?.map(\.seq.rawValue) == [])
        #expect(log.entries(after: Seq(6))?.map(\.seq.rawValue) == [7])
        #expect(log.entries(after: Seq(4))?.map(\.seq.rawValue) == [5, 6, 7])
        #expect(log.entries(after: Seq(3)) == nil)
        #expect(log.entries(after: .zero) == nil)
    }

    @Test("a seq of the future has no entries after it, and extreme seqs overflow nothing")
    func hostileSeq() {
        let log = filled(3, bounds: .init())
        #expect(log.entries(after: Seq(4))?.count == 0)
        #expect(log.entries(after: Seq(.max))?.count == 0)
        #expect(log.entries(after: Seq(-1)) == nil)
        #expect(log.entries(after: Seq(.min)) == nil)
    }

    private func filled(_ count: Int, bounds: SessionLog.Bounds) -> SessionLog {
        var log = SessionLog(bounds: bounds)
        for _ in 0..<count { log.append(audience: .everyone, kind: .signal) { _ in line(of: 50) } }
        return log
    }

    /// A line of exactly this many bytes.
    private func line(of byteCount: Int) -> EncodedLine {
        func line(_ data: String) -> EncodedLine {
            EncodedLine(SignalEvent(seq: nil, from: nil, type: nil, data: data), encodedSender: nil)
        }
        return line(String(repeating: "x", count: byteCount - line("").byteCount))
    }
}
