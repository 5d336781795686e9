import Foundation
import Synchronization

/// `signalbox serve` of this very program as a child process on a free port of the loopback.
final class ServerProcess: Sendable {
    private let process: Process
    /// Never written to: it ends when this process does, however it does, and the server with it.
    private let lifeline: Pipe
    let port: Int

    /// Starts it, and returns when it accepts connections.
    ///
    /// - Parameter stateFolder: where it finds and leaves its sessions.
    init(apiKey: String, apiSecret: String, stateFolder: String) throws {
        let process = Process()
        lifeline = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "serve", "--port", "0", "--log-level", "critical", "--state-dir", stateFolder, "--ends-with-input",
            // Clients send as fast as they can, and who is away for seconds misses more than is usual.
            "--signal-rate", "0", "--log-events", "65536", "--log-bytes", "33554432",
        ]
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIGNALBOX_") }
        environment["SIGNALBOX_API_KEY"] = apiKey
        environment["SIGNALBOX_API_SECRET"] = apiSecret
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = lifeline
        // The server, and those that come after it, would hold their own line.
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        self.process = process
        // It ends with a line, or with the process.
        var line = ""
        while !line.contains("\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += String(decoding: more, as: UTF8.self)
        }
        let number = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        guard let port = Int(number) else {
            process.terminate()
            throw ExitStatus.exit(ExitStatus.failed, "the server did not start: \(line)")
        }
        self.port = port
    }

    /// Sends a signal of the operating system; for one that ends it, waits until it has.
    func signal(_ number: Int32) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, number)
        if number == SIGKILL || number == SIGTERM { process.waitUntilExit() }
    }
}
