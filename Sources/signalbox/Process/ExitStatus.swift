import ArgumentParser
import SignalingProtocol
import SignalingServer
import SignalingTransport

/// The program's exit statuses, and the one line on standard error that comes with a failure.
enum ExitStatus {
    /// The command failed.
    static let failed: Int32 = 1
    /// The arguments or settings are wrong (`EX_USAGE`).
    static let usage: Int32 = 64
    /// An input does not exist or cannot be read (`EX_NOINPUT`).
    static let noInput: Int32 = 66
    /// The server cannot be reached, or cannot use the listening socket that it was given (`EX_UNAVAILABLE`).
    static let unreachable: Int32 = 69
    /// An output file cannot be written (`EX_CANTCREAT`).
    static let fileNotWritten: Int32 = 73
    /// The server does not permit it (`EX_NOPERM`).
    static let notPermitted: Int32 = 77
    /// The configuration is wrong (`EX_CONFIG`).
    static let configuration: Int32 = 78
    /// The user stopped the command, as a shell reports it (128 + SIGINT).
    static let interrupted: Int32 = 130
    /// The reader of standard output has closed it, as a shell reports it (128 + SIGPIPE).
    static let outputClosed: Int32 = 141

    /// The status for a server that cannot start.
    static func status(of error: TransportError) -> Int32 {
        switch error.code {
        case .addressInUse, .permissionDenied, .notListening, .resourcesExhausted: unreachable
        case .invalidAddress: usage
        case .certificateUnusable, .privateKeyUnusable, .privateKeyEncrypted, .privateKeyMismatch: configuration
        default: failed
        }
    }

    /// Prints the message and returns the error that ends the program with the status.
    static func exit(_ status: Int32, _ message: String) -> ExitCode {
        StandardError.print("signalbox: \(message)")
        return ExitCode(status)
    }

    /// Prints the faults, each in a line, and returns the error that ends the program with the status.
    static func exit(_ status: Int32, _ error: ConfigurationError) -> ExitCode {
        for line in error.lines { StandardError.print("signalbox: \(line)") }
        return ExitCode(status)
    }

    /// Prints the error and returns the one that ends the program with the status for it.
    static func exit(_ error: SignalingError) -> ExitCode {
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
