import SignalingProtocol

/// The online-only signals of a session that wait for the next flush: of one sender, type and target only the newest.
public struct OnlineOnlyLane: Sendable {
    /// Most signals that may wait for one flush; more are dropped, the new ones first (G5).
    public static let limit = 256

    public private(set) var signals: [OnlineOnlySignal] = []
    /// How many were dropped because the lane was full.
    public private(set) var droppedCount = 0

    public init() {}
    public var isEmpty: Bool { signals.isEmpty }

    public mutating func append(_ signal: OnlineOnlySignal) {
        // The newer one takes its own place, not the older one's: it may have to come after an event between them.
        signals.removeAll { $0.from == signal.from && $0.type == signal.type && $0.audience == signal.audience }
        if signals.count < Self.limit { signals.append(signal) } else { droppedCount += 1 }
    }

    /// Whoever could not take them now never will (G6).
    public mutating func removeAll() { signals.removeAll(keepingCapacity: true) }
}
