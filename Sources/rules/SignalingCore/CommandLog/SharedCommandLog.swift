import SignalingProtocol

/// A command log that several nodes share: the entries of other nodes arrive among one's own.
///
/// Every node that follows a session gets the same entries in the same order, and carries them out. In addition to the
/// guarantees of ``CommandLog``:
///
/// - *Foreign entries.* `log(confirmed:)` brings the entries of all nodes. The submitter of an entry is the run in its
///   position's ID.
/// - *Order.* Entries of a followed session arrive in the order of their numbers, without a gap and without a
///   repetition, from the position that `log(opened:)` has named.
/// - *Counters.* The first command of a run to a session has the counter 1. A run that opens a session again continues
///   behind ``KeptCommands/Session/ownCounter``.
/// - *Removal.* `remove(_:through:)` removes a session only if nothing follows the position.
/// - *Sleep.* `sleep(_:for:)` does nothing if something follows the snapshot's position.
/// - *Snapshots.* `keep(_:)` does nothing if the log has a newer snapshot, of whichever node.
public protocol SharedCommandLog: CommandLog {
    /// Implementations keep a weak reference.
    var nodeObserver: (any SharedCommandLogObserver)? { get set }

    /// Reads a session and follows it from then on. The answer is `log(opened:)`, also for a session that does not
    /// exist. Repeated calls before the answer count once.
    func open(_ session: SessionID)

    /// Stops following a session. Its entries are no longer delivered. The caller has no command to it on the way, or
    /// does not need its confirmation. A removal that was asked for before still happens.
    func close(_ session: SessionID)

    /// Keeps the last state of a session that sleeps (HIS-3) in the place of its commands, for as long as its reason may
    /// last. A session that sleeps has no node until one opens it. Call it before ``close(_:)``.
    func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason)

    /// Asks for everything that the log has now. The answer is `log(caughtUp:)`, after every entry that the log had at
    /// the time of the call (LOG-35). There is one answer to each call, unless the session is dropped or closed before.
    func catchUp(_ session: SessionID)

    /// Passes bytes to the other nodes that follow the session. They are not kept, and may be lost.
    func relay(_ bytes: [UInt8], of session: SessionID)

    /// The log's time at which a run was lost; `nil` while it may live. Known before `log(opened:)` for each run that
    /// the session names and the log knows. A run that the log has forgotten may live, or is declared lost later.
    func lossTime(of run: RunID) -> MonotonicInstant?
}

/// The receiver of what a shared log has beyond entries. It is called like ``CommandLogObserver``: on the thread of the
/// caller, never from within a call.
public protocol SharedCommandLogObserver: AnyObject {
    /// The session as the log has it; without a snapshot and entries if the log does not have it. The entries after
    /// these follow by `log(confirmed:)`.
    func log(opened session: KeptCommands.Session)

    /// The answer to ``SharedCommandLog/catchUp(_:)``.
    func log(caughtUp session: SessionID)

    /// Another node has relayed bytes, and this node follows the session.
    func log(relayed bytes: [UInt8], of session: SessionID)

    /// The run of another node was lost at this time: its process is dead, or has stopped.
    ///
    /// - Parameter orphans: the sessions of the lost node, if this node is the one to adopt them: they may have no other
    ///   node. Empty if another node adopts them.
    func log(lost run: RunID, at time: MonotonicInstant, orphans: [SessionID])

    /// The entries that this node has are no longer the beginning of what the log has, or a gap cannot be filled. The
    /// node must forget the session, and may open it again. Commands of this node that were not confirmed will never be;
    /// the log may have carried some of them, though.
    func log(dropped session: SessionID)

    /// The other nodes have declared this node lost. Every session is dropped, and this node continues as another run.
    /// Called before anything else of the new run.
    func log(continuesAs run: RunID)

    /// The present state of a session, for a log whose store has forgotten it (LOG-31); `nil` if the node does not have
    /// the session.
    func snapshot(of session: SessionID) -> CommandSnapshot?
}
