/// Receives the events of a client socket. Every call comes on the loop.
public protocol ClientSocketHandler: AnyObject {
    /// The handshake is complete; the server has agreed to the requested sub-protocol.
    func clientSocketOpened(_ socket: ClientSocket)

    /// One whole text message, fragments joined. The bytes are valid during the call.
    func clientSocket(_ socket: ClientSocket, received message: UnsafeRawBufferPointer)

    /// The socket accepts frames again, after ``ClientSocket/write(_:)`` returned `.backlogged`.
    func clientSocketDrained(_ socket: ClientSocket)

    /// The last call for a socket that was opened.
    ///
    /// - Parameters:
    ///   - code: the server's close code if the server closed first, 1005 if its close frame had none; nil if the
    ///     connection was lost, or this side closed.
    ///   - reason: the text with that code.
    func clientSocketClosed(_ socket: ClientSocket, code: UInt16?, reason: String)

    /// The only call for a socket that never opened: `.connectFailed`, `.connectTimedOut`, `.handshakeRefused`.
    func clientSocketFailed(_ socket: ClientSocket, error: TransportError)
}
