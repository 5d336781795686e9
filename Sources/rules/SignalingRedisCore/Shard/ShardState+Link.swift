import DequeModule
import SignalingCore
import SignalingProtocol

/// Making and losing links, registering this run, and the library of functions (LOG-34).
extension ShardState {
    /// - Parameter forgetsNothing: whether this Redis keeps everything over a restart.
    mutating func linkReady(forgetsNothing: Bool, _ desk: inout LogDesk) {
        guard link.courier.begin(.greeting) else { return }
        link.isTrusted = forgetsNothing
        link.number += 1
        beatHeardAt = desk.now
        register(&desk)
    }

    mutating func linkLost(_ fault: CommandLogFault, _ desk: inout LogDesk) {
        // A Redis that was silent was away before the link was given up.
        let since = link.waitingSince
        guard link.courier.lost(now: desk.now, desk.times, &desk.random) else { return }
        noteOutage(since: since, &desk)
        // One line for each outage.
        if hasServed, outage?.fault == nil { desk.effects.append(.note(.linkLost(fault))) }
        outage?.fault = fault
        greeting = .none
        link.trouble = nil
        registry.interrupt()
        isStoringSleeper = false
        toResume = []
        attention = []
        attended = []
        for id in Array(slots.keys) {
            slots[id]?.session?.interrupt()
            slots[id]?.channel = ChannelSubscription()
            if slots[id]?.session == nil { slots[id] = nil }
        }
    }

    /// Gives the link up.
    mutating func lose(_ fault: CommandLogFault, _ desk: inout LogDesk) {
        if link.courier.hasLink { carryOut(.giveUp(fault), &desk) }
    }

    mutating func close(_ desk: inout LogDesk) {
        if link.courier.close() { desk.effects.append(.disconnect(shard: link.shard)) }
        slots = [:]
    }

    private mutating func carryOut(_ step: RedisCourier<ShardLink.Service>.Step?, _ desk: inout LogDesk) {
        switch step {
        case nil: break
        case .connect: desk.effects.append(.connect(shard: link.shard))
        case .loadLibrary:
            noteOutage(&desk)
            desk.effects.append(.call(shard: link.shard, .loadLibrary))
        case .giveUp(let fault):
            desk.effects.append(.disconnect(shard: link.shard))
            linkLost(fault, &desk)
        }
    }

    private mutating func noteOutage(since moment: MonotonicInstant? = nil, _ desk: inout LogDesk) {
        if outage == nil { outage = Outage(since: moment ?? link.waitingSince ?? desk.now) }
    }

    // MARK: - Greeting

    /// Registers this run on the link.
    private mutating func register(_ desk: inout LogDesk) {
        noteOutage(&desk)
        link.courier.phase = .ready(.greeting)
        greeting = .none
        greet(losses: registry.allLosses, &desk)
    }

    /// Renews this run's sign of life.
    mutating func greet(losses: [(run: RunID, time: MonotonicInstant)] = [], _ desk: inout LogDesk) {
        if case .sent = greeting { return }
        greeting = .sent(at: desk.now)
        let hello = ShardCall.Hello(
            restoring: desk.times.restoring, life: desk.times.nodes.life, fingerprint: settings.fingerprint,
            floor: settings.sharesClock ? desk.logTime : nil, losses: losses)
        link.send(.hello(link.caller(desk), hello), &desk)
    }

