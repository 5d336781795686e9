import SignalingCore
import SignalingProtocol

/// The numbers of a hub and of its engine, for metrics and administration.
extension Hub {
    struct Overview {
        /// WebSockets, with or without a session.
        var openCount = 0
        var joinedCount = 0
        /// Connections in sessions without a socket.
        var detachedCount = 0
        var sessionCount = 0
    }

    /// Takes time in proportion to the number of sessions.
    var overview: Overview {
        var overview = Overview(openCount: peers.count)
        for room in rooms.values { overview.joinedCount += room.subscriptions.count }
        (engine as? any InspectableEngine)?.visitSessions { state in
            overview.sessionCount += 1
            overview.detachedCount += state.detachedCount
        }
        return overview
    }
}
