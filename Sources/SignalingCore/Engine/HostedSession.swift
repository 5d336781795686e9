/// A session as its engine hosts it, for a caller that reads its log with each message: to look the session up would cost
/// more than to read it. Confined to the engine's thread.
public class HostedSession {
    /// Whether the engine still hosts the session. If the session begins anew, it is another object.
    public internal(set) final var isHosted = true

    init() {}

    /// This node's copy of the session's log; `nil` before the first command and after the last.
    ///
    /// A copy: what the caller does with it may cause a command that changes the session's own.
    public var log: SessionLog? { nil }
}
