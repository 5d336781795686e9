import SignalingCore
import SignalingProtocol

/// What the shell of a ``RedisLogState`` carries out, in this order. `shard` is the position of a Redis in the list of
/// addresses.
package enum RedisLogEffect {
    /// Make a link.
    case connect(shard: Int)
    /// Give the link up. Nothing is reported of it afterwards.
    case disconnect(shard: Int)
    case call(shard: Int, ShardCall)
    case subscribe(shard: Int, [SessionID])
    case unsubscribe(shard: Int, SessionID)
    /// Encode a snapshot on another thread: `snapshotEncoded` follows.
    case encode(FollowID, CommandSnapshot)
    /// Ask the engine for the session's snapshot, and encode it: `stateAsked` follows.
    case askForState(FollowID)
    /// Tell the engine of a session. This is void when the engine closes or opens the session before.
    case report(SessionReport, SessionID)
    /// Tell the engine that the run of another node was lost.
    case reportLost(RunID, at: MonotonicInstant, orphans: [SessionID])
    /// Tell the engine that this node continues as another run.
    case reportContinues(as: RunID)
    /// For measurements: the commands that were appended to a session in one turn are confirmed.
    case confirmed(after: Duration)
    /// The log can be used, or not. Reported once.
    case started(CommandLogFault?)
    /// Why nothing is kept at present; `nil` if commands are kept again.
    case healthChanged(CommandLogFault?)
    /// Whether this node may be the only one without any Redis, for longer than the others wait for it.
    case isolated(Bool)
    case closed
    case note(RedisLogNotice)
}

/// What the engine is told of a session.
package enum SessionReport {
    case confirmed([CommandEntry])
    case opened(KeptCommands.Session)
    case caughtUp
    case relayed([UInt8])
    case dropped
    case kept(LogPosition, byteCount: Int)
}

/// What an operator is told.
package enum RedisLogNotice: Equatable {
    case sessionDropped(SessionID, because: String)
    case sessionDamaged(SessionID)
    /// The first fault of an outage.
    case linkLost(CommandLogFault)
    case declaredLost
    case stalled(CommandLogFault)
    case keepsAgain
}
