/// Why a command log cannot be opened, or cannot keep commands. Two faults are equal if their codes are equal; the
/// message is for people.
public struct CommandLogFault: Error, Sendable, CustomStringConvertible {
    /// The kind of fault. Later versions may add kinds: compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case unusable, notWritten, full, locked, inputOutput, removed, damaged, laterVersion, incomplete
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }
        public var description: String { kind.rawValue }

        /// The folder or the database cannot be opened or written to.
        public static let unusable = Code(.unusable)
        /// The file of a backup exists, or cannot be created or written to.
        public static let notWritten = Code(.notWritten)
        /// The disk is full. The log repeats the write.
        public static let full = Code(.full)
        /// Another program holds a lock on the database. The log repeats the write.
        public static let locked = Code(.locked)
        /// Reading, writing or synchronizing failed. The log stops.
        public static let inputOutput = Code(.inputOutput)
        /// The folder or a file of the database was removed while the log was open. The log stops.
        public static let removed = Code(.removed)
        /// The database contradicts itself, or is not a database of Signalbox.
        public static let damaged = Code(.damaged)
        /// A later version of Signalbox wrote the database.
        public static let laterVersion = Code(.laterVersion)
        /// The newest commands are missing, or the database is a copy, so its sessions must not be continued.
        public static let incomplete = Code(.incomplete)
    }

    public let code: Code
    /// The fault with the path, and the operator's next step. Contains no content of a session.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension CommandLogFault: Equatable {
    public static func == (left: CommandLogFault, right: CommandLogFault) -> Bool { left.code == right.code }
}

/// Whether a log can keep commands.
public enum CommandLogHealth: Equatable, Sendable {
    /// Commands are kept. Next: `stalled`, `failed`.
    case keeping
    /// The disk is full or the database is locked. The log repeats the write once a second and confirms nothing until
    /// it succeeds. Next: `keeping`, `failed`.
    case stalled(CommandLogFault)
    /// The log has stopped, and confirms nothing any more. The process should end.
    case failed(CommandLogFault)
}

/// A command that the log did not accept, since its sender skipped a number (LOG-3). This is a defect of the sender.
public struct RefusedCommand: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        /// The log expects this counter next.
        case gap(expected: UInt64)
        /// The log has had the command, and does not know its number any more.
        case forgotten
    }
    public let reason: Reason
}
