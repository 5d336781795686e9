import SignalingCore
import SignalingProtocol

/// Opening a session, and verifying that Redis still has its order.
extension FollowedSession {
    mutating func askToOpen(_ link: inout ShardLink, desk: inout LogDesk) {
        noteAsked()
        link.send(.open(link.caller(desk), follow, trusts: link.isTrusted), &desk)
    }

    mutating func opened(_ answer: ShardAnswer.Opening, _ link: inout ShardLink, _ desk: inout LogDesk) {
        noteAnswered()
        switch answer {
        case .none(let time):
            desk.note(logTime: time)
            openedNothing(&desk)
            proceed(&link, &desk)
        case .found(let time, _, let stored):
            desk.note(logTime: time)
            if stored.generation == removedGeneration { return askToOpen(&link, desk: &desk) }
            opened(stored, &link, &desk)
            proceed(&link, &desk)
        case .damaged(let end):
            // To discard it once more would loop.
            if hasDiscarded { return link.note(.notUnderstood, now: desk.now) }
            hasDiscarded = true
            desk.effects.append(.note(.sessionDamaged(id)))
            discard(end, &link, &desk)
        case .refused(let refusal): note(refusal, &link, &desk)
        }
    }

    private mutating func openedNothing(_ desk: inout LogDesk) {
        standing = .verified
        guard stage == .opening else { return }
        stage = .followed
        desk.report(.opened(KeptCommands.Session(id: id, snapshot: nil, entries: [])), id)
        // Entries of others may have overtaken the reply, on the other connection.
        deliver(&desk)
    }

    private mutating func opened(_ stored: StoredSession, _ link: inout ShardLink, _ desk: inout LogDesk) {
        standing = .verified
        hasDiscarded = false
        heardAt = desk.now
        if stage == .opening {
            stage = .followed
            let early = inbox
            inbox = ChannelInbox(
                generation: stored.generation, position: stored.position, time: stored.time, counters: stored.counters)
            desk.report(
                .opened(
                    KeptCommands.Session(
                        id: id, snapshot: stored.snapshot, entries: stored.entries,
                        ownCounter: stored.counters[desk.run] ?? 0)), id)
            // Entries that have arrived while the session was opened.
            guard early.generation.isEmpty || early.generation == inbox.generation else { return }
            receive(early.waitingEntries, inbox.generation, &link, &desk)
        } else if stored.snapshot != nil || !inbox.adopt(generation: stored.generation) {
            // Others have begun it, and its beginning is gone.
            drop(because: "its beginning is missing")
        } else {
            receive(
                stored.entries.map { ChannelEntry(position: $0.position, time: $0.time, bytes: $0.bytes) },
                stored.generation, &link, &desk)
        }
    }

    /// Removes a session whose keys contradict each other, and opens it once more.
    private mutating func discard(_ end: StoredEnd?, _ link: inout ShardLink, _ desk: inout LogDesk) {
        noteAsked()
        if let end {
            forget(generation: end.generation)
            // Tells the other nodes, if this much is left.
            link.send(.remove(desk.run, id, end), &desk)
        }
        link.send(.delete(follow), &desk)
    }

    mutating func deleted(_ refusal: ShardRefusal?, _ link: inout ShardLink, _ desk: inout LogDesk) {
        noteAnswered()
        // A later tick opens it again.
        if let refusal { return note(refusal, &link, &desk) }
        if isFollowed { drop(because: "it was damaged") }
        proceed(&link, &desk)
    }

    /// A call was not carried out, and is repeated in a later tick. If the session's keys may be the reason, Redis looks
    /// at them first.
    mutating func note(_ refusal: ShardRefusal, _ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .failed(let failure) = refusal, case .damaged = failure else {
            return link.note(refusal, now: desk.now)
        }
        if damage != nil || hasEnded { return }
        damage = failure
        link.send(.repair(follow, generation: inbox.generation), &desk)
    }

    mutating func repaired(_ answer: ShardAnswer.Repair, _ link: inout ShardLink, _ desk: inout LogDesk) {
        guard let failure = damage else { return }
        damage = nil
        switch answer {
        case .sound: link.note(.failed(failure), now: desk.now)
        case .removed: if isFollowed { drop(because: "it was damaged") }
        case .refused(let refusal): link.note(refusal, now: desk.now)
        }
    }

