/// Why a command log cannot be opened, or cannot keep commands. Two faults are equal if their codes are equal; the
/// message is for people.
public struct CommandLogFault: Error, Sendable, CustomStringConvertible {
    /// The kind of fault. Later versions may add kinds: compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case full, unusable, notWritten, locked, inputOutput, removed, damaged, laterVersion, incomplete
            case badAddress, unreachable, silent, untrusted, refused, unsuitable, readOnly, loading, otherList, failing
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }
        public var description: String { kind.rawValue }

        /// The disk is full, or Redis has reached its memory limit. The log repeats the write.
        public static let full = Code(.full)

        // MARK: - A database

        /// The folder or the database cannot be opened or written to.
        public static let unusable = Code(.unusable)
        /// The file of a backup exists, or cannot be created or written to.
        public static let notWritten = Code(.notWritten)
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

        // MARK: - Redis

        /// The address of Redis is malformed.
        public static let badAddress = Code(.badAddress)
        /// No connection can be made, or it was closed.
        public static let unreachable = Code(.unreachable)
        /// Redis does not answer.
        public static let silent = Code(.silent)
        /// There is no TLS connection: this node does not trust Redis, or Redis does not trust this node.
        public static let untrusted = Code(.untrusted)
        /// Redis refuses the user, the password, or a command.
        public static let refused = Code(.refused)
        /// Redis is too old, or is configured so that it cannot keep a log.
        public static let unsuitable = Code(.unsuitable)
        /// Redis is a replica, and accepts no commands.
        public static let readOnly = Code(.readOnly)
        /// Redis reads its data, and accepts no commands yet.
        public static let loading = Code(.loading)
        /// Another node is running with another list of addresses.
        public static let otherList = Code(.otherList)
        /// Redis answers commands with an error that is not expected.
        public static let failing = Code(.failing)
    }

    public let code: Code
    /// The fault, where it is, and the operator's next step. Contains no password and no content of a session.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension CommandLogFault: Equatable {
    public static func == (left: CommandLogFault, right: CommandLogFault) -> Bool { left.code == right.code }
}
