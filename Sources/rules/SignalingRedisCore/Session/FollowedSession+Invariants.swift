import DequeModule
import SignalingCore
import SignalingProtocol

extension FollowedSession {
    /// The first invariant that does not hold after a step; `nil` if all do. None of them depends on what Redis says.
    var violation: String? {
        if hasEnded { return nil }
        if stage == .opening, inbox.position != nil {
            return "LOG-10: entry \(inbox.number) was delivered before the session was open"
        }
        return own.violation ?? inbox.violation ?? orderViolation
    }

    /// What a check looks at.
    var itemCount: Int { own.count + inbox.waiting.count + catchUps.count }

    private var orderViolation: String? {
        guard isFollowed else { return nil }
        if inbox.waiting[inbox.number + 1] != nil {
            return "LOG-33: entry \(inbox.number + 1) is there, and was not delivered"
        }
        if case .until(let number)? = catchUps.first, number <= inbox.number {
            return "LOG-35: a request waits for entry \(number), and the node has \(inbox.number)"
        }
        return nil
    }
}

extension OwnCommands {
    fileprivate var violation: String? {
        if sentCount > commands.count { return "LOG-3: \(sentCount) of \(commands.count) commands are sent" }
        if freeingCount != commands.count(where: \.freesMemory) {
            return "LOG-36: \(freeingCount) commands free memory by the count of the session"
        }
        for (earlier, later) in zip(commands, commands.dropFirst()) where later.counter <= earlier.counter {
            return "LOG-3: the command \(later.counter) comes behind \(earlier.counter)"
        }
        return nil
    }
}

extension ChannelInbox {
    fileprivate var violation: String? {
        if let early = waiting.keys.first(where: { $0 <= number }) {
            return "LOG-2: entry \(early) waits, and \(number) was delivered"
        }
        let bytes = waiting.values.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        if bytes != waitingBytes || waiting.count > Self.waitingCount {
            return "G5: \(waiting.count) entries of \(bytes) bytes wait, and \(waitingBytes) bytes are counted"
        }
        return nil
    }
}

extension ShardState {
    /// Checks a session after a step.
    mutating func checkInvariants(of id: SessionID) {
        #if DEBUG
            guard let itemCount = slots[id]?.session?.itemCount,
                slots[id]?.session?.checks.isDue(itemCount: itemCount, countPerTurn: 64) == true
            else { return }
            if let fault = slots[id]?.session?.violation {
                Invariants.report("\(fault) (session \(id) in Redis)")
            }
        #endif
    }
}

extension RedisLogState {
    /// The first invariant of all sessions together that does not hold after a tick; `nil` if all do. Takes time in
    /// proportion to the sessions and their commands.
    var violation: String? {
        // The end of the log forgets everything at once.
        if shards.contains(where: { if case .closed = $0.link.courier.phase { true } else { false } }) { return nil }
        let bytes = shards.reduce(0) { sum, shard in
            shard.slots.values.reduce(sum) { $0 + ($1.session?.own.byteCount ?? 0) }
        }
        if bytes != inFlightByteCount {
            return "LOG-22: \(inFlightByteCount) bytes are on their way by the count of the log, and \(bytes) are"
        }
        for shard in shards where shard.attention.count != shard.attended.count {
            return "LOG-33: \(shard.attention.count) sessions need attention, and \(shard.attended.count) are noted"
        }
        return nil
    }

    /// Checks all sessions together after a tick.
    func checkInvariants() {
        #if DEBUG
            if let violation { Invariants.report(violation) }
        #endif
    }
}
