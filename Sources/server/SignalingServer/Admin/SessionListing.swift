import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// What a list of sessions says about one. It tells nothing that a client wrote.
struct SessionRow: Sendable {
    let id: SessionID
    let connectionCount: Int
    let detachedCount: Int
    let lastSeq: Seq
    let logEventCount: Int
    let logByteCount: Int
    let eventsPerSecond: Double
    let sentBytesPerSecond: Double
    let sentByteCount: Int
    /// `nil` for a session that is awake.
    private let sleep: SleepingSession?
    /// From the settings.
    private let givenLabel: SessionLabel?

    init(
        _ state: SessionState, _ traffic: RoomTraffic?, labels: [SessionID: SessionLabel], now: MonotonicInstant
    ) {
        id = state.id
        givenLabel = labels[state.id]
        connectionCount = state.connectionCount
        detachedCount = state.detachedCount
        lastSeq = state.log.lastSeq
        logEventCount = state.log.entries.count
        logByteCount = state.log.byteCount
        eventsPerSecond = traffic?.events.perSecond(now: now) ?? 0
        sentBytesPerSecond = traffic?.sentBytes.perSecond(now: now) ?? 0
        sentByteCount = traffic?.sentByteCount ?? 0
        sleep = nil
    }

    init(_ sleeper: SleepingSession, labels: [SessionID: SessionLabel]) {
        (id, lastSeq, sleep) = (sleeper.id, sleeper.lastSeq, sleeper)
        givenLabel = labels[sleeper.id]
        (connectionCount, detachedCount, logEventCount, logByteCount, sentByteCount) = (0, 0, 0, 0, 0)
        (eventsPerSecond, sentBytesPerSecond) = (0, 0)
    }

    /// The ID is read when it is needed, mostly on another thread.
    var label: String? { (givenLabel ?? SessionIDCodec.label(of: id))?.text }

    var json: JSONValue {
        var object: JSONObject = [
            "sessionId": .string(id.rawValue), "label": label.map { .string($0) } ?? .null,
            "apiKey": (try? SessionIDCodec.apiKey(of: id)).map { .string($0.rawValue) } ?? .null,
            "connections": .integer(Int64(connectionCount)), "detached": .integer(Int64(detachedCount)),
            "lastSeq": .integer(lastSeq.rawValue), "logEvents": .integer(Int64(logEventCount)),
            "logBytes": .integer(Int64(logByteCount)), "eventsPerSecond": .rate(eventsPerSecond),
            "sentBytesPerSecond": .rate(sentBytesPerSecond), "sentBytes": .integer(Int64(sentByteCount)),
        ]
        if let sleep {
            object.append("asleep", true)
            if let joined = sleep.lastJoinAt { object.append("lastJoinAt", .integer(joined.milliseconds)) }
            object.append("hasHistory", .bool(sleep.hasHistory))
            object.append("restrictions", .integer(Int64(sleep.restrictionCount)))
        }
        return .object(object)
    }
}

/// All sessions of a caller at one moment, in the orders of the lists. A value that another thread can sort and read.
struct SessionListing: Sendable {
    /// Members of one session: a part of a page.
    struct Part: Hashable, Sendable {
        let session: SessionID
        var offset: Int
        var limit: Int
    }

    static let empty = SessionListing([])

    /// Those with the most traffic first; of two with the same, the larger one.
    let byTraffic: [SessionRow]
    /// In the order of their IDs, so that the pages of a list of connections fit together.
    private let byID: [(id: SessionID, connectionCount: Int)]
    let connectionCount: Int

    /// Takes time in proportion to the number of sessions.
    init(_ rows: [SessionRow]) {
        byTraffic = rows.sorted { left, right in
            // A rate that has decayed to almost nothing does not count.
            let (one, other) = (left.sentBytesPerSecond.rounded(), right.sentBytesPerSecond.rounded())
            if one != other { return one > other }
            if left.connectionCount != right.connectionCount { return left.connectionCount > right.connectionCount }
            return left.id < right.id
        }
        byID = rows.map { ($0.id, $0.connectionCount) }.sorted { $0.0 < $1.0 }
        connectionCount = rows.reduce(0) { $0 + $1.connectionCount }
    }

    /// The members that make a page of the list of all connections.
    func parts(offset: Int, limit: Int) -> [Part] {
        var (offset, limit, parts): (Int, Int, [Part]) = (offset, limit, [])
        for (id, count) in byID where limit > 0 {
            if offset >= count {
                offset -= count
                continue
            }
            let part = Part(session: id, offset: offset, limit: min(limit, count - offset))
            parts.append(part)
            limit -= part.limit
            offset = 0
        }
        return parts
    }
}

extension JSONValue {
    /// A rate, to one hundredth.
    fileprivate static func rate(_ value: Double) -> JSONValue { .double((value * 100).rounded() / 100) }
}
