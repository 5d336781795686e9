/// A command that the log did not accept, since its sender skipped a number (LOG-3). This is a defect of the sender.
public struct RefusedCommand: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        /// The log expects this counter next.
        case gap(expected: UInt64)
        /// The log has had the command, and does not know its number any more.
        case forgotten
    }
    public let reason: Reason
}
