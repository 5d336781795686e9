import SignalingProtocol

/// Relayed signals of a session that wait until this node has the events before them.
struct HeldSignals {
    /// A node that is further behind drops them (LOG-8).
    static let longestWait = Duration.seconds(1)
    /// The maximum number of signals. Over the limit new ones are dropped.
    static let limit = 32

    private(set) var signals: [(signal: RelayedSignal, until: MonotonicInstant)] = []

    var isEmpty: Bool { signals.isEmpty }

    mutating func hold(_ signal: RelayedSignal, _ now: MonotonicInstant) {
        signals.removeAll { $0.until <= now }
        guard signals.count < Self.limit else { return }
        signals.append((signal, now.advanced(by: Self.longestWait)))
    }

    /// The signals that have not waited too long, in their order.
    mutating func takeAll(_ now: MonotonicInstant) -> [RelayedSignal] {
        defer { signals = [] }
        return signals.filter { $0.until > now }.map(\.signal)
    }
}
