import Foundation

enum StandardOutput {
    /// Writes a line immediately, also into a pipe.
    ///
    /// When the reader has closed the pipe (`signalbox listen … | head -1`), the program ends.
    static func print(_ line: String) {
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
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
