/// The times of a Redis log. Tests shorten them.
package struct LogTimes {
    package init() {}

    package var nodes = NodeRegistry.Times()
    /// After a restart of Redis, nodes have this time to put back what it has forgotten (LOG-31).
    package var restoring = Duration.seconds(2)
    /// How long nothing may be kept before the log is stalled.
    package var stall = Duration.seconds(2)
    /// How long no Redis may be reachable before the clients are sent away: other nodes may have declared this one lost
    /// since, so that others see its clients leave.
    package var isolation = Duration.seconds(25)
    /// How long Redis may be silent before a new connection is tried.
    package var silence = Duration.seconds(10)
    /// How long connecting may take.
    package var connecting = Duration.seconds(5)
    /// How long Redis may read its data before a start fails.
    package var loading = Duration.seconds(10)
    /// The longest pause between two attempts to connect.
    package var reconnecting = Duration.seconds(1)
    /// How long a missing entry may arrive by itself before it is asked for (LOG-33).
    package var gap = Duration.milliseconds(200)
    /// How often a quiet session is checked (LOG-33), unless ``checksPerTick`` makes it rarer.
    package var check = Duration.seconds(5)
    /// The most checks in a tick: 1,000 a second. So idle sessions cost Redis the same, however many they are. With
    /// more than 5,000 idle sessions, a node checks each less often: with 50,000 sessions every 50 s.
    package var checksPerTick = 100
    /// How often a check of a quiet session also renews the life of its keys, which is a day.
    package var verification = Duration.seconds(3_600)
    /// The pause before a command is repeated that Redis could not keep.
    package var retry = Duration.milliseconds(250)
    /// How long an ended session stays, in case another node begins it again.
    package var removal = Duration.seconds(5)
    /// How long the log keeps commands that a snapshot replaces.
    package var retention = Duration.seconds(60)
    /// How long after its reply Redis surely has a message of the history on its disk (HIS-3).
    package var archiveProof = Duration.seconds(10)
    /// The pause before a message of the history is written again that Redis could not keep.
    package var archiveRetry = Duration.seconds(1)
    /// How long a stop waits for commands on their way.
    package var closing = Duration.seconds(2)
    package var tick = Duration.milliseconds(100)

    /// How long to wait before the next attempt to connect: doubles up to ``reconnecting``. The jitter spreads the nodes,
    /// which all lose a Redis at the same moment.
    func pause(afterAttempts count: Int, _ random: inout NameGenerator) -> Duration {
        min(reconnecting, .milliseconds(50 << min(count, 10))) * Double.random(in: 0.5...1, using: &random)
    }
}
