import DequeModule
import SignalingCore
import SignalingProtocol

/// Opening, following, appending and closing.
extension ShardState {
    /// How many sessions are taken up in one turn of the loop after a reconnection.
    private static let resumeCount = 2_000
    /// Online-only signals are dropped when Redis has not answered for this long.
    private static let relayPatience = Duration.seconds(1)

    /// - Returns: whether the session is opened now, and not already before.
    mutating func open(_ id: SessionID, _ desk: inout LogDesk) -> Bool {
        if let old = slots[id]?.session {
            if old.stage == .opening { return false }
            desk.noteSettled(byteCount: old.own.byteCount)
        }
        let session = FollowedSession(nextFollow(of: id), now: desk.now)
        slots[id, default: Slot()].session = session
        if checked.insert(id).inserted { toCheck.append(id) }
        changeChannel(of: id, isWanted: true, &desk)
        proceed(id, &desk)
        return true
    }

    mutating func close(_ id: SessionID, _ desk: inout LogDesk) {
        slots[id]?.session?.stage = .ended(because: nil)
        finishStep(of: id, &desk)
    }

    /// Forgets all sessions without telling the engine: this node continues as another run.
    mutating func forgetAll(_ desk: inout LogDesk) {
        for id in slots.keys.sorted() where slots[id]?.session != nil { close(id, &desk) }
        removals = []
    }

    mutating func forget(_ id: SessionID, _ desk: inout LogDesk) {
        guard let session = slots[id]?.session else { return }
        desk.noteSettled(byteCount: session.own.byteCount)
        slots[id]?.session = nil
        changeChannel(of: id, isWanted: false, &desk)
        if !link.isReady || slots[id]?.channel.phase == ChannelSubscription.Phase.none { slots[id] = nil }
        link.send(.close(desk.run, id), &desk)
    }

    // MARK: - Channels

    private mutating func changeChannel(of id: SessionID, isWanted: Bool, _ desk: inout LogDesk) {
        guard link.isReady, let action = slots[id]?.channel.want(isWanted) else { return }
        perform(action, id, &desk)
    }

    private func perform(_ action: ChannelSubscription.Action, _ id: SessionID, _ desk: inout LogDesk) {
        switch action {
        case .subscribe: desk.effects.append(.subscribe(shard: link.shard, [id]))
        case .unsubscribe: desk.effects.append(.unsubscribe(shard: link.shard, id))
        }
    }

    mutating func subscriptionConfirmed(_ id: SessionID, _ isSubscribed: Bool, _ desk: inout LogDesk) {
        guard let slot = slots[id], slot.channel.awaits(isSubscribed) else {
            return lose(.nonsense("a subscription that nothing has asked for", from: link.redis), &desk)
        }
        if let action = slots[id]?.channel.confirmed(isSubscribed) { perform(action, id, &desk) }
        if slot.session == nil, slots[id]?.channel.phase == ChannelSubscription.Phase.none {
            slots[id] = nil
        } else if isSubscribed {
            proceed(id, &desk)
        }
    }

    mutating func received(_ message: ChannelMessage, of id: SessionID, _ desk: inout LogDesk) {
        guard let follow = slots[id]?.session?.follow else { return }
        step(follow, &desk) { $0.received(message, &$1, &$2) }
    }

    // MARK: - After a reconnection

    mutating func resumeSessions(_ desk: inout LogDesk) {
        toResume = Deque(slots.keys.sorted())
        resumeMore(&desk)
    }

    mutating func resumeMore(_ desk: inout LogDesk) {
        var channels: [SessionID] = []
        for _ in 0..<min(Self.resumeCount, toResume.count) {
            guard let id = toResume.popFirst(), slots[id]?.session != nil else { continue }
            if slots[id]?.channel.want(true) == .subscribe { channels.append(id) }
            proceed(id, &desk)
        }
        if !channels.isEmpty { desk.effects.append(.subscribe(shard: link.shard, channels)) }
    }

