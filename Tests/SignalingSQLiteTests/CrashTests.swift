import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing
import VerificationTools

@testable import SignalingSQLite

@Suite("LOG-20: crashes")
struct CrashTests {
    /// `signalbox-tools command-log-writer` writes on its own, and is killed after a random number of confirmed
    /// commands. The next run continues the same database.
    @Test("LOG-20: after kill -9 the log has each confirmed command once, in order", arguments: 1...4)
    func killed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = try LogBench()
        var confirmed: [SessionID: [LogPosition]] = [:]
        for run in 1...6 as ClosedRange<UInt64> {
            let count = Int.random(in: 1..<3_000, using: &random)
            for (session, position) in try runAndKill(bench.folder, run: run, afterLines: count) {
                confirmed[session, default: []].append(position)
            }
            try bench.start(boot: BootID.current())
            #expect(bench.lines.all.isEmpty)
            for (session, positions) in confirmed { try check(bench, session, positions) }
            for session in bench.kept.sessions {
                confirmed[session.id] = all(session, confirmed[session.id] ?? [])
            }
            try bench.crash()
        }
    }

    /// Compares the kept commands with the confirmed ones: the log may have more at its end, which were committed and
    /// not confirmed yet.
    private func check(_ bench: LogBench, _ id: SessionID, _ confirmed: [LogPosition]) throws {
        let session = try #require(bench.kept.sessions.first { $0.id == id })
        #expect(confirmed.map(\.number) == Array(1...UInt64(confirmed.count)))
        let covered = session.snapshot.map { Int($0.position.number) } ?? 0
        if let snapshot = session.snapshot {
            #expect(snapshot.bytes == Array("\(snapshot.position.number)".utf8))
            #expect(confirmed[covered - 1] == snapshot.position)
        }
        #expect(session.entries.first.map { Int($0.position.number) } ?? covered + 1 == covered + 1)
        #expect(session.entries.prefix(confirmed.count - covered).map(\.position) == Array(confirmed[covered...]))
        for (one, next) in zip(session.entries, session.entries.dropFirst()) {
            #expect(next.position.number == one.position.number + 1)
            #expect(next.time >= one.time)
        }
        for entry in session.entries {
            #expect(entry.text.hasPrefix("\(id) \(entry.position.id.run.rawValue) \(entry.position.id.counter) "))
        }
    }

    /// The confirmed commands, and those behind them that the log has.
    private func all(_ session: KeptCommands.Session, _ confirmed: [LogPosition]) -> [LogPosition] {
        confirmed + session.entries.map(\.position).filter { $0.number > UInt64(confirmed.count) }
    }

    private func runAndKill(_ folder: URL, run: UInt64, afterLines count: Int) throws -> [(SessionID, LogPosition)] {
        let programs = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        let output = Pipe()
        let process = try ChildProcess(
            programs.appending(path: "signalbox-tools"), ["command-log-writer", folder.path, String(run)],
            output: .handle(output.fileHandleForWriting))
        try output.fileHandleForWriting.close()
        var text: [UInt8] = []
        var lines = 0
        var isKilled = false
        // What the program has written before it was killed stays in the pipe.
        while let piece = try output.fileHandleForReading.read(upToCount: 65_536), !piece.isEmpty {
            text += piece
            lines += piece.count { $0 == UInt8(ascii: "\n") }
            if lines >= count, !isKilled {
                process.signal(SIGKILL)
                isKilled = true
            }
        }
        process.waitUntilExit()
        #expect(isKilled, "the program ended by itself")
        return try String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map { line in
                let words = line.split(separator: " ")
                return (
                    SessionID(rawValue: String(words[0])),
                    LogPosition(
                        number: try #require(UInt64(words[1])),
                        id: CommandID(
                            run: RunID(try #require(UInt64(words[2]))), counter: try #require(UInt64(words[3]))))
                )
            }
    }
}
