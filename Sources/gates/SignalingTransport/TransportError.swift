/// Why an operation of the transport failed. Two errors are equal if their codes are equal; the message is for people.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. Later versions may add kinds: compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case addressInUse, permissionDenied, invalidAddress, invalidURL, resourcesExhausted, libraryFailed
            case unsupported, alreadyStarted, stopped, connectFailed, connectTimedOut, handshakeRefused
            case notListening
            case certificateUnusable, privateKeyUnusable, privateKeyEncrypted, privateKeyMismatch
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }
        public var description: String { kind.rawValue }

        /// Another program listens on this host and port.
        public static let addressInUse = Code(.addressInUse)
        /// The process has no permission to listen on this port (ports below 1024).
        public static let permissionDenied = Code(.permissionDenied)
        /// The host is not an address of this machine, or not an address at all; or the port is out of range.
        public static let invalidAddress = Code(.invalidAddress)
        /// The descriptor that the process was given is no listening TCP socket.
        public static let notListening = Code(.notListening)
        /// The URL is not a valid `ws` or `wss` URL.
        public static let invalidURL = Code(.invalidURL)
        /// No memory, file descriptor or thread is left.
        public static let resourcesExhausted = Code(.resourcesExhausted)
        /// libwebsockets, libuv or OpenSSL failed.
        public static let libraryFailed = Code(.libraryFailed)
        /// An option differs from another server's on the same loop, where all servers must share it.
        public static let unsupported = Code(.unsupported)
        /// The loop was started before; a loop can be started once.
        public static let alreadyStarted = Code(.alreadyStarted)
        /// The loop has stopped, or was not started.
        public static let stopped = Code(.stopped)
        /// No connection to the server: name not found, connection refused, or TLS failed.
        public static let connectFailed = Code(.connectFailed)
        /// The connection was not established in time.
        public static let connectTimedOut = Code(.connectTimedOut)
        /// The server answered, but did not accept a WebSocket with the requested sub-protocol.
        public static let handshakeRefused = Code(.handshakeRefused)
        /// The certificate file cannot be read, is not PEM, or is refused by OpenSSL.
        public static let certificateUnusable = Code(.certificateUnusable)
        /// The private key's file cannot be read, is not PEM, or is refused by OpenSSL.
        public static let privateKeyUnusable = Code(.privateKeyUnusable)
        /// The private key has a passphrase, which a server cannot enter.
        public static let privateKeyEncrypted = Code(.privateKeyEncrypted)
        /// The private key belongs to another certificate.
        public static let privateKeyMismatch = Code(.privateKeyMismatch)
    }

    public let code: Code
    /// The failure, with the value, and what to do next. Contains no payload and no token.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(message) (\(code))" }

    static func loopStopped(_ name: String? = nil) -> TransportError {
        TransportError(.stopped, "The event loop\(name.map { " " + $0 } ?? "") is not running. Start another one.")
    }
}

extension TransportError: Equatable {
    public static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }
}
