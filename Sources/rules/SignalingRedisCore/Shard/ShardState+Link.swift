import DequeModule
import SignalingCore
import SignalingProtocol

/// Making and losing links, registering this run, and the library of functions (LOG-34).
extension ShardState {
    mutating func connect(_ desk: inout LogDesk) {
        link.phase = .connecting(since: desk.now)
        desk.effects.append(.connect(shard: link.shard))
    }

    /// - Parameter forgetsNothing: whether this Redis keeps everything over a restart.
    mutating func linkReady(forgetsNothing: Bool, _ desk: inout LogDesk) {
        guard case .connecting = link.phase else { return }
        link.isTrusted = forgetsNothing
        link.number += 1
        beatHeardAt = desk.now
        register(&desk)
    }

    mutating func linkLost(_ fault: CommandLogFault, _ desk: inout LogDesk) {
        guard link.phase != .closed else { return }
        noteOutage(&desk)
        // One line for each outage.
        if hasServed, outage?.fault == nil { desk.effects.append(.note(.linkLost(fault))) }
        outage?.fault = fault
        greeting = .none
        let attempts = outage?.attemptCount ?? 0
        outage?.attemptCount = attempts + 1
        link.phase = .away(retryAt: desk.now.advanced(by: desk.times.pause(afterAttempts: attempts, &desk.random)))
        link.interrupt()
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
        guard hasLink else { return }
        desk.effects.append(.disconnect(shard: link.shard))
        linkLost(fault, &desk)
    }

    mutating func close(_ desk: inout LogDesk) {
        if hasLink { desk.effects.append(.disconnect(shard: link.shard)) }
        link.phase = .closed
        slots = [:]
    }

    private var hasLink: Bool {
        switch link.phase {
        case .connecting, .greeting, .loading, .restoring, .serving: true
        case .away, .closed: false
        }
    }

    private mutating func noteOutage(_ desk: inout LogDesk) {
        // A Redis that was silent was away before the link was given up.
        if outage == nil { outage = Outage(since: link.waitingSince ?? desk.now) }
    }

    // MARK: - Greeting

    /// Registers this run on the link.
    private mutating func register(_ desk: inout LogDesk) {
        noteOutage(&desk)
        link.phase = .greeting
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
        case .failed(.functionMissing): load(&desk)
        case .failed(let failure): lose(CommandLogFault(failure, from: link.redis), &desk)
        case .notUnderstood:
            lose(.nonsense("an answer that is not understood", from: link.redis), &desk)
        }
    }

    private mutating func beginRestoring(until end: MonotonicInstant, period: String?, _ desk: inout LogDesk) {
        let present = link.phase
        link.phase = .restoring(until: end, period: period)
        // In another period, Redis has forgotten once more, with what was put back.
        if case .restoring(_, period) = present { return }
        noteOutage(&desk)
        for id in Array(slots.keys) { slots[id]?.session?.unvouch() }
        resumeSessions(&desk)
    }

    private mutating func beginServing(_ desk: inout LogDesk) {
        if link.isServing { return }
        link.phase = .serving
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
        if link.isServing { load(&desk) }
    }

    private mutating func load(_ desk: inout LogDesk) {
        // A Redis that has loaded the library, and does not know it, gets the pause before the next link.
        guard link.loadedOn != link.number else {
            return lose(CommandLogFault(RedisFailure.functionMissing, from: link.redis), &desk)
        }
        link.loadedOn = link.number
        noteOutage(&desk)
        link.phase = .loading
        link.send(.loadLibrary, &desk)
    }

    mutating func libraryLoaded(_ failure: RedisFailure?, _ desk: inout LogDesk) {
        guard link.phase == .loading else { return }
        guard let failure else { return register(&desk) }
        let fault = CommandLogFault(failure, from: link.redis)
        guard fault.code == .failing, case .other(let text) = failure else { return lose(fault, &desk) }
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

    /// Gives a link up on which Redis has been silent for too long.
    mutating func checkSilence(_ desk: inout LogDesk) {
        switch link.phase {
        case .connecting(let since):
            if desk.now.duration(since: since) >= desk.times.connecting { lose(silence, &desk) }
        case .greeting, .loading, .restoring, .serving:
            let limit = desk.times.silence
            let isWaiting = link.waitingSince.map { desk.now.duration(since: $0) >= limit } ?? false
            let beatIsMissing = desk.now.duration(since: beatHeardAt) >= desk.times.nodes.beat + limit
            if isWaiting || beatIsMissing { lose(silence, &desk) }
        case .away, .closed: return
        }
    }

    private var silence: CommandLogFault {
        CommandLogFault(.silent, "\(link.redis) does not answer. Check whether it is overloaded or stopped.")
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
        return (since, silence)
    }
}
