import CSQLite
import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import Synchronization
import TestSupport
import Testing
import VerificationTools

@testable import SignalingSQLite

@Suite("LOG-23: failures of the disk")
struct FailureTests {
    /// The codes with which the next steps of a statement fail.
    private final class Faults: Sendable {
        private let state = Mutex<(statement: String, code: Int32, count: Int)>(("", 0, 0))

        /// Steps of statements that contain the text fail from now on, this many times.
        func fail(_ statement: String, _ code: Int32, times: Int = .max) {
            state.withLock { $0 = (statement, code, times) }
        }

        func stop() { fail("", 0, times: 0) }

        var hook: @Sendable (String) -> Int32? {
            { [self] sql in
                state.withLock { state in
                    guard state.count > 0, sql.contains(state.statement) else { return nil }
                    state.count -= 1
                    return state.code
                }
            }
        }
    }

    @Test(
        "LOG-23: a full disk or a lock confirms nothing, and the transaction is repeated in its order",
        arguments: [SQLITE_FULL, SQLITE_BUSY], ["BEGIN IMMEDIATE", "INSERT INTO command", "COMMIT"])
    func repeats(code: Int32, statement: String) throws {
        let bench = try LogBench()
        let faults = Faults()
        let log = try bench.start { $0.injectedFault = faults.hook }
        var health: [CommandLogHealth] = []
        log.onHealthChange = { health.append($0) }
        try bench.fill(["a"])
        faults.fail(statement, code)
        try bench.append(["a", "b"])
        let expected = CommandLogFault(code == SQLITE_FULL ? .full : .locked, "")
        try bench.loop.run { health == [.stalled(expected)] }
        try bench.append(["a"])
        log.writer.signOfLifeIsDue()
        #expect(bench.observer.confirmed.count == 1)
        #expect(log.health == .stalled(expected))
        faults.stop()
        log.writer.signOfLifeIsDue()
        try bench.confirm(4)
        #expect(bench.observer.texts == ["a 1 1 ", "a 1 2 ", "b 1 1 ", "a 1 3 "])
        #expect(health == [.stalled(expected), .keeping])
        #expect(bench.lines.all.count == 2)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").count == 3)
    }

    @Test("LOG-23: while another program writes to the database, nothing is confirmed")
    func lockedByAnotherProgram() throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.fill(["a"])
        let other = try Database(path: bench.database.path, access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        try bench.append(["a"])
        try bench.loop.run { log.health == .stalled(CommandLogFault(.locked, "")) }
        #expect(bench.observer.confirmed.count == 1)
        other.rollBack()
        log.writer.signOfLifeIsDue()
        try bench.confirm(2)
        #expect(log.health == .keeping)
    }

    @Test("LOG-23: a snapshot is encoded once, also when its transaction is repeated")
    func repeatsASnapshot() throws {
        let bench = try LogBench()
        let faults = Faults()
        let log = try bench.start { $0.injectedFault = faults.hook }
        try bench.fill(["a"])
        faults.fail("COMMIT", SQLITE_FULL)
        let counter = EncodingCounter()
        log.keep(
            CommandSnapshot(session: "a", position: bench.observer.confirmed[0].position) { counter.encode() })
        try bench.loop.run { log.health != .keeping }
        faults.stop()
        log.writer.signOfLifeIsDue()
        try bench.loop.run { !bench.observer.kept.isEmpty }
        #expect(counter.count == 1)
    }

    @Test(
        "LOG-23: another error stops the log with a clear line, and nothing is confirmed any more",
        arguments: [SQLITE_IOERR | (4 << 8), SQLITE_IOERR | (3 << 8), SQLITE_CORRUPT, SQLITE_READONLY],
        ["INSERT INTO command", "COMMIT"])
    func fails(code: Int32, statement: String) throws {
        let bench = try LogBench()
        let faults = Faults()
        let log = try bench.start { $0.injectedFault = faults.hook }
        try bench.fill(["a"])
        faults.fail(statement, code, times: 1)
        try bench.append(["a"])
        try bench.loop.run { log.health != .keeping }
        let expected = CommandLogFault(code == SQLITE_CORRUPT ? .damaged : .inputOutput, "")
        #expect(log.health == .failed(expected))
        #expect(bench.lines.all.count == 1)
        #expect(bench.lines.contain(bench.database.path))
        #expect(bench.lines.contain("code \(code)"))
        try bench.append(["a"])
        #expect(throws: expected) { try log.close() }
        #expect(bench.observer.confirmed.count == 1)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").count == 1)
    }