    /// A generation was removed: what has arrived of it is worth nothing.
    mutating func forget(generation: String) {
        removedGeneration = generation
        if inbox.generation == generation { inbox = ChannelInbox() }
    }

    // MARK: - Verifying

    /// Tells Redis what this node has of the session.
    ///
    /// - Parameter snapshot: if Redis has asked for it.
    mutating func verify(_ link: inout ShardLink, snapshot: [UInt8]? = nil, _ desk: inout LogDesk) {
        guard let position = inbox.position else { return }
        noteAsked()
        let counters = inbox.counters.map { (run: $0.key, counter: $0.value) }.sorted {
            $0.run.rawValue < $1.run.rawValue
        }
        let restoration = ShardCall.Restoration(
            generation: inbox.generation, position: position, time: inbox.time,
            snapshot: snapshot.map { ($0, counters) })
        link.send(.restore(link.caller(desk), follow, restoration), &desk)
    }

    mutating func verified(_ answer: ShardAnswer.Verification, _ link: inout ShardLink, _ desk: inout LogDesk) {
        switch answer {
        case .fine(let number):
            standing = .verified
            heardAt = desk.now
            verifiedAt = desk.now
            // A message that Redis sent before it forgot may have come late.
            let number = number ?? 0
            if inbox.forgetWaiting(behind: number) || number > inbox.number { fill(&link, &desk) }
            proceed(&link, &desk)
        case .wanted(let stored): restore(behind: stored, &link, &desk)
        case .gone: drop(because: "Redis has another order, or has removed it")
        case .refused(let refusal):
            noteAnswered()
            note(refusal, &link, &desk)
        }
    }

    /// Redis has forgotten the session, or everything behind a position.
    private mutating func restore(behind stored: LogPosition?, _ link: inout ShardLink, _ desk: inout LogDesk) {
        if let stored, !inbox.agrees(with: stored) {
            // Redis has another order. No node may put its own back, since clients have seen both.
            link.send(.remove(desk.run, id, StoredEnd(inbox.generation, stored)), &desk)
            return drop(because: "Redis has another order than this node")
        }
        desk.effects.append(.askForState(follow))
    }

    /// The state that Redis has asked for; `nil` if the engine does not have it.
    mutating func stateAsked(_ state: KeptSnapshot?, _ link: inout ShardLink, _ desk: inout LogDesk) {
        // The link was lost meanwhile, or is another one.
        guard isAsked else { return }
        guard let state, inbox.position != nil else {
            return drop(because: "Redis has forgotten it, and there is no snapshot")
        }
        noteAnswered()
        if link.isReady, inbox.position == state.position {
            verify(&link, snapshot: state.bytes, &desk)
        } else {
            proceed(&link, &desk)
        }
    }

    // MARK: - Checks

    /// Compares what Redis has with what this node has. It costs Redis far less than a call of a function, which only
    /// follows if they differ (LOG-33).
    mutating func check(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .verified = standing, isFollowed, desk.now.duration(since: heardAt) >= desk.times.check else {
            return
        }
        heardAt = desk.now
        // A session without a command has nothing to verify.
        if inbox.position != nil, desk.now.duration(since: verifiedAt) >= desk.times.verification {
            verify(&link, &desk)
        } else {
            noteAsked()
            link.send(.compare(follow), &desk)
        }
    }

    mutating func compared(_ reading: ShardAnswer.Reading, _ link: inout ShardLink, _ desk: inout LogDesk) {
        noteAnswered()
        let stored: StoredMark
        switch reading {
        case .mark(let mark): stored = mark
        case .refused(let refusal): return note(refusal, &link, &desk)
        }
        // Redis has nothing of a session without a command.
        let expected = StoredMark(
            generation: inbox.position.map { _ in inbox.generation }, number: inbox.position?.number, id: inbox.id)
        if stored == expected { return }
        guard inbox.position == nil else { return verify(&link, &desk) }
        // Another node has begun the session.
        unvouch()
        proceed(&link, &desk)
    }
}
