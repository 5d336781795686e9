import Dispatch
import Foundation

/// The process's terminal, key by key: no echo, no lines. It is put back however the process ends, `SIGKILL` apart.
enum RawTerminal {
    /// How it was; written once, before any handler is there that reads it.
    nonisolated(unsafe) private static var saved = termios()
    nonisolated(unsafe) private static var isRaw = false

    /// Whether a person sits on both sides, at a terminal that can be drawn on.
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
        // What ends a process without its consent; SIGINT and SIGTERM end it politely.
        for number in [SIGHUP, SIGQUIT, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                RawTerminal.end()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        var raw = saved
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        // Suspending would leave the terminal raw to the shell.
        withUnsafeMutableBytes(of: &raw.c_cc) {
            $0[Int(VSUSP)] = UInt8(truncatingIfNeeded: fpathconf(STDIN_FILENO, Int32(_PC_VDISABLE)))
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        // Pasted text is told from keys.
        write("\u{1B}[?2004h")
    }

    /// Safe in a signal handler, and when done twice.
    static func end() {
        guard isRaw else { return }
        isRaw = false
        // Paste is not marked any more; the foot is cleared.
        let bytes: StaticString = "\u{1B}[?2004l\r\u{1B}[J"
        _ = Foundation.write(STDOUT_FILENO, bytes.utf8Start, bytes.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
    }

    /// Writes nothing any more once the terminal has been put back: whatever still wants to draw then comes too late.
    static func write(_ text: String) {
        if isRaw, !text.isEmpty { FileHandle.standardOutput.write(Data(text.utf8)) }
    }

    /// What is typed, as it comes, on a thread that may wait; ends with the input.
    static func input() -> AsyncStream<[UInt8]> {
        AsyncStream {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: readSome()) }
            }
        }
    }

    private static func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            // A signal came between; anything else is the end.
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
