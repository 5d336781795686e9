import DequeModule
import SignalingProtocol

extension SessionState {
    /// The first invariant that does not hold; `nil` if all do. Takes time in proportion to ``itemCount``.
    package var violation: String? {
        // One expression of all of them takes the compiler too long.
        if let found = boundsViolation ?? log.violation ?? roster.violation ?? detachments.violation { return found }
        return memberViolation ?? streamViolation ?? ticketViolation ?? unarchived.violation(through: log.lastSeq)
            ?? changeables.violation(through: log.lastSeq) ?? reactions.violation ?? untoldPresence.violation
            ?? restrictionViolation
            ?? sleepViolation
    }

    /// What a check of the invariants looks at.
    var itemCount: Int {
        log.entries.count + roster.count + detachments.count + expiredTickets.tickets.count
            + forceDisconnectedTickets.tickets.count + unarchived.items.count + untold.count + changeables.count
            + reactions.count
    }

    private var boundsViolation: String? {
        let (own, expected) = (log.bounds, bounds.log)
        return own.eventCount == expected.eventCount && own.byteCount == expected.byteCount && own.age == expected.age
            ? nil : "G5: the log has other bounds than its session, \(own.eventCount) events and \(own.byteCount) bytes"
    }

    private var memberViolation: String? {
        let lost = Dictionary(detachments.losses.map { ($0.connectionId, $0) }) { first, _ in first }
        var lostCount = 0
        for member in roster.members {
            let id = member.connection.connectionId
            if max(member.ticket.joined, member.ticket.reach ?? .zero) > log.lastSeq {
                return "G1: \(id) joined at \(member.ticket.joined), behind the end of the log, \(log.lastSeq)"
            }
            if member.connection.creationTime > lastCreationTime {
                return "CON-5: \(id) is newer than every connection so far"
            }
            switch member.attachment {
            case .attached:
                if lost[id] != nil { return "RES-2: \(id) has a socket, and would expire" }
                if log.absences.contains(id) { return "PRES-4: \(id) has a socket, and is away" }
            case .detached(_, let until):
                guard let loss = lost[id] else { return "G7: \(id) has no socket, and would never expire" }
                if loss.until != until { return "RES-2: \(id) would expire at another time than its own" }
                if let token = loss.token, token != member.token {
                    return "RES-12: the loss of \(id) counts for another token"
                }
                lostCount += 1
            }
        }
        if lost.count != lostCount { return "G7: \(lost.count) connections would expire, and \(lostCount) can" }
        if let id = log.absences.ids.first(where: { !roster.contains($0) }) {
            return "PRES-4: \(id) is away, and not in the session"
        }
        return nil
    }

    private var ticketViolation: String? {
        for tickets in [expiredTickets, forceDisconnectedTickets] {
            if let fault = tickets.violation { return fault }
            for entry in tickets.tickets where roster.contains(entry.ticket.connectionId) {
                return "G7: \(entry.ticket.connectionId) has ended, and is in the session"
            }
        }
        return nil
    }

    private var restrictionViolation: String? {
        let entries = restrictions.ordered
        if entries.count > Limits.restrictionCount || restrictions.actions.count > Limits.restrictionCount {
            return "MOD-9: \(entries.count) restrictions and \(restrictions.actions.count) actions are kept"
        }
        if let last = restrictions.actions.last?.seq, last > log.lastSeq {
            return "MOD-7: an action has the seq \(last), behind the end of the log, \(log.lastSeq)"
        }
        return nil
    }

    private var sleepViolation: String? {
        if isAsleep, isNeeded || !log.entries.isEmpty || keeper != nil {
            return "HIS-3: the session sleeps with \(roster.count) connections and \(log.entries.count) events"
        }
        return nil
    }
}

extension RetainedTickets {
    fileprivate var violation: String? {
        if tickets.count > max(0, limit) { return "G5: \(tickets.count) tickets are kept, and the limit is \(limit)" }
        for (earlier, later) in zip(tickets, tickets.dropFirst()) where earlier.since > later.since {
            return "RES-2: the ticket of \(later.ticket.connectionId) would expire too late"
        }
        return nil
    }
}

extension UntoldPresence {
    fileprivate var violation: String? {
        if events.count > max(0, limit) { return "LOG-11: \(events.count) events wait, and the limit is \(limit)" }
        for (earlier, later) in zip(events, events.dropFirst()) where earlier.commandNumber > later.commandNumber {
            return "LOG-11: an event of \(earlier.commandNumber) waits before one of \(later.commandNumber)"
        }
        if let last = events.last?.commandNumber, last > commandNumber {
            return "LOG-11: an event of \(last) waits after command \(commandNumber)"
        }
        return nil
    }
}

extension Unarchived {
    /// - Parameter end: of the session's log.
    fileprivate func violation(through end: Seq) -> String? {
        var (last, bytes) = (Seq.zero, 0)
        for item in items {
            if item.seq <= last { return "HIS-3: \(item.seq) waits for the archive behind \(last)" }
            last = item.seq
            bytes += item.byteCount
        }
        if last > end || mark > end {
            return "HIS-3: \(last) waits for the archive, \(mark) was kept, and the log ends at \(end)"
        }
        if bytes != byteCount { return "G5: \(byteCount) bytes wait for the archive by its count, and \(bytes) do" }
        return nil
    }
}
