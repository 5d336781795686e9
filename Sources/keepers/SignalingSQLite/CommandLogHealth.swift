import SignalingCore

/// Whether a log can keep commands.
public enum CommandLogHealth: Equatable, Sendable {
    /// Commands are kept. Next: `stalled`, `failed`.
    case keeping
    /// The disk is full or the database is locked. The log repeats the write once a second and confirms nothing until
    /// it succeeds. Next: `keeping`, `failed`.
    case stalled(CommandLogFault)
    /// The log has stopped, and confirms nothing any more. The process should end.
    case failed(CommandLogFault)
}
