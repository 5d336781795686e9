import SignalingProtocol

/// The pending online-only signals of a session, which wait for the next flush. Of several signals with the same
/// sender, type and target, only the newest is kept (G6).
public struct PendingOnlineOnly: Sendable {
    /// The maximum number of pending signals. Over the limit new signals are dropped (G5).
    public static let limit = 256
    /// The maximum number of bytes of pending signals. Over the limit new signals are dropped (G5). Typing indicators
    /// need a fraction of it.
    public static let byteLimit = 262_144

    public private(set) var signals: [OnlineOnlySignal] = []
    private(set) var byteCount = 0
    /// How many signals were dropped over the limits.
    public private(set) var droppedCount = 0

    public init() {}
    public var isEmpty: Bool { signals.isEmpty }

    public mutating func append(_ signal: OnlineOnlySignal) {
        // The newer signal goes to the end: it may have to come after an event since the older one.
        signals.removeAll { older in
            let isOutdated =
                older.from == signal.from && older.type == signal.type && older.audience == signal.audience
                && older.marker == signal.marker
            if isOutdated { byteCount -= older.line.byteCount }
            return isOutdated
        }
        guard signals.count < Self.limit, byteCount + signal.line.byteCount <= Self.byteLimit else {
            droppedCount += 1
            return
        }
        byteCount += signal.line.byteCount
        signals.append(signal)
    }

    /// Empties the queue after a flush. A client that could not get the signals now never gets them (G6).
    public mutating func removeAll() {
        signals.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
