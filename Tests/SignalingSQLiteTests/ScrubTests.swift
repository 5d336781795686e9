import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("HIS-9: commands with erased content")
struct ScrubTests {
    private let a = SessionKey(1)
    private let b = SessionKey(2)

    @Test("HIS-9: a pass is for all sessions that have asked, and the next one waits")
    func passes() {
        var passes = ScrubPasses()
        #expect(passes.beginIfDue(.seconds(0)) == nil)
        passes.note(a)
        #expect(passes.beginIfDue(.seconds(1))?.keys == [a])
        passes.note(a)
        passes.note(b)
        #expect(passes.beginIfDue(.seconds(9)) == nil, "one at a time")
        passes.note(next: nil)
        #expect(passes.beginIfDue(.seconds(5)) == nil, "not so soon after the last one has begun")
        #expect(passes.beginIfDue(.seconds(6))?.keys == [a, b])
        passes.note(next: nil)
        #expect(passes.beginIfDue(.seconds(60)) == nil && passes.takeRest() == nil)
    }

    @Test("HIS-9: at a stop the rest of a pass is done, and what has asked meanwhile")
    func rest() {
        var passes = ScrubPasses()
        passes.note(a)
        _ = passes.beginIfDue(.seconds(1))
        passes.note(next: ScrubPass(keys: [a], position: 7))
        var other = passes
        #expect(passes.takeRest()?.position == 7)
        other.note(b)
        let rest = other.takeRest()
        #expect(rest?.keys == [a, b] && rest?.position == 0)
    }

    /// Commands of two sessions, with a word that is found in a file.
    private func filled(_ bench: LogBench) throws {
        try bench.start()
        try bench.fill(["a", "b", "a", "b"], padding: 300)
    }

    private func replace(_ session: SessionID, in bench: LogBench) throws {
        let entry = try #require(bench.observer.confirmed.last { $0.session == session })
        try bench.open.keep(
            CommandSnapshot(session: session, position: entry.position, replacesErased: true) { [1, 2, 3] })
    }

    private func count(_ text: String, in bench: LogBench) -> Int {
        ["", "-wal"].reduce(0) { count, suffix in
            let bytes = (try? Data(contentsOf: bench.file(suffix))) ?? Data()
            return count + bytes.ranges(of: Data(text.utf8)).count
        }
    }

    @Test("HIS-9: a stop overwrites what snapshots have replaced, although the loop does not run any more")
    func stop() throws {
        let bench = try LogBench()
        try filled(bench)
        try replace("a", in: bench)
        try bench.stop()
        #expect(count("a 1 1 x", in: bench) == 0 && count("a 1 2 x", in: bench) == 0)
        #expect(count("b 1 1 x", in: bench) == 1, "nothing of it was erased")
    }

    @Test("HIS-9: a pass overwrites the commands of its sessions while the log goes on, and each of them once")
    func overwrites() throws {
        let bench = try LogBench()
        try filled(bench)
        try replace("a", in: bench)
        let reader = try Database(path: bench.database.path, access: .readOnly)
        func overwritten(_ session: Int) throws -> Int64 {
            try reader.integer(
                "SELECT count(*) FROM command WHERE session = \(session) AND substr(bytes, 1, 1) = x'00'")
        }
        // The pass begins when the loop has heard of the snapshot, and each of its parts waits behind other work.
        for _ in 0..<1_000 where try overwritten(1) < 2 { try bench.fill(["b"]) }
        #expect(try overwritten(1) == 2 && overwritten(2) == 0)
        try bench.crash()
        let database = try Database(path: bench.database.path, access: .readWrite)
        #expect(try CommandScrubber(database).scrub(ScrubPass(keys: [a])) == nil)
        #expect(try database.integer("SELECT total_changes()") == 0)
        #expect(try CommandScrubber(database).scrub(ScrubPass(keys: [b])) == nil)
        #expect(try database.integer("SELECT total_changes()") == 0, "no snapshot covers them")
    }
}
