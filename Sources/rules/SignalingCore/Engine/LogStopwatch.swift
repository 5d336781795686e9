import DequeModule
import SignalingProtocol

/// Measures how long a log takes that confirms all commands in the order of their appends, as that of one process does.
public struct LogStopwatch {
    private let now: () -> MonotonicInstant
    private let onConfirmed: (Duration) -> Void
    private let onKept: (Duration) -> Void
    private var appends: Deque<(count: Int, at: MonotonicInstant)> = []
    private var snapshots: [SessionID: MonotonicInstant] = [:]

    /// - Parameters:
    ///   - onConfirmed: called with the time from an append to the confirmation of its last command.
    ///   - onKept: called with the time until a snapshot was kept.
    public init(
        now: @escaping () -> MonotonicInstant, onConfirmed: @escaping (Duration) -> Void,
        onKept: @escaping (Duration) -> Void
    ) {
        self.now = now
        self.onConfirmed = onConfirmed
        self.onKept = onKept
    }

    mutating func noteAppend(of count: Int, at moment: MonotonicInstant) { appends.append((count, moment)) }

    mutating func noteConfirmed(_ confirmed: Int) {
        let now = now()
        var count = confirmed
        while let first = appends.first {
            if first.count > count {
                appends[appends.startIndex].count -= count
                return
            }
            count -= first.count
            onConfirmed(now.duration(since: first.at))
            appends.removeFirst()
        }
    }

    mutating func noteSnapshot(of session: SessionID) { snapshots[session] = now() }

    mutating func noteKept(_ session: SessionID) {
        if let began = snapshots.removeValue(forKey: session) { onKept(now().duration(since: began)) }
    }

    /// The log may never have the snapshot.
    mutating func forget(_ session: SessionID) { snapshots[session] = nil }
}
