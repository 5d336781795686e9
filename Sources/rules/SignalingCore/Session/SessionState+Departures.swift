import SignalingProtocol

/// How a session lets many connections go (LEAVE-6): in parts, so that the others can read of each departure before the
/// log drops it.
struct Departures: Hashable, Sendable {
    /// How long after one part the next one follows.
    static let pause = Duration.milliseconds(50)
    static let largestPart = 256
    /// So many go at once from the smallest log, too.
    static let smallestPart = 16

    /// When the next part leaves; `nil` if no connection waits.
    var resumeAt: MonotonicInstant?
    /// Whether the session may have connections that a ban concerns.
    var hasBanned = false
}

extension SessionState {
    /// How many connections may go at once.
    private var partSize: Int {
        // Without a connection that has a socket, nobody reads of departures.
        if rules < .newerTokens || detachments.count == roster.count { return .max }
        return max(Departures.smallestPart, min(Departures.largestPart, bounds.log.eventCount / 8))
    }

    /// Ends the connections whose resume windows are over, and those that a ban concerns.
    mutating func letGo(_ now: MonotonicInstant, effects: inout [SessionEffect]) {
        if let moment = departures.resumeAt, now < moment { return }
        departures.resumeAt = nil
        var rest = partSize
        while let oldest = detachments.oldest, oldest.until <= now {
            guard rest > 0 else {
                departures.resumeAt = now.advanced(by: Departures.pause)
                return
            }
            rest -= eventCount(ofDeparture: oldest.connectionId)
            expire(oldest.connectionId, now, effects: &effects)
        }
        if departures.hasBanned { endBanned(atMost: rest, now, effects: &effects) }
    }

    /// The end of its streams is an event of its own (STR-3).
    private func eventCount(ofDeparture connection: ConnectionID) -> Int { streams.has(connection) ? 2 : 1 }

    /// Ends the connections that a ban concerns, also those without a socket (MOD-3).
    mutating func endBanned(_ now: MonotonicInstant, effects: inout [SessionEffect]) {
        endBanned(atMost: partSize, now, effects: &effects)
    }

    private mutating func endBanned(
        atMost count: Int, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) {
        departures.hasBanned = false
        var rest = count
        for member in roster.members {
            guard let ban = restrictions.ban(of: member, at: now) else { continue }
            guard rest > 0 else {
                departures.hasBanned = true
                departures.resumeAt = departures.resumeAt ?? now.advanced(by: Departures.pause)
                return
            }
            rest -= eventCount(ofDeparture: member.connection.connectionId)
            forceOut(member.connection.connectionId, because: ban.record.restriction, now, effects: &effects)
        }
    }

    /// Whether the sender is a connection that a ban is about to end: for its requests it is not connected any more.
    func isBanned(_ sender: CommandSender, _ now: MonotonicInstant) -> Bool {
        guard departures.hasBanned, case .connection(let binding, _) = sender else { return false }
        return roster[binding.connectionId].flatMap { restrictions.ban(of: $0, at: now) } != nil
    }
}

extension Departures: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(resumeAt)
        writer.write(byte: hasBanned ? 1 : 0)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        resumeAt = try reader.optional()
        switch try reader.byte() {
        case 0: hasBanned = false
        case 1: hasBanned = true
        default: throw .malformed
        }
    }
}
