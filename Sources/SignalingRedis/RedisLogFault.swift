/// Why a Redis log cannot be opened, or cannot keep commands at present. Two faults are equal if their codes are equal;
/// the message is for people.
public struct RedisLogFault: Error, Sendable, CustomStringConvertible {
    /// The kind of fault. Later versions may add kinds: compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case badAddress, unreachable, silent, refused, unsuitable, readOnly, full, loading, otherList, failing
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }
        public var description: String { kind.rawValue }

        /// The address of Redis is malformed.
        public static let badAddress = Code(.badAddress)
        /// No connection can be made, or it was closed.
        public static let unreachable = Code(.unreachable)
        /// Redis does not answer.
        public static let silent = Code(.silent)
        /// Redis refuses the user, the password, or a command.
        public static let refused = Code(.refused)
        /// Redis is too old, or is configured so that it cannot keep a log.
        public static let unsuitable = Code(.unsuitable)
        /// Redis is a replica, and accepts no commands.
        public static let readOnly = Code(.readOnly)
        /// Redis has reached its memory limit.
        public static let full = Code(.full)
        /// Redis reads its data, and accepts no commands yet.
        public static let loading = Code(.loading)
        /// Another node is running with another list of addresses.
        public static let otherList = Code(.otherList)
        /// Redis answers commands with an error that is not expected.
        public static let failing = Code(.failing)
    }

    public let code: Code
    /// The fault with the address, and the operator's next step. Contains no password and no content of a session.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension RedisLogFault: Equatable {
    public static func == (left: RedisLogFault, right: RedisLogFault) -> Bool { left.code == right.code }
}

/// Whether a Redis log can keep commands.
public enum RedisLogHealth: Equatable, Sendable {
    /// Commands are kept. Next: `stalled`.
    case keeping
    /// Nothing was kept for two seconds. The log tries again until it succeeds, and confirms nothing meanwhile. Next:
    /// `keeping`.
    case stalled(RedisLogFault)
}
