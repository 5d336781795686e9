import ArgumentParser
import SignalingProtocol
import SignalingServer
import SignalingTransport

/// The program's exit statuses, and the one line on standard error that comes with a failure.
package enum ExitStatus {
    /// The command failed.
    package static let failed: Int32 = 1
    /// The arguments or settings are wrong (`EX_USAGE`).
    package static let usage: Int32 = 64
    /// An input does not exist or cannot be read (`EX_NOINPUT`).
    package static let noInput: Int32 = 66
    /// The server cannot be reached, or cannot use the listening socket that it was given (`EX_UNAVAILABLE`).
    package static let unreachable: Int32 = 69
    /// An output file cannot be written (`EX_CANTCREAT`).
    package static let fileNotWritten: Int32 = 73
    /// The server does not permit it (`EX_NOPERM`).
    package static let notPermitted: Int32 = 77
    /// The configuration is wrong (`EX_CONFIG`).
    package static let configuration: Int32 = 78
    /// The user stopped the command, as a shell reports it (128 + SIGINT).
    package static let interrupted: Int32 = 130
    /// The reader of standard output has closed it, as a shell reports it (128 + SIGPIPE).
    package static let outputClosed: Int32 = 141

    /// The status for a server that cannot start.
    package static func status(of error: TransportError) -> Int32 {
        switch error.code {
        case .addressInUse, .permissionDenied, .notListening, .resourcesExhausted: unreachable
        case .invalidAddress: usage
        case .certificateUnusable, .privateKeyUnusable, .privateKeyEncrypted, .privateKeyMismatch: configuration
        default: failed
        }
    }

    /// The name before each message.
    package static let program =
        CommandLine.arguments.first.map { $0.hasSuffix("-lab") } == true ? "signalbox-lab" : "signalbox"

    /// Prints the message and returns the error that ends the program with the status.
    package static func exit(_ status: Int32, _ message: String) -> ExitCode {
        StandardError.print("\(program): \(message)")
        return ExitCode(status)
    }

    /// Prints the faults, each in a line, and returns the error that ends the program with the status.
    package static func exit(_ status: Int32, _ error: ConfigurationError) -> ExitCode {
        for line in error.lines { StandardError.print("\(program): \(line)") }
        return ExitCode(status)
    }

    /// Prints the error and returns the one that ends the program with the status for it.
    package static func exit(_ error: SignalingError) -> ExitCode {
        let status =
            switch error.code {
            case .connectFailed: unreachable
            case .invalidParameter, .tooLong: usage
            case .authenticationError, .permissionDenied, .userBanned, .unableToForceDisconnect, .invalidSession:
                notPermitted
            default: failed
            }
        return exit(status, error.restriction.map { RestrictionText.text($0) } ?? Printable.text(error.message))
    }
}
