import Foundation
import Testing
import VerificationTools

@Suite("A child process")
struct ChildProcessTests {
    private static let shell = URL(filePath: "/bin/sh")

    @Test("a child of a process with more than 1,300 descriptors gets its three streams only")
    func descriptors() throws {
        let open = (0..<1_400).map { _ in dup(STDERR_FILENO) }
        defer { for descriptor in open { close(descriptor) } }
        try #require(open.allSatisfy { $0 > STDERR_FILENO }, "this process may open too few descriptors")
        // Afterwards the descriptor of the listing itself is closed.
        let list = "for each in /proc/self/fd/*; do if [ -e $each ]; then echo ${each##*/}; fi; done"
        #expect(try output(of: list) == "0\n1\n2\n")
    }

    @Test("a child has its environment, or that of this process")
    func environment() throws {
        #expect(try output(of: "echo $WORD", environment: ["WORD": "a word"]) == "a word\n")
        #expect(try output(of: "echo $HOME") == "\(ProcessInfo.processInfo.environment["HOME"] ?? "")\n")
    }

    @Test("a child ends with a status or by a signal; afterwards signals do nothing")
    func ending() throws {
        let one = try ChildProcess(Self.shell, ["-c", "exit 3"])
        #expect(one.waitUntilExit() == .exited(3))
        one.signal(SIGKILL)
        #expect(!one.isRunning && one.waitUntilExit() == .exited(3))
        let pipe = Pipe()
        let other = try ChildProcess(Self.shell, ["-c", "read line"], input: .handle(pipe.fileHandleForReading))
        other.killAndWait()
        // A pipe that is released before ends the child's input.
        withExtendedLifetime(pipe) {}
        #expect(other.waitUntilExit() == .killed(bySignal: SIGKILL))
    }

    @Test("a program that does not exist is an error with its errno")
    func missing() {
        let error = #expect(throws: ChildProcess.NotStarted.self) {
            try ChildProcess(URL(filePath: "/nowhere/program"), [])
        }
        #expect(error?.code == ENOENT)
    }

    private func output(of script: String, environment: [String: String]? = nil) throws -> String {
        let pipe = Pipe()
        let child = try ChildProcess(
            Self.shell, ["-c", script], environment: environment,
            output: .handle(pipe.fileHandleForWriting))
        try pipe.fileHandleForWriting.close()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        #expect(child.waitUntilExit() == .exited(0))
        return String(decoding: data, as: UTF8.self)
    }
}
