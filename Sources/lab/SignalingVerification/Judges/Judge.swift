import SignalingProtocol

/// Judges one idea of the promises, and remembers only what it must come back to.
protocol Judge: Sendable {
    /// A line of a server passes. The record has everything before it.
    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings)

    /// Everything has passed: an event may have become known from another client later.
    ///
    /// - Parameter isSettled: every client that is connected had the time to receive everything.
    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings)
}
