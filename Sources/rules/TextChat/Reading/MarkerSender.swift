import SignalingProtocol

/// When the user's read marker is sent: the newest only, one at a time, at most once a second, and once more after a connect
/// (READ-1).
struct MarkerSender {
    private static let interval = Duration.seconds(1)

    /// How far the user has read here; nil: nothing was marked.
    private(set) var newest: Seq?
    /// How far the server knows it, or does not want to.
    private var told = Seq(0)
    private(set) var sending: Seq?
    /// The last time it was sent on this connection.
    private var sentAt: MonotonicInstant?

    /// The user has read on.
    mutating func mark(_ seq: Seq) { newest = max(newest ?? seq, seq) }

    /// - Parameter through: what the server knows at a connect.
    mutating func connected(_ through: Seq?) {
        told = through ?? Seq(0)
        (sending, sentAt) = (nil, nil)
    }

    /// The user has read on, perhaps on another device.
    mutating func heard(_ through: Seq) { told = max(told, through) }

    /// Another order begins, or the user is erased: nothing of before is marked.
    mutating func forget() { newest = nil }

    /// When ``next(_:)`` has a marker; nil: not before something else happens.
    var deadline: MonotonicInstant? {
        guard sending == nil, newest ?? Seq(0) > told else { return nil }
        return sentAt.map { $0.advanced(by: Self.interval) } ?? MonotonicInstant(nanoseconds: 0)
    }

    /// The marker to send now; ``answered(_:)`` has to follow.
    mutating func next(_ now: MonotonicInstant) -> Seq? {
        // The clock has begun anew.
        if let sentAt, now < sentAt { self.sentAt = nil }
        guard let deadline, now >= deadline else { return nil }
        (sending, sentAt) = (newest, now)
        return newest
    }

    /// The server has the marker, or has refused it: then a greater one or the next connection tells it again.
    mutating func answered(_ seq: Seq) {
        guard seq == sending else { return }
        sending = nil
        told = max(told, seq)
    }
}
