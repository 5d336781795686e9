import Glibc
import SignalingProtocol

/// What a session sends on this node, for administration. Updated once per flush.
struct RoomTraffic {
    /// Events of the session, without regard to the number of receivers.
    private(set) var events = DecayingRate()
    private(set) var sentBytes = DecayingRate()
    /// Since the first client joined.
    private(set) var sentByteCount = 0
    private var unratedByteCount = 0

    mutating func noteSent(byteCount: Int) {
        sentByteCount += byteCount
        unratedByteCount += byteCount
    }

    /// A flush has ended.
    mutating func noteFlush(eventCount: Int, now: MonotonicInstant) {
        events.add(eventCount, now: now)
        sentBytes.add(unratedByteCount, now: now)
        unratedByteCount = 0
    }
}

/// A rate per second over about the last ten seconds, with exponential decay. A pure value.
struct DecayingRate {
    private static let timeConstant = 10.0
    /// In nanoseconds.
    private static let stepTime: Int64 = 50_000_000
    private var value = 0.0
    private var updatedAt: MonotonicInstant?

    mutating func add(_ count: Int, now: MonotonicInstant) {
        let added = Double(count) / Self.timeConstant
        if let updatedAt, now.nanoseconds - updatedAt.nanoseconds < Self.stepTime {
            // Decayed later: the difference is under 1 %.
            value += added
            return
        }
        value = perSecond(now: now) + added
        updatedAt = now
    }

    func perSecond(now: MonotonicInstant) -> Double {
        guard let updatedAt else { return 0 }
        return value * exp(-max(0, now.duration(since: updatedAt).inSeconds) / Self.timeConstant)
    }
}
