import CommandSupport
import Dispatch
import FoundationEssentials
import Glibc
import SignalingServer

/// The process's terminal in raw mode: single keys, without echo. The settings are restored however the process ends,
/// except after SIGKILL.
enum RawTerminal {
    /// The settings to restore. Written once, before any signal handler that reads it is installed.
    nonisolated(unsafe) private static var saved = termios()
    /// Written by the main thread, and by a signal handler before it ends the process.
    nonisolated(unsafe) private static var isRaw = false

    /// Whether standard input and output are a terminal with cursor control.
    static var isAvailable: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !kind.isEmpty && kind != "dumb"
    }

    static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func begin() {
        guard tcgetattr(STDIN_FILENO, &saved) == 0 else { return }
        isRaw = true
        atexit { RawTerminal.end() }
        // SIGINT and SIGTERM are not here: ``Interruption`` handles them.
        for number in [SIGHUP, SIGQUIT, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                RawTerminal.end()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        var raw = saved
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        // Ctrl-Z would suspend the process and leave the terminal raw.
        withUnsafeMutableBytes(of: &raw.c_cc) {
            $0[Int(VSUSP)] = UInt8(truncatingIfNeeded: fpathconf(STDIN_FILENO, Int32(_PC_VDISABLE)))
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        // Bracketed paste: the terminal marks pasted text.
        write("\u{1B}[?2004h")
    }

    /// Restores the terminal. Safe in a signal handler, and when called twice.
    static func end() {
        guard isRaw else { return }
        isRaw = false
        // Ends bracketed paste and clears the foot.
        let bytes: StaticString = "\u{1B}[?2004l\r\u{1B}[J"
        _ = Glibc.write(STDOUT_FILENO, bytes.utf8Start, bytes.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
    }

    /// Writes text. Does nothing after ``end()``. If the terminal is gone, the end of the input says so.
    static func write(_ text: String) {
        if isRaw { _ = WholeWrite.write(text.utf8, to: STDOUT_FILENO) }
    }

    /// The bytes that the user types, read on a thread that may block. Ends with the input.
    static func input() -> AsyncStream<[UInt8]> {
        AsyncStream {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: readSome()) }
            }
        }
    }

    /// Waits for bytes; `nil` at the end of the input.
    static func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            // A signal interrupted the call; every other error ends the input.
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
