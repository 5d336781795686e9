import SignalingCore
import SignalingProtocol

/// Redis' answer to a ``ShardCall``. It brings back what the call was about.
package enum ShardAnswer {
    case greeted(RunID, Greeting)
    /// `nil`: the library is loaded.
    case libraryLoaded(RedisFailure?)
    /// `nil`: the run is not declared lost.
    case declaredLost(RunID, Loss?)
    case opened(FollowID, Opening)
    case verified(FollowID, Verification)
    case appended(FollowID, Appending)
    case kept(FollowID, Keeping)
    /// `nil`: Redis does not have these commands any more.
    case forgot(FollowID, through: UInt64, ShardRefusal?)
    /// `nil`: Redis has the sleeper, or cannot have it any more.
    case slept(ShardRefusal?)
    /// `nil`: the keys of the session are deleted.
    case deleted(FollowID, ShardRefusal?)
    case repaired(FollowID, Repair)
    case compared(FollowID, Reading)
    case caughtUp(FollowID, Reading)
    case filled(FollowID, from: UInt64, Filling)
    case saidGoodbye(RunID)
    /// The call needs no answer.
    case done

    package enum Greeting {
        /// `period` names the time in which Redis is restored; `nil` if an older server has loaded the library.
        case ok(
            time: MonotonicInstant, restoring: Duration, period: String? = nil, isLost: Bool, [NodeRegistry.Listed])
        /// Other nodes use another list of addresses.
        case otherList
        case failed(RedisFailure)
        case notUnderstood
    }

    package struct Loss {
        let time: MonotonicInstant
        /// The sessions that this node is to adopt.
        let orphans: [SessionID]
    }

    package enum Opening {
        /// Redis does not have the session.
        case none(MonotonicInstant?)
        case found(MonotonicInstant?, NodeMarks, StoredSession)
        /// What is stored contradicts itself. With its end, as far as it is left.
        case damaged(StoredEnd?)
        case refused(ShardRefusal)
    }

    package enum Verification {
        /// Redis has the same order, up to a number.
        case fine(UInt64?)
        /// Redis has forgotten the session, or everything behind a position.
        case wanted(LogPosition?)
        case gone
        case refused(ShardRefusal)
    }

    package enum Appending {
        /// `freesMemory`: the call was one that a full Redis accepts.
        case ok(generation: String, first: LogPosition, count: UInt64, MonotonicInstant, freesMemory: Bool = false)
        /// All commands were in the log before.
        case repeated(generation: String)
        case gone
        /// The log expects an earlier command.
        case gap(last: UInt64?)
        case unvouched
        case refused(ShardRefusal)
    }

    package enum Repair {
        /// The session's keys are as they should be: the reason is another key.
        case sound
        case removed
        case refused(ShardRefusal)
    }

    package enum Reading {
        case mark(StoredMark)
        case refused(ShardRefusal)
    }

    package enum Filling {
        case entries([CommandEntry], StoredMark)
        case refused(ShardRefusal)
    }

    package enum Keeping {
        /// The log has this snapshot, or a newer one.
        case kept
        case gone
        case unvouched
        case refused(ShardRefusal)
    }
}

/// Why a call was not carried out.
package enum ShardRefusal {
    /// Redis does not know this run or this link, or takes restorations only.
    case greetAgain
    case failed(RedisFailure)
    case notUnderstood
}

/// What Redis knows of the runs of all nodes.
package struct NodeMarks {
    package enum Mark {
        case alive
        /// `nil` if the time cannot be read.
        case lost(MonotonicInstant?)
    }
    let marks: [RunID: Mark]
}

/// The last position of a session in Redis; empty if Redis does not have the session.
package struct StoredMark: Equatable {
    let generation: String?
    let number: UInt64?
    let id: CommandID?
}
