import DequeModule
import SignalingCore
import SignalingProtocol

/// Ticks, and checks of quiet sessions: Redis may have lost a notification on its way, and no later one shows the gap
/// (LOG-33).
extension ShardState {
    /// The most closed sessions that a tick removes from the order of checks: more than a node closes in that time.
    private static let closedCountPerTick = 5_000

    mutating func tick(_ desk: inout LogDesk) {
        advanceLink(&desk)
        switch link.courier.service {
        case nil, .greeting: return
        case .restoring(let end, _):
            if desk.now >= end || isBeatDue(desk) { greet(&desk) }
            resumeMore(&desk)
            attend(&desk)
        case .serving:
            if isBeatDue(desk) { greet(&desk) }
            resumeMore(&desk)
            attend(&desk)
            check(&desk)
            sendSleepers(&desk)
            carryOutRemovals(&desk)
            for run in registry.overdue(now: desk.now) where run != desk.run { declareLost(run, &desk) }
        }
    }

    private mutating func attend(_ desk: inout LogDesk) {
        // Nothing waits for a repetition, or for the answer to one.
        if attention.isEmpty, link.waitingSince == nil { link.refusal = nil }
        for _ in 0..<attention.count {
            // A step may lose the link, and then the rest of them wait for the next one.
            guard let id = attention.popFirst() else { return }
            attended.remove(id)
            guard let slot = slots[id], let session = slot.session, session.needsAttention else { continue }
            let (follow, isSubscribed) = (session.follow, slot.channel.phase == .subscribed)
            step(follow, &desk) { session, link, desk in
                session.attend(&link, &desk)
                if isSubscribed { session.proceed(&link, &desk) }
            }
        }
    }

    /// Checks some of the sessions that were quiet, so that each is checked in its time.
    private mutating func check(_ desk: inout LogDesk) {
        let times = desk.times
        let ticks = max(1, Int(times.check.wholeNanoseconds / max(1, times.tick.wholeNanoseconds)))
        var checksLeft = min(slots.count / ticks + 1, times.checksPerTick)
        // Sessions that were closed meanwhile are no checks, or they would delay those of the others.
        var closedLeft = Self.closedCountPerTick
        while checksLeft > 0, closedLeft > 0, let id = toCheck.popFirst() {
            guard let follow = slots[id]?.session?.follow else {
                checked.remove(id)
                closedLeft -= 1
                continue
            }
            toCheck.append(id)
            checksLeft -= 1
            step(follow, &desk) { $0.check(&$1, &$2) }
        }
    }
}
