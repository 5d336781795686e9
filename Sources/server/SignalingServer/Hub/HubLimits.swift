import SignalingCore
import SignalingProtocol

/// The bounds and intervals of a hub. The defaults are those of the product; a simulation uses small ones, to reach
/// every bound.
struct HubLimits: Sendable {
    /// The time between two pings to a client (HB-1).
    var heartbeat = Limits.heartbeat
    /// What happens when the token of a connected client expires (TOK-9).
    var tokenExpiry = TokenExpiry.Policy.keep
    /// Who may read the history (HIS-8).
    var historyReading = HistoryReading.role
    /// When the hub stops reading from a client (WIRE-13).
    var backPressure = BackPressure.Bounds.standard
    /// The rate of a client's lines that the signal rate does not count (WIRE-15); `nil` for no limit.
    var inputRate: RateLimit?
    /// How many lines the hub handles in one turn of the loop.
    var lines = LineShare.Bounds()
    /// The maximum size in bytes of one text message to a client that is behind. The rest follows when the socket
    /// drains.
    var catchUpByteCount = 65_536
    /// The maximum size in bytes of the last text message to a client that leaves while its socket is backlogged.
    var farewellByteCount = 1_048_576
    /// How long the events of a session wait for each other before they are sent.
    var flushPace = FlushScheduler.Pace()
    /// How many connections may be in sessions, by project and by token (CON-3).
    var joins = JoinLimits()
    /// How a stopping server disconnects its clients (LEAVE-5).
    var drain = DrainPlan.Pace()
}
