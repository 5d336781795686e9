import SignalingCore
import SignalingProtocol

/// Names one following of a session. A session that is opened again has another one, so late answers find no session.
package struct FollowID: Hashable {
    package let session: SessionID
    let number: UInt64
}

/// The caller of a function: a run, on the newest of its links. Redis refuses the calls of earlier ones.
package struct ShardCaller: Equatable {
    let run: RunID
    let link: Int
}

/// What a shard asks Redis. Each call has one ``ShardAnswer``, unless the link is lost.
package enum ShardCall {
    /// Registers the run, or renews its sign of life.
    case hello(ShardCaller, Hello)
    case loadLibrary
    case goodbye(RunID)
    /// Declares another run lost. `isCertain`: another Redis knows that it is lost.
    case declareLost(ShardCaller, RunID, isCertain: Bool)
    /// `trusts`: this Redis forgets nothing when it restarts.
    case open(ShardCaller, FollowID, trusts: Bool)
    /// Says what this node has of a session.
    case restore(ShardCaller, FollowID, Restoration)
    case append(ShardCaller, FollowID, Appendix)
    case keep(ShardCaller, FollowID, generation: String, KeptSnapshot, retention: Duration)
    /// Keeps the last state of a session that sleeps, for a time.
    case sleep(ShardCaller, Sleeper)
    /// Forgets the commands up to a number, which a snapshot replaces.
    case forget(FollowID, generation: String, through: UInt64)
    case remove(RunID, SessionID, StoredEnd)
    case close(RunID, SessionID)
    /// Deletes the keys of a session.
    case delete(FollowID)
    /// Removes a session whose keys no function can work with.
    case repair(FollowID, generation: String)
    /// Reads the last position of a session, for a check.
    case compare(FollowID)
    /// Reads the last position of a session, for an engine that catches up.
    case catchUp(FollowID)
    /// Reads the entries from a number on.
    case fill(FollowID, from: UInt64, through: UInt64?)
    /// Passes bytes to the other nodes.
    case relay(RunID, SessionID, [UInt8])

    package struct Hello {
        /// How long the nodes have to restore what Redis has forgotten.
        let restoring: Duration
        /// How long the sign of life is valid.
        let life: Duration
        let fingerprint: String
        /// The earliest time of the log's clock; `nil` to leave it to this Redis.
        let floor: MonotonicInstant?
        /// What this node knows, and Redis may have forgotten.
        let losses: [(run: RunID, time: MonotonicInstant)]
    }

    package struct Restoration {
        let generation: String
        let position: LogPosition
        let time: MonotonicInstant
        /// If Redis has asked for it, with the counters of all runs.
        let snapshot: (bytes: [UInt8], counters: [(run: RunID, counter: UInt64)])?
    }

    /// Commands that follow each other.
    package struct Appendix {
        /// Empty as long as this node knows of none.
        let generation: String
        /// The name of the order that begins with these commands, if there is none.
        let newGeneration: String
        let commands: ArraySlice<OwnCommands.Command>
        let freesMemory: Bool
    }
}

/// The last command of an order. Redis removes a session only if nothing follows it.
package struct StoredEnd {
    let generation: String
    /// As Redis has them: they may be of a session that is damaged.
    let number: String
    let id: String
}

extension StoredEnd {
    init(_ generation: String, _ position: LogPosition) {
        self.init(generation: generation, number: String(position.number), id: position.id.text)
    }
}

/// A session that sleeps, on its way into the log: its last state and its last command.
package struct Sleeper {
    let session: SessionID
    let end: StoredEnd
    let state: [UInt8]
    /// How long the log keeps it.
    let life: Duration
    /// How long the log keeps it if its history becomes empty before.
    let restricted: Duration
}

/// A snapshot on its way into the log.
package struct KeptSnapshot {
    let position: LogPosition
    let bytes: [UInt8]
    /// Whether the commands that it covers have content that was erased since.
    var replacesErased = false
}