    mutating func greeted(_ run: RunID, _ answer: ShardAnswer.Greeting, _ desk: inout LogDesk) {
        guard run == desk.run, case .sent(let at) = greeting else { return }
        greeting = .answered(at)
        switch answer {
        case .ok(let time, let restoring, let period, let isLost, let list):
            desk.note(logTime: time)
            if isLost { return desk.isDeclaredLost = true }
            let news = registry.update(list, now: desk.now, logTime: time)
            if restoring > .zero {
                beginRestoring(until: desk.now.advanced(by: restoring), period: period, &desk)
            } else {
                beginServing(&desk)
            }
            for run in news where run != desk.run { declareLost(run, &desk) }
        case .otherList:
            let message =
                "Another node uses \(link.redis) with another list of Redis addresses. Give all nodes the same list, "
                + "in the same order."
            lose(CommandLogFault(.otherList, message), &desk)
        case .failed(.functionMissing): carryOut(link.courier.libraryMissing(now: desk.now), &desk)
        case .failed(let failure): lose(CommandLogFault(failure, from: link.redis), &desk)
        case .notUnderstood:
            carryOut(link.courier.misunderstood(), &desk)
        }
    }

    private mutating func beginRestoring(until end: MonotonicInstant, period: String?, _ desk: inout LogDesk) {
        let present = link.courier.service
        link.courier.change(to: .restoring(until: end, period: period))
        // In another period, Redis has forgotten once more, with what was put back.
        if case .restoring(_, period) = present { return }
        noteOutage(&desk)
        for id in Array(slots.keys) { slots[id]?.session?.unvouch() }
        resumeSessions(&desk)
    }

    private mutating func beginServing(_ desk: inout LogDesk) {
        if link.isServing { return }
        link.courier.change(to: .serving)
        link.courier.noteUse()
        outage = nil
        hasServed = true
        resumeSessions(&desk)
    }

    /// Redis does not know this run, or this link.
    mutating func greetAgain(_ desk: inout LogDesk) {
        if case .sent = greeting { return }
        if link.isServing { register(&desk) }
    }

    /// This node was declared lost, and goes on without its sessions.
    mutating func continueAsAnotherRun(after old: RunID, _ desk: inout LogDesk) {
        _ = registry.lose(old, at: desk.logTime)
        guard link.isReady else { return }
        link.send(.goodbye(old), &desk)
        register(&desk)
    }

    // MARK: - The library

    /// A function is missing: Redis has no library, or that of an older version.
    mutating func loadLibrary(_ desk: inout LogDesk) {
        if case .sent = greeting { return }
        if link.isServing { carryOut(link.courier.libraryMissing(now: desk.now), &desk) }
    }

    mutating func libraryLoaded(_ failure: RedisFailure?, _ desk: inout LogDesk) {
        guard link.courier.libraryLoaded() else { return }
        guard let failure else { return register(&desk) }
        guard case .other(let text) = failure else {
            return lose(CommandLogFault(failure, from: link.redis), &desk)
        }
        let message = "\(link.redis) does not accept functions: \(text). Use Redis 7.0 or later, and allow FUNCTION."
        lose(CommandLogFault(.unsuitable, message), &desk)
    }

    // MARK: - Silence

    func isBeatDue(_ desk: LogDesk) -> Bool {
        switch greeting {
        case .none: true
        case .sent(let at), .answered(let at): desk.now.duration(since: at) >= desk.times.nodes.beat
        }
    }

    /// Connects when it is time, and gives a link up on which Redis has been silent for too long.
    mutating func advanceLink(_ desk: inout LogDesk) {
        let beatIsMissing = desk.now.duration(since: beatHeardAt) >= desk.times.nodes.beat + desk.times.silence
        if beatIsMissing, link.isReady { return carryOut(.giveUp(link.courier.silence), &desk) }
        carryOut(link.courier.tick(now: desk.now, desk.times), &desk)
    }

    /// Since when nothing can be kept, and why; `nil` if it can.
    func stall() -> (since: MonotonicInstant, fault: CommandLogFault)? {
        if let outage {
            let restoring = CommandLogFault(.silent, "\(link.redis) was restarted, and is being restored.")
            return (outage.since, outage.fault ?? restoring)
        }
        // A call on its way must not hide that those before it were refused.
        guard let since = link.waitingSince else { return link.refusal }
        if let refusal = link.refusal, refusal.since <= since { return refusal }
        return (since, link.courier.silence)
    }
}
