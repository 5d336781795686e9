import DequeModule
import SignalingCore
import SignalingProtocol

/// One Redis of a log, and the sessions that are on it: what to ask it, what its answers mean, and what the engine is
/// told. Calls and reports go to the desk of the log.
///
/// - `ShardState+Link.swift`: making and losing links, registering this run, and the library of functions,
/// - `ShardState+Sessions.swift`: opening, following, appending and closing,
/// - `ShardState+Checks.swift`: ticks, and checks of quiet sessions,
/// - `ShardState+Nodes.swift`: the life and death of nodes.
struct ShardState {
    /// A session, and its channel, which may outlive it until Redis has confirmed its end.
    struct Slot {
        var channel = ChannelSubscription()
        var session: FollowedSession?
    }

    /// The time without service.
    struct Outage {
        let since: MonotonicInstant
        /// The newest reason; `nil` while Redis is restored after a restart.
        var fault: CommandLogFault?
    }

    /// An ended session that is removed after a while, if nobody begins it again.
    struct Removal {
        let session: SessionID
        let end: StoredEnd
        let dueAt: MonotonicInstant
    }

    /// The sign of life of this run.
    enum Greeting {
        /// Next: `sent`.
        case none
        /// Next: `answered`, `none`.
        case sent(at: MonotonicInstant)
        /// Next: `sent`, `none`. With the time of the greeting.
        case answered(MonotonicInstant)
    }

    let settings: ShardSettings
    var link: ShardLink
    /// `nil` while this Redis serves.
    var outage: Outage?
    /// Whether this Redis has ever served.
    var hasServed = false
    var greeting = Greeting.none
    /// Redis sends each greeting back on the other connection.
    var beatHeardAt: MonotonicInstant

    var registry: NodeRegistry
    var slots: [SessionID: Slot] = [:]
    private var followCount: UInt64 = 0
    /// Sessions that the next tick looks at, each once.
    var attention: Deque<SessionID> = []
    var attended: Set<SessionID> = []
    /// The rest of the sessions to take up after a reconnection.
    var toResume: Deque<SessionID> = []
    /// All sessions, in the order of their checks.
    var toCheck: Deque<SessionID> = []
    var checked: Set<SessionID> = []
    var removals: Deque<Removal> = []
    /// Sessions that sleep, and whose last state Redis does not have yet.
    var sleepers: Deque<Sleeper> = []
    /// Whether the first of them was sent.
    var isStoringSleeper = false

    init(_ settings: ShardSettings, shard: Int, times: LogTimes, now: MonotonicInstant) {
        self.settings = settings
        link = ShardLink(shard: shard, redis: settings.redis, now: now)
        outage = Outage(since: now)
        beatHeardAt = now
        registry = NodeRegistry(times: times.nodes)
    }

    mutating func nextFollow(of session: SessionID) -> FollowID {
        followCount += 1
        return FollowID(session: session, number: followCount)
    }

    /// One step of a session, and what follows from it. Late steps of an earlier following do nothing.
    mutating func step(
        _ follow: FollowID, _ desk: inout LogDesk,
        _ body: (inout FollowedSession, inout ShardLink, inout LogDesk) -> Void
    ) {
        guard slots[follow.session]?.session?.follow == follow else { return }
        slots[follow.session]?.session?.run(body, &link, &desk)
        finishStep(of: follow.session, &desk)
    }

    mutating func finishStep(of id: SessionID, _ desk: inout LogDesk) {
        if let session = slots[id]?.session {
            if case .ended(let reason) = session.stage {
                forget(id, &desk)
                if let reason {
                    desk.effects.append(.note(.sessionDropped(id, because: reason)))
                    desk.report(.dropped, id)
                }
            } else if session.needsAttention, attended.insert(id).inserted {
                attention.append(id)
            }
        }
        checkInvariants(of: id)
        handleTrouble(&desk)
    }

    /// What a session has found out about the link.
    mutating func handleTrouble(_ desk: inout LogDesk) {
        guard let trouble = link.trouble else { return }
        link.trouble = nil
        switch trouble {
        case .mustGreet: greetAgain(&desk)
        case .libraryMissing: loadLibrary(&desk)
        case .useless(let fault): lose(fault, &desk)
        }
    }
}

extension FollowedSession {
    /// Changes the session where it is stored.
    fileprivate mutating func run(
        _ body: (inout FollowedSession, inout ShardLink, inout LogDesk) -> Void, _ link: inout ShardLink,
        _ desk: inout LogDesk
    ) { body(&self, &link, &desk) }
}

/// One Redis of a log.
package struct ShardSettings {
    /// The address, without its password: for people.
    let redis: String
    /// The list of addresses that all nodes must use, and the place of this Redis in it.
    let fingerprint: String
    /// Whether other Redis give their clocks' times to this one.
    let sharesClock: Bool

    /// The shards of a log. Every node needs the same list of addresses, in the same order.
    package static func list(_ addresses: [String]) -> [ShardSettings] {
        // Nodes may know one Redis by different names, so the name matters only among several.
        let list = addresses.count == 1 ? "1" : addresses.joined(separator: " ")
        let name = Hexadecimal.text(JumpHash.fnv1a(list))
        return addresses.enumerated().map { index, address in
            ShardSettings(redis: address, fingerprint: "\(name)-\(index)", sharesClock: addresses.count > 1)
        }
    }
}
