import Foundation

enum StandardOutput {
    /// Writes a line immediately, also into a pipe.
    static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

enum StandardError {
    static func print(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
