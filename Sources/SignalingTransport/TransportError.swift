/// Why something of the transport could not be done. Two are equal when their codes are: the message is for people.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. More may be added; compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case addressInUse, permissionDenied, invalidAddress, invalidURL, resourcesExhausted, libraryFailed
            case unsupported, alreadyStarted, stopped, connectFailed, connectTimedOut, handshakeRefused
            case certificateUnusable, privateKeyUnusable, privateKeyEncrypted, privateKeyMismatch
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }
        public var description: String { kind.rawValue }

        /// Somebody else listens on this host and port.
        public static let addressInUse = Code(.addressInUse)
        /// The system does not let this process listen there (ports below 1024).
        public static let permissionDenied = Code(.permissionDenied)
        /// The host is not an address of this machine, or not an address at all.
        public static let invalidAddress = Code(.invalidAddress)
        /// A URL that names no WebSocket.
        public static let invalidURL = Code(.invalidURL)
        /// No memory, descriptors or threads left.
        public static let resourcesExhausted = Code(.resourcesExhausted)
        /// libwebsockets or libuv refused for a reason of its own.
        public static let libraryFailed = Code(.libraryFailed)
        /// A combination that this transport does not do.
        public static let unsupported = Code(.unsupported)
        /// A loop is started once.
        public static let alreadyStarted = Code(.alreadyStarted)
        /// The loop was not started, or has stopped.
        public static let stopped = Code(.stopped)
        /// No connection to the server came about: name not found, refused, TLS failed.
        public static let connectFailed = Code(.connectFailed)
        /// No connection came about in time.
        public static let connectTimedOut = Code(.connectTimedOut)
        /// The server answered, but did not become a WebSocket with the sub-protocol that was asked for.
        public static let handshakeRefused = Code(.handshakeRefused)
        /// The certificate file cannot be read, is not PEM, or holds what OpenSSL does not take.
        public static let certificateUnusable = Code(.certificateUnusable)
        /// The private key's file cannot be read, is not PEM, or holds what OpenSSL does not take.
        public static let privateKeyUnusable = Code(.privateKeyUnusable)
        /// The private key wants a passphrase; nobody is there to give it.
        public static let privateKeyEncrypted = Code(.privateKeyEncrypted)
        /// The private key belongs to another certificate.
        public static let privateKeyMismatch = Code(.privateKeyMismatch)
    }

    public let code: Code
    /// One sentence for a person; it holds no payload and no token.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(message) (\(code))" }
}

extension TransportError: Equatable {
    public static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }
}
