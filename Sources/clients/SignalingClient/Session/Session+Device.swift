import SignalingProtocol

/// The life of a device whose system stops apps and changes networks. On Apple platforms the session learns of it by
/// itself, unless ``Options/followsDevice`` is false. A program on another system reports it here. The calls may come
/// from any thread, twice, or without a connection.
extension Session {
    /// The app goes to the background. The socket ends, and no attempt to reconnect runs until ``enterForeground()``;
    /// requests wait. The connection stays in its session for the server's `resumeSeconds`.
    public func enterBackground() { driver.note(.background) }

    /// The app is back. The client reconnects at once, or when a wait is over that the server has asked for (RES-13).
    /// Within `resumeSeconds` nothing is missed; later ``SessionEvent/reconnected(_:missing:)`` says what is.
    public func enterForeground() { driver.note(.foreground) }

    /// The moments at which the network is back, or the app: those that the session learns of by itself, and those that the
    /// program reports. A program that waits before it connects again need not wait then. A connected session reconnects
    /// without one.
    ///
    /// A stream keeps one moment for its reader, and ends with the session.
    public var returns: AsyncStream<Void> { driver.makeReturnStream() }

    /// The network is back, or another one. A client that waits tries at once, unless the server has asked for the
    /// wait. A connected client checks a socket that is overdue (HB-3).
    public func networkIsBack() { driver.note(.networkBack) }
}
