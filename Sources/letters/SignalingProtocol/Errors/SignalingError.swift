/// A refused or failed request: a number, a name, a message, and whether a retry can help (ERR-1).
///
/// Numbers and names are OpenTok's where it has them. The connection continues, except after a refused connect. Two
/// errors are equal when their codes are equal; the message is for people.
public struct SignalingError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. New kinds may be added: compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable {
        public let number: Int
        public let name: String
        /// Whether the same request may succeed later. Not part of equality.
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

        /// The type, the data, the target or the whole message is malformed.
        public static let invalidParameter = Code(number: 400, name: "OT_INVALID_PARAMETER")
        /// The role does not permit the request.
        public static let permissionDenied = Code(number: 403, name: "OT_PERMISSION_DENIED")
        /// The target connection is not in the session.
        public static let notFound = Code(number: 404, name: "OT_NOT_FOUND")
        /// The type or the data is too long. OpenTok gives this error the name of a malformed parameter.
        public static let tooLong = Code(number: 413, name: "OT_INVALID_PARAMETER")
        /// The connection sends too many signals (SIG-11), or too many requests of the client wait for an answer.
        public static let rateLimited = Code(number: 429, name: "OT_RATE_LIMIT_EXCEEDED", isRetryable: true)
        /// The client is not connected, or the connection was lost before the server answered.
        public static let notConnected = Code(number: 500, name: "OT_NOT_CONNECTED", isRetryable: true)
        /// The token is malformed, forged, expired, or of another project or session (CON-3).
        public static let authenticationError = Code(number: 1004, name: "OT_AUTHENTICATION_ERROR")
        /// The session ID is malformed, or of another project (CON-3).
        public static let invalidSession = Code(number: 1005, name: "OT_INVALID_SESSION_ID")
        /// The connect failed: the server cannot be reached, does not answer in time or is stopping, or the client has
        /// disconnected meanwhile.
        public static let connectFailed = Code(number: 1006, name: "OT_CONNECT_FAILED", isRetryable: true)
        /// `forceDisconnect` on a socket that is not connected (LEAVE-2).
        public static let notConnectedToModerate = Code(number: 1010, name: "OT_NOT_CONNECTED", isRetryable: true)
        /// `forceDisconnect` without a target, or of a connection that is not in the session (LEAVE-2).
        public static let badTarget = Code(number: 1011, name: "OT_INVALID_PARAMETER")
        /// A connect while connected or connecting (CON-8), or a repeated request whose answer is not kept (RES-9).
        public static let illegalState = Code(number: 1015, name: "OT_ILLEGAL_STATE")
        /// The session has reached its maximum number of connections (CON-3).
        public static let connectionLimitExceeded = Code(
            number: 1027, name: "OT_CONNECTION_LIMIT_EXCEEDED", isRetryable: true)
        /// `streams` by a client whose role may not publish (STR-1).
        public static let unableToPublish = Code(number: 1500, name: "OT_PERMISSION_DENIED")
        /// `forceDisconnect` by a client that is not a moderator (LEAVE-2).
        public static let unableToForceDisconnect = Code(number: 1520, name: "OT_PERMISSION_DENIED")
        /// The user, or the guest's token, is banned from the session (MOD-3).
        public static let userBanned = Code(number: 1570, name: "OT_USER_BANNED")
        /// The session has reached its maximum number of streams (STR-1).
        public static let streamLimitExceeded = Code(
            number: 1605, name: "OT_STREAM_LIMIT_EXCEEDED", isRetryable: true)
        /// The client cannot understand the server's answer.
        public static let unexpectedServerResponse = Code(number: 2001, name: "OT_UNEXPECTED_SERVER_RESPONSE")

        /// Every code of the protocol, in the order of `docs/PROTOCOL.md`.
        public static let all: [Code] = [
            .invalidParameter, .permissionDenied, .notFound, .tooLong, .rateLimited, .notConnected,
            .authenticationError, .invalidSession, .connectFailed, .notConnectedToModerate, .badTarget, .illegalState,
            .connectionLimitExceeded, .unableToPublish, .unableToForceDisconnect, .userBanned, .streamLimitExceeded,
            .unexpectedServerResponse,
        ]
    }

    public let code: Code
    /// One sentence for people. It never contains a token, a secret or a client's text.
    public let message: String
    /// A box, since nearly all errors have neither, and the answers to signals have room for an error.
    private let details: Details?

    private indirect enum Details: Sendable {
        case because(Restriction?, retryAfter: Duration?)
    }

    /// The restriction because of which the server refused the request (MOD-3, MOD-4).
    public var restriction: Restriction? {
        if case .because(let restriction, _)? = details { restriction } else { nil }
    }
    /// How long to wait before the request can succeed, in whole milliseconds, if the server knows it.
    public var retryAfter: Duration? { if case .because(_, let wait)? = details { wait } else { nil } }

    public init(
        _ code: Code, _ message: String, restriction: Restriction? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        details = restriction == nil && retryAfter == nil ? nil : .because(restriction, retryAfter: retryAfter)
    }

    /// A restriction that ends by itself makes a refused request succeed later. A banned client does not come back by
    /// itself (MOD-3).
    public var isRetryable: Bool { code.isRetryable || (code == .permissionDenied && retryAfter != nil) }
    public var description: String { "\(message) (\(code.name) \(code.number))" }
}

extension SignalingError: Hashable {
    public static func == (left: SignalingError, right: SignalingError) -> Bool { left.code == right.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
