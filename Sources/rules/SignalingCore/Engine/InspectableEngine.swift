import SignalingProtocol

/// An engine whose sessions an operator can look at: for metrics and administration, never for decisions.
public protocol InspectableEngine: SessionEngine {
    /// The number of sessions on this node. Takes constant time.
    var sessionCount: Int { get }

    /// The number of connections without a socket in these sessions. Takes constant time.
    var detachedCount: Int { get }

    /// The sessions of a project on this node, in no order. Takes time in proportion to their number alone.
    ///
    /// - Parameter project: `nil` for the sessions of all projects.
    func sessionIDs(of project: APIKey?) -> [SessionID]

    /// A copy of a session's state; `nil` if this node does not host it.
    func state(of session: SessionID) -> SessionState?

    /// Reads some of the sleeping sessions whose IDs are in a range, the greatest first (HIS-3). Takes time in proportion to
    /// what it reads. A session that has just fallen asleep, or wakes, may be missing.
    ///
    /// - Parameter answer: called later, or from within the call.
    func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void)
}

extension MemoryEngine: InspectableEngine {}
extension LocalEngine: InspectableEngine {}
extension ClusterEngine: InspectableEngine {
    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        guard let sleepers else { return answer(.failure(SleepersUnread())) }
        sleepers.readSleepers(in: range, atMost: count) { [self] in answer($0.map { $0.asOf(sessions.logTime(now)) }) }
    }
}

/// A session that sleeps, as an operator sees it.
public struct SleepingSession: Sendable {
    public let id: SessionID
    public let lastSeq: Seq
    /// When the last connection joined.
    public let lastJoinAt: WallTime?
    /// Whether its history may have messages.
    public let hasHistory: Bool
    /// The number of restrictions that hold.
    public let restrictionCount: Int
    /// Whom they concern. Without guests, who have no names.
    public let restrictedUsers: [UserID]
}

extension SleepingSessions {
    /// Decodes the sessions. May be called on any thread.
    ///
    /// - Parameter isWanted: what to decode. To decode takes much longer than to read an ID.
    public func decoded(where isWanted: (SessionID) -> Bool) -> [SleepingSession] {
        rows.compactMap { row in
            guard isWanted(row.id), let state = row.decoded() else { return nil }
            let held = state.restrictions.ordered.filter { $0.holds(at: time) }
            return SleepingSession(
                id: row.id, lastSeq: state.log.lastSeq,
                lastJoinAt: state.lastCreationTime.milliseconds == .min ? nil : state.lastCreationTime,
                hasHistory: state.hasHistory, restrictionCount: held.count,
                restrictedUsers: held.compactMap { $0.key.user })
        }
    }
}

extension Restrictions.Key {
    fileprivate var user: UserID? {
        switch self {
        case .mute(let user), .ban(let user): user
        case .guestBan, .freeze: nil
        }
    }
}

extension SessionState {
    /// A connection as an operator sees it. Contains no secret.
    public struct MemberOverview: Sendable {
        public let connection: Connection
        public let role: Role
        /// When the connection lost its socket, in the engine's time; `nil` while it has one.
        public let detachedAt: MonotonicInstant?
    }

    /// The number of connections without a socket.
    public var detachedCount: Int { detachments.count }

    /// All connections in the order of joining.
    public var memberOverviews: some Sequence<MemberOverview> { roster.members.lazy.map(MemberOverview.init) }

    /// A connection by its ID; `nil` if it is not in the session.
    public func memberOverview(of connection: ConnectionID) -> MemberOverview? {
        roster[connection].map(MemberOverview.init)
    }
}

extension SessionState.MemberOverview {
    fileprivate init(_ member: Roster.Member) {
        connection = member.connection
        role = member.role
        detachedAt =
            switch member.attachment {
            case .attached: nil
            case .detached(let at, _): at
            }
    }
}
