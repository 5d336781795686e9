import SignalingProtocol

/// A session as its engine hosts it, for a caller that reads its log with each message: to look the session up would cost
/// more than to read it. Confined to the engine's thread.
public class HostedSession {
    /// Whether the engine still hosts the session. If the session begins anew, it is another object.
    final var isHosted = true
    /// The project that its ID names; set when an engine hosts it.
    final var project: APIKey?

    #if DEBUG
        /// How many items of a session a check of its invariants may look at in each turn.
        static var checkedItemCount: Int { 16 }
        /// Whether it has changed since the last check.
        final var isTouched = false
        final var checks = InvariantPace()
    #endif

    init() {}

    /// This node's copy of the session's log; `nil` before the first command and after the last, and for good once the
    /// engine does not host the session any more.
    ///
    /// A copy: what the caller does with it may cause a command that changes the session's own.
    public var log: SessionLog? { nil }

    /// The end of the log; `nil` where ``log`` is. Costs no copy.
    public var end: SessionLog.End? { nil }

    /// The size of an event's line; 0 for an event that the log does not have. Costs no copy.
    public func byteCount(of seq: Seq) -> Int { 0 }

    /// The reactions of a connection's user to some messages (CHG-13).
    public func ownReactions(of connection: ConnectionID, to refs: [Seq]) -> [OwnReactions] { [] }
}
