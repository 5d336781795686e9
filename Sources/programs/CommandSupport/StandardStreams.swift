import Glibc
import SignalingServer

/// Where the text of others is printed, it cannot control a terminal, whatever the caller forgets.
package enum StandardOutput {
    /// Writes a line, or several, immediately, also into a pipe. Ends the program if that fails.
    package static func print(_ line: String) { write(Printable.lines(line) + "\n") }

    /// Writes encoded JSON.
    package static func print(json: String) { write(TerminalText.json(json) + "\n") }

    /// Writes the text from the top of a terminal, and clears the rest: less flicker than clearing first.
    package static func redraw(_ text: String) {
        write("\u{1B}[H" + Printable.lines(text).replacing("\n", with: "\u{1B}[K\n") + "\u{1B}[J\n")
    }

    /// Writes text as it is. Ends the program if that fails: its output is what it runs for.
    ///
    /// The end is quiet if the reader has closed the pipe, as `head` does in `signalbox listen … | head -1`.
    package static func write(_ text: String) {
        switch WholeWrite.write(text.utf8, to: STDOUT_FILENO) {
        case nil: return
        case EPIPE?: Glibc.exit(ExitStatus.outputClosed)
        case let code?:
            StandardError.print(
                "\(ExitStatus.program): standard output cannot be written: \(String(cString: strerror(code))). Redirect it to a "
                    + "file with space that you may write to.")
            Glibc.exit(ExitStatus.fileNotWritten)
        }
    }

    /// Writes a line of a server, which serves on when nobody reads its output any more.
    package static func announce(_ line: String) { _ = WholeWrite.write((line + "\n").utf8, to: STDOUT_FILENO) }
}

package enum StandardError {
    /// Writes a line, or several. A closed standard error is no reason to end.
    package static func print(_ line: String) {
        _ = WholeWrite.write((Printable.lines(line) + "\n").utf8, to: STDERR_FILENO)
    }
}

package enum StandardStreams {
    /// Makes a closed stream harmless. Call it before the program opens anything.
    package static func prepare() {
        // A closed reader is an error of `write`, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // The next file or socket would get the number of a closed stream, and lines for the user would be written to
        // it: a log line to a client, for example. `open` uses the lowest free number.
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 { _ = open("/dev/null", O_RDWR) }
    }
}
