import Foundation
import Synchronization

/// `redis-server` as a child process on a loopback port, with its data in a folder.
final class RedisProcess: Sendable {
    private static let program = "redis-server"
    private static let startTime = Duration.seconds(20)

    let port: Int
    private let folder: URL
    private let arguments: [String]
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts Redis, and returns when it answers.
    ///
    /// - Parameters:
    ///   - name: of its folder in the given one.
    ///   - replicating: the port of the primary of a replica.
    /// - Throws: ``VerificationError`` when it does not start.
    convenience init(folder: URL, name: String = "redis", replicating primary: Int? = nil) throws {
        try self.init(folder: folder, name: name) { port, folder in
            // Debian's default would be snapshots only. An append-only file is what docs/SCALING.md asks for.
            [
                Self.program, "--bind", "127.0.0.1", "--port", "\(port)", "--dir", folder.path, "--save", "",
                "--appendonly", "yes", "--appendfsync", "everysec", "--daemonize", "no", "--logfile", "redis.log",
                "--repl-diskless-sync-delay", "0",
            ] + (primary.map { ["--replicaof", "127.0.0.1 \($0)"] } ?? [])
        }
    }

    /// Starts a Sentinel of a primary, and returns when it answers.
    convenience init(folder: URL, name: String, watching primary: Int, settings: [String]) throws {
        try self.init(folder: folder, name: name) { port, folder in
            let file = folder.appending(path: "sentinel.conf")
            let lines = ["port \(port)", "bind 127.0.0.1", "dir \(folder.path)", "logfile sentinel.log"] + settings
            do { try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file) } catch {
                throw Self.failure("its file \(file.path) cannot be written.")
            }
            return [Self.program, file.path, "--sentinel"]
        }
    }

    private init(folder: URL, name: String, _ arguments: (_ port: Int, _ folder: URL) throws -> [String]) throws {
        guard let port = Self.freePort() else { throw Self.failure("no loopback port is free.") }
        self.port = port
        self.folder = folder.appending(path: name)
        do { try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true) } catch {
            throw Self.failure("its folder \(self.folder.path) cannot be created.")
        }
        self.arguments = try arguments(port, self.folder)
        try start()
    }

    /// Starts Redis with the data that the last process has left.
    func start() throws {
        let process: ChildProcess
        do {
            process = try ChildProcess(
                URL(filePath: "/usr/bin/env"), arguments, input: .nullDevice, output: .nullDevice, errors: .nullDevice)
        } catch { throw Self.failure("\(Self.program) cannot be executed.") }
        self.process.withLock { $0 = process }
        let deadline = ContinuousClock.now + Self.startTime
        while ContinuousClock.now < deadline {
            if RawConnection(port: port, patience: 1).map({ Self.answers($0) }) == true { return }
            guard process.isRunning else { break }
            Thread.sleep(forTimeInterval: 0.02)
        }
        kill()
        throw Self.failure(
            "\(Self.program) did not start. Install it (Debian: apt-get install redis-server), or name a Redis with "
                + "--redis.")
    }

    /// The file to which Redis appends each command, a second before it is on the disk.
    private var appendedFile: URL? {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return files?.filter { $0.lastPathComponent.hasSuffix(".incr.aof") || $0.lastPathComponent == "appendonly.aof" }
            .max { $0.lastPathComponent < $1.lastPathComponent }
    }

    var writtenByteCount: UInt64? {
        guard let file = appendedFile else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? NSNumber)?.uint64Value
    }

    /// Takes the end of the file from a Redis that has been killed.
    func truncate(to byteCount: UInt64) throws {
        guard let file = appendedFile else { return }
        try FileHandle(forWritingTo: file).truncate(atOffset: byteCount)
    }

    func kill() {
        process.withLock { process in
            process?.killAndWait()
            process = nil
        }
    }

    /// Whether Redis has read its data and accepts commands.
    private static func answers(_ connection: RawConnection) -> Bool {
        defer { connection.close() }
        return connection.send(Array("PING\r\n".utf8)) && connection.receiveLine()?.hasPrefix("+PONG") == true
    }

    private static func freePort() -> Int? {
        // Its listener closes at once, and Redis takes the port.
        guard let relay = try? NetworkRelay(to: 1) else { return nil }
        relay.stop()
        return relay.port
    }

    private static func failure(_ reason: String) -> VerificationError {
        VerificationError(.serverNotStarted, "Redis did not start: \(reason)")
    }
}
