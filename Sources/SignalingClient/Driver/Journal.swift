import SignalingProtocol

/// What a session's driver does and hears, in its order: for `signalbox verify`, which judges it.
package enum JournalEntry: Sendable {
    case opening
    case welcomed(Welcome)
    case sent(UInt64, SignalRequest)
    case answered(UInt64, Result<Seq?, SignalingError>)
    case heard(SessionEvent)
}

/// Who is told. A type of its own: a closure that stands in a generic place by itself is wrapped once more each time that
/// somebody looks at it, and the call ends in an overflow of the stack.
struct Journal {
    var write: (@Sendable (JournalEntry) -> Void)?
}

extension Session {
    /// Each entry is written on the library's thread, as it happens. To be set before `connect`.
    package func keepJournal(_ write: @escaping @Sendable (JournalEntry) -> Void) { driver.keepJournal(write) }
}
