import SignalingCore

/// Whether a Redis log can keep commands.
public enum RedisLogHealth: Equatable, Sendable {
    /// Commands are kept. Next: `stalled`.
    case keeping
    /// Nothing was kept for two seconds. The log tries again until it succeeds, and confirms nothing meanwhile. Next:
    /// `keeping`.
    case stalled(CommandLogFault)
}
