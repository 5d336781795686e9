import Foundation
import SignalingVerification

/// `signalbox serve` as a child process on a free loopback port.
final class ServerProcess: Sendable {
    /// What the server is told, for the judge of the wire.
    static let terms = WireJudge.Terms(
        resumeWindow: .seconds(60), recoveryWindow: .seconds(300), heartbeat: .seconds(10), logEventCount: 65_536,
        logByteCount: 33_554_432, tolerance: .seconds(5))

    private let process: Process
    /// The server's standard input. Nothing is written to it: it closes when this process ends in any way, and then the
    /// server ends, too.
    private let lifeline: Pipe
    let port: Int

    /// Starts the server, and returns when it accepts connections.
    ///
    /// - Parameter stateFolder: the server restores its sessions from here, and saves them here when it stops.
    /// - Throws: ``VerificationError`` when the server ends before it is ready.
    init(program: URL, apiKey: String, apiSecret: String, stateFolder: String) throws {
        let process = Process()
        lifeline = Pipe()
        process.executableURL = program
        process.arguments = [
            "serve", "--port", "0", "--log-level", "critical", "--state-dir", stateFolder, "--ends-with-input",
            // Clients send as fast as they can, and a client that is away for seconds misses more events than usual.
            "--signal-rate", "0", "--log-events", "65536", "--log-bytes", "33554432",
        ]
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIGNALBOX_") }
        environment["SIGNALBOX_API_KEY"] = apiKey
        environment["SIGNALBOX_API_SECRET"] = apiSecret
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = lifeline
        // Otherwise this server and later ones inherit the writing end, and the lifeline never closes.
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        self.process = process
        let line = Self.readLine(output.fileHandleForReading)
        let number = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        guard let port = Int(number) else {
            process.terminate()
            throw VerificationError(
                .serverNotStarted, "The server did not start: it printed \"\(line)\" instead of its ready line.")
        }
        self.port = port
    }

    /// The first line, or its beginning if the process ends before.
    private static func readLine(_ file: FileHandle) -> String {
        var text = ""
        while !text.contains("\n") {
            let more = file.availableData
            if more.isEmpty { break }
            text += String(decoding: more, as: UTF8.self)
        }
        return text.trimmingCharacters(in: .newlines)
    }

    /// Sends an operating-system signal. After SIGKILL and SIGTERM, waits for the end of the process.
    func signal(_ number: Int32) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, number)
        if number == SIGKILL || number == SIGTERM { process.waitUntilExit() }
    }
}
