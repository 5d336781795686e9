import Foundation
import Synchronization

/// A program that runs as a child of this process, in a process group of its own.
///
/// It replaces Foundation's `Process`, which reads 280 bytes for every entry of /proc/self/fd. Entries are shorter, so
/// that a process with more than about 1,300 open descriptors reads beyond its buffer, and may crash.
package final class ChildProcess: Sendable {
    /// What one of the child's standard streams is.
    package enum Stream {
        /// The stream of this process.
        case inherited
        case nullDevice
        case handle(FileHandle)
    }

    /// The program cannot be executed, with the value of `errno`.
    package struct NotStarted: Error {
        package let code: Int32
    }

    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(bySignal: Int32)
        /// The system does not tell, since this process ignores SIGCHLD.
        case unknown
    }

    package let processIdentifier: Int32
    /// nil: the process has not been reaped, so its identifier cannot mean another one.
    private let ending = Mutex<Ending?>(nil)

    /// Starts the program. Of the open descriptors, it gets those of the three streams only.
    ///
    /// - Parameter environment: nil: that of this process.
    /// - Throws: ``NotStarted``.
    package init(
        _ program: URL, _ arguments: [String], environment: [String: String]? = nil, input: Stream = .inherited,
        output: Stream = .inherited, errors: Stream = .inherited
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            switch stream {
            case .inherited: break
            case .nullDevice: posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            case .handle(let handle): posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, descriptor)
            }
        }
        guard let addCloseFrom = Self.addCloseFrom else { throw NotStarted(code: ENOSYS) }
        _ = addCloseFrom(&actions, STDERR_FILENO + 1)

        // A terminal sends SIGINT to its whole group: this process decides what its child learns of that. And it may be
        // started by a thread that blocks signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))

        let variables = environment ?? ProcessInfo.processInfo.environment
        var identifier: pid_t = 0
        let code = Self.withCStrings([program.path] + arguments) { words in
            Self.withCStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
                // A released handle closes its descriptor.
                withExtendedLifetime((input, output, errors)) {
                    posix_spawn(&identifier, program.path, &actions, &attributes, words, variables)
                }
            }
        }
        guard code == 0 else { throw NotStarted(code: code) }
        processIdentifier = identifier
    }

    deinit { _ = isRunning }

    private typealias AddCloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// `posix_spawn_file_actions_addclosefrom_np` of glibc 2.34 and later, which Swift's module of glibc hides.
    private static let addCloseFrom = dlsym(dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np")
        .map { unsafeBitCast($0, to: AddCloseFrom.self) }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    package var isRunning: Bool {
        ending.withLock { ending in
            if ending == nil { ending = Self.reap(processIdentifier) }
            return ending == nil
        }
    }

    /// - Returns: nil while the process runs.
    private static func reap(_ identifier: Int32) -> Ending? {
        var status: Int32 = 0
        let reaped = waitpid(identifier, &status, WNOHANG)
        if reaped == 0 { return nil }
        guard reaped == identifier else { return .unknown }
        // The macros WIFEXITED, WEXITSTATUS and WTERMSIG.
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(bySignal: signal)
    }

    /// Sends an operating-system signal, unless the process has ended.
    package func signal(_ number: Int32) {
        ending.withLock { ending in
            if ending == nil { kill(processIdentifier, number) }
        }
    }

    /// Blocks until the process has ended.
    @discardableResult
    package func waitUntilExit() -> Ending {
        while true {
            // Outside of the lock, and leaving the process to the one that reaps it.
            var information = siginfo_t()
            _ = waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT)
            if !isRunning, let ending = ending.withLock(\.self) { return ending }
        }
    }

    /// Ends the process as a crash does, and waits for its end.
    package func killAndWait() {
        signal(SIGKILL)
        waitUntilExit()
    }
}
