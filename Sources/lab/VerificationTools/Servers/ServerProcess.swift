import Foundation
import Synchronization

/// `signalbox serve` as a child process on a loopback port.
final class ServerProcess: Sendable {
    /// What a server process needs to start.
    struct Launch: Sendable {
        var program: URL
        /// The program of a server that replaces another; nil: the same.
        var upgrade: URL?
        /// 0: a free port.
        var port: Int
        var apiKey: String
        var apiSecret: String
        var terms: ServerTerms
        /// The server keeps its sessions here, unless it keeps them in Redis.
        var folder: URL
        /// The address of Redis; nil: the sessions are in the folder, or in memory.
        var redis: String?
        /// Whether the run is over: then a server that is about to start gives up.
        var isOver: @Sendable () -> Bool = { false }
    }

    /// Longer than a server needs on a busy machine.
    private static let startTime = Duration.seconds(60)
    private static let stopTime = Duration.seconds(30)

    private let process: ChildProcess
    /// The server's standard input. Nothing is written to it: it closes when this process ends in any way, and then the
    /// server ends, too.
    private let lifeline: Pipe
    private let isExpectedToEnd = Atomic(false)
    let port: Int
    /// The number of descriptors when the server was ready.
    let descriptorCountAtStart: Int

    /// Starts the server, and returns when it accepts connections.
    ///
    /// - Throws: ``VerificationError`` when the server ends before it is ready, or is not ready in time;
    ///   `CancellationError` when the run is over.
    init(_ launch: Launch) throws {
        lifeline = Pipe()
        var arguments =
            [
                "serve", "--port", "\(launch.port)", "--log-level", "critical", "--ends-with-input",
            ] + launch.terms.arguments
        if launch.terms.isDurable, launch.redis == nil {
            arguments += ["--state-dir", Self.stateFolder(in: launch.folder).path]
        }
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIGNALBOX_") }
        environment["SIGNALBOX_API_KEY"] = launch.apiKey
        environment["SIGNALBOX_API_SECRET"] = launch.apiSecret
        environment["SIGNALBOX_REDIS"] = launch.redis
        environment.merge(launch.terms.environment) { _, new in new }
        let output = Pipe()
        let errors = launch.folder.appending(path: "errors-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        let errorFile = try? FileHandle(forWritingTo: errors)
        do {
            process = try ChildProcess(
                launch.program, arguments, environment: environment,
                input: .handle(lifeline.fileHandleForReading), output: .handle(output.fileHandleForWriting),
                errors: errorFile.map { .handle($0) } ?? .inherited)
        } catch {
            throw VerificationError(
                .serverNotStarted,
                "The server did not start: \(launch.program.path) cannot be executed. Check the path and permissions.")
        }
        // The server has the only ones, so that each side sees when the other one ends.
        try? output.fileHandleForWriting.close()
        try? lifeline.fileHandleForReading.close()
        let line = Self.readLine(output.fileHandleForReading.fileDescriptor, isOver: launch.isOver)
        let number = line?.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        guard let port = Int(number) else {
            process.killAndWait()
            if launch.isOver() { throw CancellationError() }
            let silence =
                line == nil
                ? "it printed no ready line within \(Self.startTime.components.seconds) s."
                : "it ended without a ready line."
            let reason = Self.lastLine(errors) ?? line.flatMap { $0.isEmpty ? nil : $0 } ?? silence
            throw VerificationError(.serverNotStarted, "The server did not start: \(reason)")
        }
        self.port = port
        // The server may print more, and has to find a reader until its end.
        Thread.detachNewThread { [rest = output.fileHandleForReading] in
            while let bytes = try? rest.read(upToCount: 4_096), !bytes.isEmpty {}
        }
        descriptorCountAtStart = Self.descriptorCount(process.processIdentifier) ?? 0
    }

    /// The first line, or its beginning if the process ends before.
    ///
    /// - Returns: nil if there is no line in time, or the run is over.
    private static func readLine(_ descriptor: Int32, isOver: () -> Bool) -> String? {
        let deadline = ContinuousClock.now + startTime
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var bytes: [UInt8] = []
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !bytes.contains(UInt8(ascii: "\n")) {
            if isOver() || ContinuousClock.now > deadline { return nil }
            guard poll(&watched, 1, 100) > 0 else { continue }
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline })
    }

    private static func lastLine(_ file: URL) -> String? {
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n")
        return lines?.last.map { $0.hasPrefix("signalbox: ") ? String($0.dropFirst(11)) : String($0) }
    }

    /// Where a server keeps its sessions, in the folder of its launch.
    static func stateFolder(in folder: URL) -> URL { folder.appending(path: "state") }

    var isRunning: Bool { process.isRunning }

    /// The server has a reason to end by itself.
    func mayEnd() { isExpectedToEnd.store(true, ordering: .relaxed) }

    /// Whether the server has ended although nobody stopped it.
    var hasFailed: Bool { !process.isRunning && !isExpectedToEnd.load(ordering: .relaxed) }

    /// Sends an operating-system signal. After SIGKILL and SIGTERM, waits for the end of the process.
    ///
    /// - Returns: false if the server did not stop in time and was killed.
    @discardableResult
    func signal(_ number: Int32) async -> Bool {
        guard process.isRunning else { return true }
        let isEnd = number == SIGKILL || number == SIGTERM
        if isEnd { isExpectedToEnd.store(true, ordering: .relaxed) }
        process.signal(number)
        guard isEnd else { return true }
        let deadline = ContinuousClock.now + Self.stopTime
        while process.isRunning, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
        guard process.isRunning else { return true }
        killNow()
        return false
    }

    /// Kills the server without waiting for its clients, for the end of a run.
    func killNow() {
        isExpectedToEnd.store(true, ordering: .relaxed)
        process.killAndWait()
    }

    // MARK: - Resources, from /proc

    /// The number of open descriptors; nil where the system has no /proc.
    var descriptorCount: Int? { Self.descriptorCount(process.processIdentifier) }

    private static func descriptorCount(_ pid: Int32) -> Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd"))?.count
    }

    /// The resident memory in bytes; nil where the system has no /proc.
    var residentByteCount: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8) else {
            return nil
        }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}

/// The server that runs now. ``start()`` replaces it, if the plan says so by one of another program.
final class RestartableServer: Sendable {
    private let launch: ServerProcess.Launch
    private let current = Mutex<ServerProcess?>(nil)
    /// Held while a server starts, so that none can start after ``stopForGood()``.
    private let isOver = Mutex(false)

    init(_ launch: ServerProcess.Launch) { self.launch = launch }

    var process: ServerProcess? { current.withLock(\.self) }
    /// Whether the server runs, and is not suspended for long.
    var serves: Bool { !isSuspended.load(ordering: .relaxed) && process?.isRunning == true }
    let isSuspended = Atomic(false)
    var port: Int { process?.port ?? 0 }

    func start() throws {
        try isOver.withLock { isOver in
            if isOver { throw CancellationError() }
            var launch = launch
            if process != nil { launch.program = launch.upgrade ?? launch.program }
            let started = try ServerProcess(launch)
            current.withLock { $0 = started }
        }
    }

    /// Kills the server. No other one starts after this.
    func stopForGood() {
        isOver.withLock { isOver in
            isOver = true
            process?.killNow()
        }
    }
}
