import CoreTestSupport
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("Commands that the log keeps")
struct RetentionTests {
    private static let rowByteCount = 64
    private let a = SessionKey(1)
    private let b = SessionKey(2)

    private func retention(_ rows: [SessionKey], limit: Int = 1_000_000, byteCount: Int = 0) -> Retention {
        var retention = Retention(lastPosition: 100, minimumByteCount: limit)
        retention.begin(a, id: "a")
        retention.begin(b, id: "b")
        for row in rows { retention.append(row, byteCount: byteCount) }
        return retention
    }

    @Test("LOG-20: only a prefix can be dropped, up to the first command that is needed")
    func prefix() {
        var retention = retention([a, b, a, b])
        _ = retention.keep(2, of: a, byteCount: 1)
        #expect(retention.droppable.count == 1)
        #expect(retention.droppable.last == 101)
        _ = retention.keep(1, of: b, byteCount: 1)
        #expect(retention.droppable.count == 3)
        retention.dropped(through: 102)
        #expect(retention.droppable.count == 1)
        #expect(retention.droppable.last == 103)
    }

    @Test("LOG-20: commands of an ended session pin nothing")
    func ended() {
        var retention = retention([a, b, a, b])
        retention.end(a)
        #expect(retention.droppable.count == 1)
        retention.end(b)
        #expect(retention.droppable.count == 4)
        #expect(retention.isEmpty)
    }

    @Test("LOG-9: the sessions at the front are asked first, and no more than needed")
    func asks() {
        var retention = retention([a, b, b, b], limit: 3 * 64)
        expectEqual(retention.sessionsToAsk(), ["a"])
        expectEqual(retention.sessionsToAsk(), [])
        retention.append(b, byteCount: 0)
        expectEqual(retention.sessionsToAsk(), ["b"])
    }

    @Test("LOG-9: large snapshots let the log grow before it asks again")
    func snapshotsRaiseTheLimit() {
        var retention = retention([a, b], limit: 64)
        _ = retention.keep(1, of: a, byteCount: 64)
        expectEqual(retention.sessionsToAsk(), [])
        retention.end(a)
        retention.append(b, byteCount: 0)
        expectEqual(retention.sessionsToAsk(), ["b"])
    }

    /// Otherwise a snapshot that was on its way already would be taken for the answer, and the session would pin the
    /// log for ever.
    @Test("LOG-9: a snapshot that is older than the request does not answer it")
    func olderSnapshot() {
        var retention = retention([a, a, a], limit: 0)
        expectEqual(retention.sessionsToAsk(), ["a"])
        expectEqual(retention.keep(1, of: a, byteCount: 0), false)
        expectEqual(retention.sessionsToAsk(), [])
        expectEqual(retention.keep(3, of: a, byteCount: 0), false)
        retention.append(a, byteCount: 0)
        expectEqual(retention.sessionsToAsk(), ["a"])
    }

    @Test("LOG-9: an answer that does not cover all that pins the log by now is followed by another request")
    func asksAgain() {
        var retention = retention([a], limit: 0)
        expectEqual(retention.sessionsToAsk(), ["a"])
        retention.append(a, byteCount: 0)
        expectEqual(retention.sessionsToAsk(), [])
        expectEqual(retention.keep(1, of: a, byteCount: 0), true)
        expectEqual(retention.keep(2, of: a, byteCount: 0), false)
    }

    /// Compares with a list of all commands that is searched as a whole.
    @Test("LOG-20: random histories drop what nothing needs, and every pinning session is asked", arguments: 0..<200)
    func randomHistories(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var retention = Retention(lastPosition: 0, minimumByteCount: 40 * 64)
        var rows: [(position: Int64, key: SessionKey, number: UInt64)] = []
        var covered: [SessionKey: UInt64] = [:]
        var last: [SessionKey: UInt64] = [:]
        var asked: Set<SessionKey> = []
        var nextKey: Int64 = 1
        var position: Int64 = 0
        var dropped: Int64 = 0
        for _ in 0..<600 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let key = SessionKey(nextKey)
                nextKey += 1
                retention.begin(key, id: SessionID(rawValue: "\(key.rawValue)"))
                (last[key], covered[key]) = (0, 0)
            case 1..<15:
                guard let key = last.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &random) else {
                    continue
                }
                position += 1
                last[key, default: 0] += 1
                rows.append((position, key, last[key] ?? 0))
                retention.append(key, byteCount: 0)
            case 15:
                guard let key = last.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &random) else {
                    continue
                }
                let number = UInt64.random(in: 0...(last[key] ?? 0), using: &random)
                guard number > covered[key] ?? 0 else { continue }
                if Bool.random(using: &random) {
                    _ = retention.keep(number, of: key, byteCount: 0)
                } else {
                    retention.cover(number, of: key)
                }
                covered[key] = number
                if number == last[key] { asked.remove(key) }
            case 16:
                guard let key = last.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &random) else {
                    continue
                }
                retention.end(key)
                last[key] = nil
                asked.remove(key)
            case 17:
                guard retention.droppable.count > 0 else { continue }
                dropped = Int64.random(in: dropped...retention.droppable.last, using: &random)
                retention.dropped(through: dropped)
            case _:
                for id in retention.sessionsToAsk() { asked.insert(SessionKey(Int64(id.rawValue) ?? 0)) }
                let inDatabase = rows.filter { $0.position > dropped }
                let needed = inDatabase.filter { last[$0.key] != nil && $0.number > covered[$0.key] ?? 0 }
                // Every session with a needed command before the newest 40 rows has been asked.
                if let horizon = inDatabase.dropLast(40).last?.position {
                    for row in needed where row.position <= horizon { #expect(asked.contains(row.key)) }
                }
            }
            let needed = rows.first {
                $0.position > dropped && last[$0.key] != nil && $0.number > covered[$0.key] ?? 0
            }
            #expect(retention.droppable.last == (needed?.position ?? position + 1) - 1)
            #expect(retention.lastPosition == position)
        }
    }
}