    @Test("LOG-23: a failing fsync of a checkpoint on the other thread stops the log")
    func failingCheckpoint() throws {
        let bench = try LogBench()
        let faults = Faults()
        let log = try bench.start {
            $0.checkpointPages = 4
            $0.injectedFault = faults.hook
        }
        faults.fail("checkpoint", SQLITE_IOERR | (4 << 8))
        var count = 0
        while log.health == .keeping, count < 10_000 {
            count += 1
            try bench.append(["a"], padding: 1_000)
            try bench.loop.run { log.health != .keeping || bench.observer.confirmed.count == count }
        }
        #expect(log.health == .failed(CommandLogFault(.inputOutput, "")))
    }

    @Test("LOG-23: a stop on a full disk ends, and says that a part was not kept")
    func closesOnAFullDisk() throws {
        let bench = try LogBench()
        let faults = Faults()
        let log = try bench.start { $0.injectedFault = faults.hook }
        try bench.fill(["a"])
        faults.fail("COMMIT", SQLITE_FULL)
        try bench.append(["a"])
        #expect(throws: CommandLogFault(.full, "")) { try log.close() }
        try bench.crash()
        faults.stop()
        try bench.start()
        #expect(bench.keptEntries("a").count == 1)
    }

    @Test("LOG-23: a removed folder or file is noticed at the next sign of life", arguments: ["", "-wal", "folder"])
    func removed(file: String) throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.fill(["a"])
        let url = file == "folder" ? bench.folder : bench.file(file)
        if file == "" {
            // Another file of the same name is not the database.
            try FileManager.default.copyItem(at: url, to: bench.file(".copy"))
            try FileManager.default.removeItem(at: url)
            try FileManager.default.moveItem(at: bench.file(".copy"), to: url)
        } else {
            try FileManager.default.removeItem(at: url)
        }
        log.writer.signOfLifeIsDue()
        try bench.loop.run { log.health != .keeping }
        #expect(log.health == .failed(CommandLogFault(.removed, "")))
        #expect(bench.lines.contain("was removed or replaced"))
    }

    @Test("LOG-13: a timer causes a sign of life each second")
    func timer() throws {
        let bench = try LogBench()
        let log = try bench.start { $0.ticks = true }
        try FileManager.default.removeItem(at: bench.folder)
        try bench.loop.run { log.health != .keeping }
        #expect(log.health == .failed(CommandLogFault(.removed, "")))
    }

    @Test(
        "LOG-23: on a real disk that is full, nothing is lost, and the log goes on when there is room",
        .enabled(if: SmallDisk.isAvailable, "only root with the right to mount can make a small file system"))
    func realDisk() throws {
        let mount = try SmallDisk()
        defer { mount.unmount() }
        let folder = mount.folder.appending(path: "state")
        let bench = try LogBench(folder: folder)
        let log = try bench.start()
        let ballast = mount.folder.appending(path: "ballast")
        try Data(count: 400 << 10).write(to: ballast)
        var count = 0
        while log.health == .keeping, count < 10_000 {
            count += 1
            try bench.append(["a"], padding: 1_000)
            try bench.loop.run { log.health != .keeping || bench.observer.confirmed.count == count }
        }
        #expect(log.health == .stalled(CommandLogFault(.full, "")))
        #expect(bench.observer.confirmed.count == count - 1)
        try FileManager.default.removeItem(at: ballast)
        log.writer.signOfLifeIsDue()
        try bench.confirm(count)
        #expect(log.health == .keeping)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.position.number) == Array(1...UInt64(count)))
    }
}

/// A file system of 1 MiB in memory.
private struct SmallDisk {
    struct CannotMount: Error {}

    let folder: URL

    static var isAvailable: Bool {
        guard let disk = try? SmallDisk() else { return false }
        disk.unmount()
        return true
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        guard Self.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", folder.path) else {
            try? FileManager.default.removeItem(at: folder)
            throw CannotMount()
        }
    }

    func unmount() {
        // Lazily, since the log may still be closing its files.
        _ = Self.run("umount", "-l", folder.path)
        try? FileManager.default.removeItem(at: folder)
    }

    private static func run(_ arguments: String...) -> Bool {
        let process = try? ChildProcess(URL(filePath: "/usr/bin/env"), arguments, errors: .nullDevice)
        return process?.waitUntilExit() == .exited(0)
    }
}

private final class EncodingCounter: Sendable {
    private let encodings = Atomic<Int>(0)
    var count: Int { encodings.load(ordering: .sequentiallyConsistent) }
    func encode() -> [UInt8] {
        encodings.add(1, ordering: .sequentiallyConsistent)
        return [1, 2, 3]
    }
}
