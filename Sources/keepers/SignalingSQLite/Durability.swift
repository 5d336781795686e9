/// The accident after which a confirmed command is still kept (LOG-21).
public enum Durability: String, CaseIterable, Sendable {
    /// The end of the process, also by `kill -9`. After a loss of power the newest commands may be missing, so sessions
    /// begin new epochs. The log synchronizes the disk at checkpoints only.
    case process
    /// Loss of power, too. The log synchronizes the disk at each commit.
    case power
}
