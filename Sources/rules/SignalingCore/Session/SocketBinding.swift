import SignalingProtocol

/// The name of one socket, unique among all sockets that a session's connections ever had.
///
/// Random, chosen by the node that holds the socket.
public struct SocketID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// A new name, made from the caller's randomness.
    public init(using generator: inout some RandomNumberGenerator) { rawValue = generator.next() }

    public var description: String { String(rawValue) }
}

/// A connection and one of its sockets. Commands on an older socket of the connection have no effect (RES-8).
public struct SocketBinding: Hashable, Sendable {
    public let connectionId: ConnectionID
    public let socket: SocketID

    public init(_ connectionId: ConnectionID, _ socket: SocketID) {
        self.connectionId = connectionId
        self.socket = socket
    }
}
