/// The outcome of writing a frame to a socket.
public enum WriteOutcome: Sendable, Hashable {
    /// The operating system has accepted the whole frame.
    case sent
    /// Accepted, but the rest of the frame is still buffered. The socket refuses frames until it reports that it has
    /// drained.
    case backlogged
    /// Not accepted: the rest of an earlier frame is still buffered.
    case refused
    /// Not accepted: the socket is not open, or closing.
    case closed
}
