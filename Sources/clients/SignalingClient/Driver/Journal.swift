import SignalingProtocol

/// A step of a session's driver: something that it did or received, in order. `signalbox-lab verify` and the simulation
/// check the steps against the guarantees.
package enum JournalEntry: Sendable {
    case opening
    case welcomed(Welcome)
    case sent(UInt64, SignalRequest)
    case answered(UInt64, Result<Seq?, SignalingError>)
    case heard(SessionEvent)
}

/// The receiver of the entries. A struct, because a closure as a bare generic argument of `Lock` is wrapped once more
/// at each access, and a call then overflows the stack.
struct Journal {
    var write: (@Sendable (JournalEntry) -> Void)?
}

extension Session {
    /// Calls `write` on the library's thread for each entry. Call it before `connect`.
    package func keepJournal(_ write: @escaping @Sendable (JournalEntry) -> Void) { driver.keepJournal(write) }
}

extension Session {
    /// Sends a signal without waiting for its answer, which is an entry of the journal.
    package func post(_ request: SignalRequest) {
        let driver = driver
        driver.environment.post { driver.call({ .signal(request, $0, retriesAfterReconnect: true) }) { _ in } }
    }
}
