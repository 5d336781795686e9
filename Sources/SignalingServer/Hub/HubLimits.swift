import SignalingCore
import SignalingProtocol

/// The bounds and intervals of a hub. The defaults are the product's; a simulation uses small ones, to reach them all.
struct HubLimits: Sendable {
    /// The time between two pings to a client (HB-1).
    var heartbeat = Limits.heartbeat
    /// When the hub stops reading from a client (WIRE-13).
    var backPressure = BackPressure.Bounds.standard
    /// Lines of one client that are handled in one turn of the loop. A normal client sends fewer at once; one message of
    /// the largest size may have thousands, and other clients must not wait for all of them.
    var linesPerTurn = 32
    /// Most bytes in one text message to a client that has fallen behind. The rest follows when the socket drains.
    var catchUpByteCount = 65_536
    /// Most bytes in the last text message to a client that leaves while its socket is backlogged.
    var farewellByteCount = 1_048_576
    /// How much each member adds to the time between two flushes of a session.
    var flushIntervalPerMember = FlushScheduler.intervalPerMember
    /// How a stopping server disconnects its clients (LEAVE-5).
    var drain = DrainPlan.Pace()
}