    /// Does what is next for a session, if its channel is subscribed.
    private mutating func proceed(_ id: SessionID, _ desk: inout LogDesk) {
        guard let slot = slots[id], let follow = slot.session?.follow, slot.channel.phase == .subscribed else { return }
        step(follow, &desk) { $0.proceed(&$1, &$2) }
    }

    // MARK: - What the engine asks for

    mutating func append(_ commands: some Sequence<CommandAppend>, _ desk: inout LogDesk) {
        var touched: [FollowID] = []
        for command in commands {
            guard let follow = slots[command.session]?.session?.follow, command.id.run == desk.run else {
                // The engine knows, or is about to be told, that the session or the run is not continued.
                desk.noteSettled(byteCount: command.bytes.count)
                continue
            }
            slots[command.session]?.session?.own.append(
                counter: command.id.counter, bytes: command.bytes, freesMemory: command.freesMemory, now: desk.now)
            if touched.last != follow { touched.append(follow) }
        }
        for follow in touched { step(follow, &desk) { $0.sendOwn(&$1, &$2) } }
    }

    mutating func catchUp(_ id: SessionID, _ desk: inout LogDesk) {
        slots[id]?.session?.catchUps.append(.unsent)
        proceed(id, &desk)
        finishStep(of: id, &desk)
    }

    mutating func relay(_ bytes: [UInt8], of id: SessionID, _ desk: inout LogDesk) {
        guard link.isServing, slots[id]?.session != nil else { return }
        // Late ones are worth nothing, and would pile up.
        if let since = link.waitingSince, desk.now.duration(since: since) > Self.relayPatience { return }
        link.send(.relay(desk.run, id, bytes), &desk)
    }

    mutating func keep(_ snapshot: CommandSnapshot, _ desk: inout LogDesk) {
        guard let session = slots[snapshot.session]?.session, session.isFollowed else { return }
        desk.effects.append(.encode(session.follow, snapshot))
    }

    mutating func remove(_ id: SessionID, through position: LogPosition, _ desk: inout LogDesk) {
        guard let session = slots[id]?.session, !session.inbox.generation.isEmpty else { return }
        let end = StoredEnd(session.inbox.generation, position)
        removals.append(Removal(session: id, end: end, dueAt: desk.now.advanced(by: desk.times.removal)))
    }

    mutating func sleep(
        _ snapshot: KeptSnapshot, of id: SessionID, life: Duration, restricted: Duration, _ desk: inout LogDesk
    ) {
        guard let session = slots[id]?.session, !session.inbox.generation.isEmpty else { return }
        let end = StoredEnd(session.inbox.generation, snapshot.position)
        sleepers.append(Sleeper(session: id, end: end, state: snapshot.bytes, life: life, restricted: restricted))
        sendSleepers(&desk)
    }

    /// Sends the sleepers one after the other. A later tick repeats a call that Redis refuses.
    mutating func sendSleepers(_ desk: inout LogDesk) {
        guard link.isServing, !isStoringSleeper, let sleeper = sleepers.first else { return }
        isStoringSleeper = true
        link.send(.sleep(link.caller(desk), sleeper), &desk)
    }

    mutating func slept(_ refusal: ShardRefusal?, _ desk: inout LogDesk) {
        isStoringSleeper = false
        switch refusal {
        // Another program has changed its keys. The node that opens it repairs them.
        case nil, .failed(.damaged):
            _ = sleepers.popFirst()
            sendSleepers(&desk)
        case .greetAgain, .failed, .notUnderstood:
            if let refusal { link.note(refusal, now: desk.now) }
            handleTrouble(&desk)
        }
    }

    mutating func carryOutRemovals(all: Bool = false, _ desk: inout LogDesk) {
        while let next = removals.first, all || next.dueAt <= desk.now {
            removals.removeFirst()
            link.send(.remove(desk.run, next.session, next.end), &desk)
        }
    }
}
