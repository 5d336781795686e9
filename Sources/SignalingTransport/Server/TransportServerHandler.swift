/// What a server tells. Every call comes on the loop, one at a time; each may call the server, its sockets and exchanges.
public protocol TransportServerHandler: AnyObject {
    /// A client has become a WebSocket with our sub-protocol.
    func socketOpened(_ socket: ServerSocket)

    /// One whole text message, fragments joined, within the limits and valid UTF-8. The bytes are good during the call.
    /// Nothing comes any more once ``ServerSocket/close(code:reason:)`` was called.
    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer)

    /// A message that broke a rule; what is left of it is dropped, the next one is delivered. Closing is the handler's
    /// decision. Reported once a message.
    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation)

    /// The socket takes frames again, after a ``ServerSocket/write(_:)`` had said `.backlogged`.
    func socketDrained(_ socket: ServerSocket)

    /// The last call for this socket, exactly once for each that was opened.
    ///
    /// - Parameter code: the peer's close code if it began the closing, 1005 if it gave none; nil for a socket that was
    ///   lost, or that this side closed, or that was backlogged when the peer closed. Codes that no peer may send show as 1002.
    func socketClosed(_ socket: ServerSocket, code: UInt16?)

    /// A request, whole with its body, that wants an answer.
    func requestReceived(_ exchange: HTTPExchange)
}
