import SignalingCore
import SignalingProtocol

/// The numbers of a hub and of its engine, for metrics and administration.
extension Hub {
    struct Overview {
        /// WebSockets, with or without a session.
        let openCount: Int
        let joinedCount: Int
        /// Connections in sessions without a socket.
        let detachedCount: Int
        let sessionCount: Int
    }

    /// Takes constant time: it may be read for each scrape of the metrics.
    var overview: Overview {
        Overview(
            openCount: peers.count, joinedCount: joinedCount, detachedCount: inspectableEngine?.detachedCount ?? 0,
            sessionCount: inspectableEngine?.sessionCount ?? 0)
    }
}
