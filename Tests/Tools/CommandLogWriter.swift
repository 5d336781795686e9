import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import SignalingSQLite
import TestSupport

/// `command-log-writer FOLDER RUN` appends commands to the log in a folder until it is killed, and prints each one that was confirmed:
/// `session number run counter`. The crash tests start it.
enum CommandLogWriter {
    static func run(folder: String, run: UInt64) throws {
        let loop = TestLoop()
        let (log, kept) = try SQLiteCommandLog.open(
            folder: folder, now: { now() },
            wallTime: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)),
            logger: Logger(label: "writer"), post: loop.post)
        let sender = Sender(log: log, run: RunID(run))
        log.observer = sender
        try withExtendedLifetime(kept) {
            while true {
                sender.append()
                try loop.runNext()
            }
        }
    }

    static func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds))
    }
}

/// Appends batches of random sizes to a few sessions, keeps snapshots, and ends sessions.
private final class Sender: CommandLogObserver {
    private let log: SQLiteCommandLog
    private let run: RunID
    private var counters: [SessionID: UInt64] = [:]

    init(log: SQLiteCommandLog, run: RunID) {
        self.log = log
        self.run = run
    }

    func append() {
        guard log.inFlightByteCount < 1 << 20 else { return }
        let commands = (0..<Int.random(in: 1...20)).map { _ in
            let session = SessionID(rawValue: "session-\(Int.random(in: 0..<5))")
            let counter = counters[session, default: 0] + 1
            counters[session] = counter
            let text = "\(session) \(run.rawValue) \(counter) "
            let padding = [UInt8](repeating: 120, count: Int.random(in: 0..<600))
            return CommandAppend(
                session: session, id: CommandID(run: run, counter: counter), bytes: Array(text.utf8) + padding)
        }
        log.append(commands, now: CommandLogWriter.now())
    }

    func log(confirmed entries: [CommandEntry]) {
        var lines = ""
        for entry in entries {
            let id = entry.position.id
            lines += "\(entry.session) \(entry.position.number) \(id.run.rawValue) \(id.counter)\n"
        }
        FileHandle.standardOutput.write(Data(lines.utf8))
        guard let last = entries.last, last.position.number % 50 == 0 else { return }
        let text = "\(last.position.number)"
        log.keep(CommandSnapshot(session: last.session, position: last.position) { Array(text.utf8) })
    }

    func log(needsSnapshotsOf sessions: [SessionID]) {}
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {}
}
