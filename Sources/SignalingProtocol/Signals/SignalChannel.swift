/// The port through which something sends and receives signals of one session as one connection, without knowing what
/// carries them: a client's socket, or memory in a test.
///
/// What an implementation promises:
/// - Signals whose ``send(_:)`` was called one after the other, from one task or one actor, get their seq in that order.
/// - ``send(_:)`` returns when the server has acknowledged: the signal is in the session's log (G2) and reaches everybody it
///   is meant for exactly once and in order (G1, G3). An online-only signal reaches at most those who are there now (G6).
/// - It throws when the server has refused, or when it cannot be known any more whether the signal arrived
///   (``SignalingError/Code/notConnected``); a retry may then arrive twice. A signal is never lost in silence.
/// - What is received goes to whoever the owner of the channel hands it on to, in seq order, the sender's own broadcasts
///   included. The own echo may come before ``send(_:)`` returns, or after.
///
/// All of it may be used from any thread.
public protocol SignalChannel: Sendable {
    /// The connection that signals come from, nil before connecting. It changes when a lost connection comes back as
    /// another one.
    var connectionID: ConnectionID? { get }

    /// How many connections the session has, one's own included, as far as this channel has heard; nil: it does not know.
    var memberCount: Int? { get }

    /// Sends one signal and waits for its acknowledgement; returns its place in the session's order, nil if it is
    /// online-only. When the waiting task is cancelled, the signal may still arrive.
    @discardableResult
    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq?
}

extension SignalChannel {
    public var memberCount: Int? { nil }
}
