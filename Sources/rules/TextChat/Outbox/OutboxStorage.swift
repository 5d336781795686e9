/// Where a ``TextChatComponent`` keeps the messages that have not been sent: usually a small file
/// (`FileOutbox` in TextChatFoundation).
///
/// One component of one process uses it at a time. All calls come from the component's actor.
public protocol OutboxStorage: AnyObject {
    /// The bytes of the last ``write(_:)``, also of an earlier run; nil if there are none.
    func read() throws -> [UInt8]?

    /// Replaces the bytes as a whole. When it returns, the new ones survive the end of the program; if it is cut short
    /// or throws, the old ones do.
    func write(_ bytes: [UInt8]) throws

    /// Keeps bytes that cannot be read for a person to look at, and begins anew without any.
    func setAside() throws
}

/// What ``TextChatComponent/openOutbox(_:room:now:isolation:)`` has found.
public enum OutboxOpening: Equatable, Sendable {
    /// So many messages of an earlier run are in the chat again.
    case opened(count: Int)
    /// The stored bytes were damaged, of a later version, or of another room. They were set aside, and the outbox is
    /// empty.
    case setAside(reason: String)
}
