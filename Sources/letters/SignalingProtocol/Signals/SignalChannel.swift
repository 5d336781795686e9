/// The port through which a component sends signals of one session, as one connection. It hides the carrier: a client's
/// socket, or memory in a test.
///
/// Every implementation guarantees:
/// - *Order.* Signals that one task or one actor sends one after the other get their seq in that order.
/// - *Acknowledgement.* ``send(_:)`` returns when the server has acknowledged the signal: it is in the session's log
///   (G2), and every receiver gets it exactly once and in order (G1, G3). An online-only signal reaches each client
///   that is connected now at most once (G6).
/// - *Errors.* ``send(_:)`` throws when the server refused the signal, or with ``SignalingError/Code/notConnected``
///   when it is unknown whether the signal arrived; receivers may then get a repeated signal twice. No signal is lost
///   without an error.
/// - *Events.* The channel's owner passes on received signals in seq order, this connection's own broadcasts included.
///   A client's own broadcast may arrive before or after ``send(_:)`` returns.
///
/// All members may be used from any thread.
public protocol SignalChannel: Sendable {
    /// The connection that sends; `nil` before connecting. It changes when a lost connection is replaced by a new one.
    var connectionId: ConnectionID? { get }

    /// How many connections the session has, this one included, as far as this channel knows; `nil` when it does not
    /// know. The default is `nil`.
    var memberCount: Int? { get }

    /// All connections of the session, this one included, as far as this channel knows them. Default: none.
    var connections: [Connection] { get }

    /// The name of the session's order at present; `nil` when it is not known, which is the default. While it stays,
    /// the seqs of a later connection continue those of an earlier one.
    var epoch: Epoch? { get }

    /// Whether the session keeps a history that this connection may read. Default: false.
    var hasHistory: Bool { get }

    /// What the session permits the authors of messages now (CHG-3); nil if it keeps no history, or tells no changes.
    /// Default: nil.
    var changes: [ChangeKind]? { get }

    /// What the session says of read markers; nil if it has none for this connection (READ-3). Default: nil.
    var readState: ReadState? { get }

    /// The claim of the present connection, with which another run of the program can replace it. Default: nil.
    var claim: ConnectionClaim? { get }

    /// The user of the present connection; nil for a guest, and before connecting (USR-1). Default: nil.
    var user: UserID? { get }

    /// What keeps this connection from signalling at a moment (MOD-4); nil: nothing, which is the default. Of several
    /// it is the one that holds longest.
    func restriction(at now: WallTime) -> Restriction?

    /// Whether a connection is in the session now; nil when the channel does not know, which is the default.
    func isMember(_ connection: ConnectionID) -> Bool?

    /// Sends one signal and waits for its acknowledgement.
    ///
    /// When the waiting task is cancelled, the signal may still arrive.
    ///
    /// - Returns: the signal's sequence number; `nil` for an online-only signal.
    @discardableResult
    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq?

    /// Reads a page of the session's history (HIS-6). A message may be in it that also arrives as a signal: both have
    /// the same seq. The default throws ``SignalingError/Code/notFound``, as for a session without a history.
    func history(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage

    /// Changes a message of this connection's user, and waits for the acknowledgement (CHG-1). Every receiver gets the
    /// change once and in order, as a signal. The default throws ``SignalingError/Code/notFound``.
    ///
    /// - Returns: the seq of the change.
    @discardableResult
    func change(_ request: ChangeRequest) async throws(SignalingError) -> Seq

    /// Erases a message of this connection's user, and waits for the acknowledgement (CHG-6). The default throws
    /// ``SignalingError/Code/notFound``.
    ///
    /// - Returns: the seq of the erasure.
    @discardableResult
    func erase(message: Seq) async throws(SignalingError) -> Seq

    /// Sets the reactions of this connection's user to a message (CHG-11). Whoever repeats it changes nothing. The
    /// default throws ``SignalingError/Code/notFound``.
    func react(_ request: ReactRequest) async throws(SignalingError)

    /// Reads who has reacted to a message (CHG-14). The default throws ``SignalingError/Code/notFound``.
    func reactors(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors]

    /// Says that this connection's user has read every message up to a seq (READ-1). A marker never falls. The default
    /// throws ``SignalingError/Code/notFound``.
    func markRead(through seq: Seq) async throws(SignalingError)
}

extension SignalChannel {
    public var memberCount: Int? { nil }
    public var connections: [Connection] { [] }
    public var epoch: Epoch? { nil }
    public var hasHistory: Bool { false }
    public var changes: [ChangeKind]? { nil }
    public var readState: ReadState? { nil }
    public var claim: ConnectionClaim? { nil }
    public var user: UserID? { nil }
    public func restriction(at now: WallTime) -> Restriction? { nil }
    public func isMember(_ connection: ConnectionID) -> Bool? { nil }

    public func history(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage {
        throw SignalingError(.notFound, "the session keeps no history")
    }

    public func change(_ request: ChangeRequest) async throws(SignalingError) -> Seq {
        throw SignalingError(.notFound, "the session keeps no history")
    }

    public func erase(message: Seq) async throws(SignalingError) -> Seq {
        throw SignalingError(.notFound, "the session keeps no history")
    }

    public func react(_ request: ReactRequest) async throws(SignalingError) {
        throw SignalingError(.notFound, "the session keeps no history")
    }

    public func reactors(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors] {
        throw SignalingError(.notFound, "the session keeps no history")
    }

    public func markRead(through seq: Seq) async throws(SignalingError) {
        throw SignalingError(.notFound, "the session keeps no history")
    }
}
