import SignalingProtocol

/// The online-only signals of a session that wait for the next flush: of one sender, type and target only the newest.
public struct PendingOnlineOnly: Sendable {
    /// Most signals that may wait for one flush; more are dropped, the new ones first (G5).
    public static let limit = 256
    /// Most bytes of signals that may wait for one flush, likewise. Typing indicators are a fraction of it.
    public static let byteLimit = 262_144

    public private(set) var signals: [OnlineOnlySignal] = []
    private var byteCount = 0
    /// How many were dropped because the lane was full.
    public private(set) var droppedCount = 0

    public init() {}
    public var isEmpty: Bool { signals.isEmpty }

    public mutating func append(_ signal: OnlineOnlySignal) {
        // The newer one takes its own place, not the older one's: it may have to come after an event between them.
        signals.removeAll { older in
            let isOutdated =
                older.from == signal.from && older.type == signal.type && older.audience == signal.audience
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

    /// Whoever could not take them now never will (G6).
    public mutating func removeAll() {
        signals.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
