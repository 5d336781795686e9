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
}

extension MemoryEngine: InspectableEngine {}
extension LocalEngine: InspectableEngine {}
extension ClusterEngine: InspectableEngine {}

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
