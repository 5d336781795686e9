/// Receives the events of a server. Every call comes on the loop, one at a time. Each may call the server, its sockets
/// and its exchanges.
public protocol TransportServerHandler: AnyObject {
    /// A client has opened a WebSocket with the server's sub-protocol.
    func socketOpened(_ socket: ServerSocket)

    /// One whole text message, fragments joined, within the limits and valid UTF-8. The bytes are valid during the
    /// call. Not called any more after ``ServerSocket/close(code:reason:farewell:)``.
    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer)

    /// A message broke a rule. Called once per message; the rest of the message is dropped, and the next one is
    /// delivered. The handler decides whether to close the socket.
    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation)

    /// The socket accepts frames again, after ``ServerSocket/write(_:)`` returned `.backlogged`.
    func socketDrained(_ socket: ServerSocket)

    /// The last call for this socket, exactly once for each socket that was opened.
    ///
    /// - Parameter code: the peer's close code if the peer closed first, 1005 if its close frame had none. nil if the
    ///   connection was lost, if this side closed, or if the socket was backlogged when the peer closed. A code that no
    ///   peer may send is reported as 1002.
    func socketClosed(_ socket: ServerSocket, code: UInt16?)

    /// A complete request with its body. It needs a response.
    func requestReceived(_ exchange: HTTPExchange)
}
