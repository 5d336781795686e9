import SignalingProtocol

/// The loop, the clock, the randomness and the sockets that a session's driver runs on.
///
/// A program uses ``StandardEnvironment``: libwebsockets on a thread of the library, or `URLSession` on a queue. A
/// simulation brings its own, on one thread and in virtual time.
package protocol ClientEnvironment: AnyObject, Sendable {
    /// Starts the loop if it does not run yet. Can be called from any thread, any number of times.
    ///
    /// - Throws: ``SignalingError`` 1006 when there is no loop.
    func start() throws(SignalingError)

    /// Runs `work` on the loop after the current callback. Can be called from any thread; keeps the order of all posts.
    func post(_ work: @escaping @Sendable () -> Void)

    /// The monotonic time, on the loop.
    var now: MonotonicInstant { get }

    /// The system's date, on the loop.
    var wallTime: WallTime { get }

    /// A new random number from 0 up to 1, on the loop. It becomes the jitter of a reconnect (RES-13).
    func random() -> Double

    /// Creates a timer that calls `fire` on the loop. A timer that is not scheduled does not keep the environment's
    /// loop busy.
    func makeTimer(_ fire: @escaping () -> Void) -> any ClientTimer

    /// Begins to open a WebSocket, on the loop. The results are reported as events, never during this call.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path` or `wss://…`.
    ///   - trustedCertificatesFile: a PEM file with certificates to trust beside the system's.
    ///   - onEvent: called on the loop; kept until the last event, which is `closed` or `failed`.
    /// - Throws: ``SignalingError`` 400 for a URL or a file that cannot be used, otherwise 1006.
    func openLink(
        url: String, trustedCertificatesFile: String?, onEvent: @escaping (ClientLinkEvent) -> Void
    ) throws(SignalingError) -> any ClientLink

    /// Calls `onChange` for each change of the device's life until the result is released; nil where the system reports
    /// none.
    func watchDevice(_ onChange: @escaping @Sendable (DeviceLife) -> Void) -> (any Sendable)?
}

extension ClientEnvironment {
    package func watchDevice(_ onChange: @escaping @Sendable (DeviceLife) -> Void) -> (any Sendable)? { nil }
}

/// Fires once, at its deadline or soon after, never before. Confined to the loop.
package protocol ClientTimer: AnyObject {
    /// Replaces an earlier deadline.
    func schedule(at deadline: MonotonicInstant)
    func cancel()
}

/// A driver's WebSocket. Confined to the loop.
package protocol ClientLink: AnyObject {
    /// Whether the socket still has unsent bytes. A write must wait for ``ClientLinkEvent/drained`` then.
    var isBacklogged: Bool { get }

    /// Sends the bytes as one text message. Does nothing on a socket that is not open.
    func write(_ message: ArraySlice<UInt8>)

    /// Sends a close frame after the written messages. Abandons a socket that is not open yet.
    func close(code: UInt16)
}

/// An event of a ``ClientLink``.
package enum ClientLinkEvent {
    /// The WebSocket handshake is complete.
    case opened
    /// One whole text message. The bytes are valid during the call only.
    case received(UnsafeRawBufferPointer)
    /// The socket accepts writes again after it was backlogged.
    case drained
    /// The last event of an open socket. The code is the server's; `nil` if the socket was lost or this side closed it.
    case closed(code: UInt16?)
    /// The only event of a socket that never opened.
    case failed(SignalingError)
}
