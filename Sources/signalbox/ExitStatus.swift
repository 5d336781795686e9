import ArgumentParser
import Foundation
import SignalingProtocol

/// How the program ends, and the one line on standard error that goes with it.
struct ExitStatus {
    /// It did not work.
    static let failed: Int32 = 1
    /// The command line makes no sense (`EX_USAGE`).
    static let usage: Int32 = 64
    /// The server cannot be reached (`EX_UNAVAILABLE`).
    static let unreachable: Int32 = 69
    /// The server does not permit it (`EX_NOPERM`).
    static let notPermitted: Int32 = 77

    /// Prints why, and gives the error that ends the program with that status.
    static func exit(_ status: Int32, _ message: String) -> ExitCode {
        StandardError.print("signalbox: \(message)")
        return ExitCode(status)
    }

    /// What a refusal of the server means for the program's end.
    static func exit(_ error: SignalingError) -> ExitCode {
        let status =
            switch error.code {
            case .connectFailed: unreachable
            case .invalidParameter, .tooLong: usage
            case .authenticationError, .permissionDenied, .unableToForceDisconnect, .invalidSession: notPermitted
            default: failed
            }
        return exit(status, error.message)
    }
}

enum StandardOutput {
    /// Writes a line at once, also when a program reads it through a pipe.
    ///
    /// When the reader has closed the pipe (`signalbox listen … | head -1`), nobody needs the rest: the program ends.
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
