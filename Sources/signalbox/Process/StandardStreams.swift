import Foundation
import SignalingServer

/// Where the text of others is printed, it cannot control a terminal, whatever the caller forgets.
enum StandardOutput {
    /// Writes a line, or several, immediately, also into a pipe.
    ///
    /// When the reader has closed the pipe (`signalbox listen … | head -1`), the program ends.
    static func print(_ line: String) { write(Printable.lines(line)) }

    /// Writes encoded JSON.
    static func print(json: String) { write(TerminalText.json(json)) }

    /// Writes the text from the top of a terminal, and clears the rest: less flicker than clearing first.
    static func redraw(_ text: String) {
        write("\u{1B}[H" + Printable.lines(text).replacing("\n", with: "\u{1B}[K\n") + "\u{1B}[J")
    }

    private static func write(_ line: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            Foundation.exit(ExitStatus.failed)
        }
    }
}

enum StandardError {
    /// Writes a line. A closed standard error is no reason to end.
    static func print(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((Printable.lines(line) + "\n").utf8))
    }
}
