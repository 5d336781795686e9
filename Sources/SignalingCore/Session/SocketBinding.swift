import SignalingProtocol

/// Names one socket among all that a session's connections ever had. Random, chosen by the node that holds the socket.
public struct SocketID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public init(using generator: inout some RandomNumberGenerator) { rawValue = generator.next() }

    public var description: String { String(rawValue) }
}

/// A connection through one of its sockets: what comes by a socket that the connection has left no longer counts (RES-8).
public struct SocketBinding: Hashable, Sendable {
    public let connectionId: ConnectionID
    public let socket: SocketID

    public init(_ connectionId: ConnectionID, _ socket: SocketID) {
        self.connectionId = connectionId
        self.socket = socket
    }
}
