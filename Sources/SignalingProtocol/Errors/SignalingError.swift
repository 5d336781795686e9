/// The answer to a request that was refused: a number, a name, a sentence, and whether trying again can help.
///
/// Numbers and names are OpenTok's where it has them. The connection goes on, except after a refused connect.
/// Two are equal when their codes are: the message is for people.
public struct SignalingError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. More may be added; compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable {
        public let number: Int
        public let name: String
        public let isRetryable: Bool

        public init(number: Int, name: String, isRetryable: Bool = false) {
            self.number = number
            self.name = name
            self.isRetryable = isRetryable
        }

        public static func == (left: Code, right: Code) -> Bool {
            left.number == right.number && left.name == right.name
        }
        public func hash(into hasher: inout Hasher) {
            hasher.combine(number)
            hasher.combine(name)
        }

        /// Malformed type, data, target, or a message of the wrong shape.
        public static let invalidParameter = Code(number: 400, name: "OT_INVALID_PARAMETER")
        /// The role does not permit it.
        public static let permissionDenied = Code(number: 403, name: "OT_PERMISSION_DENIED")
        /// The target connection is not in the session.
        public static let notFound = Code(number: 404, name: "OT_NOT_FOUND")
        /// Type or data over its limit. OpenTok gives this the name of a malformed one.
        public static let tooLong = Code(number: 413, name: "OT_INVALID_PARAMETER")
        /// Too many signals.
        public static let rateLimited = Code(number: 429, name: "OT_RATE_LIMIT_EXCEEDED", isRetryable: true)
        /// Not connected, or the connection was lost before the server answered.
        public static let notConnected = Code(number: 500, name: "OT_NOT_CONNECTED", isRetryable: true)
        /// Token bad or expired, or of another project.
        public static let authenticationError = Code(number: 1004, name: "OT_AUTHENTICATION_ERROR")
        /// Session id malformed, or not of this project.
        public static let invalidSession = Code(number: 1005, name: "OT_INVALID_SESSION_ID")
        /// The server cannot be reached.
        public static let connectFailed = Code(number: 1006, name: "OT_CONNECT_FAILED", isRetryable: true)
        /// Force-disconnect without being connected.
        public static let notConnectedToModerate = Code(number: 1010, name: "OT_NOT_CONNECTED", isRetryable: true)
        /// Force-disconnect of nobody: no target, or one that is not there.
        public static let badTarget = Code(number: 1011, name: "OT_INVALID_PARAMETER")
        /// A connect on a socket that has one already.
        public static let illegalState = Code(number: 1015, name: "OT_ILLEGAL_STATE")
        /// The session is full.
        public static let connectionLimitExceeded = Code(
            number: 1027, name: "OT_CONNECTION_LIMIT_EXCEEDED", isRetryable: true)
        /// Force-disconnect without being a moderator.
        public static let unableToForceDisconnect = Code(number: 1520, name: "OT_PERMISSION_DENIED")
        /// The server answered what this client does not understand.
        public static let unexpectedServerResponse = Code(number: 2001, name: "OT_UNEXPECTED_SERVER_RESPONSE")

        /// All that the protocol knows, in the order of `docs/PROTOCOL.md`.
        public static let all: [Code] = [
            .invalidParameter, .permissionDenied, .notFound, .tooLong, .rateLimited, .notConnected,
            .authenticationError, .invalidSession, .connectFailed, .notConnectedToModerate, .badTarget, .illegalState,
            .connectionLimitExceeded, .unableToForceDisconnect, .unexpectedServerResponse,
        ]
    }

    public let code: Code
    /// One sentence for a person. It never holds a token, a secret or what somebody said.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var isRetryable: Bool { code.isRetryable }
    public var description: String { "\(message) (\(code.name) \(code.number))" }
}

extension SignalingError: Hashable {
    public static func == (left: SignalingError, right: SignalingError) -> Bool { left.code == right.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
