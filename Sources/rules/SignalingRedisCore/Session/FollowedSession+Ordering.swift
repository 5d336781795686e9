import DequeModule
import SignalingCore
import SignalingProtocol

/// Bringing the commands of all nodes into their order, and catching up.
extension FollowedSession {
    mutating func receive(
        _ entries: [ChannelEntry], _ generation: String, _ link: inout ShardLink, _ desk: inout LogDesk
    ) {
        // Messages of a removed generation may still be on their way.
        if generation == removedGeneration { return }
        guard inbox.adopt(generation: generation) else {
            // While a session is opened, entries of a former generation may still arrive.
            if isFollowed, !isAsked { verify(&link, &desk) }
            return
        }
        for entry in entries where !inbox.receive(entry, now: desk.now) {
            return drop(because: "entries contradict each other")
        }
        if isFollowed { deliver(&desk) }
    }

    mutating func received(_ message: ChannelMessage, _ link: inout ShardLink, _ desk: inout LogDesk) {
        switch message {
        case .entries(let generation, let entries): receive(entries, generation, &link, &desk)
        case .removed(let generation):
            if stage == .opening {
                forget(generation: generation)
            } else if inbox.generation == generation {
                drop(because: "it was removed")
            }
        case .relayed(let sender, let bytes):
            if sender != desk.run, isFollowed { desk.report(.relayed(bytes), id) }
        }
    }

    mutating func deliver(_ desk: inout LogDesk) {
        var entries: [CommandEntry] = []
        var settled = 0
        var appendedAt: MonotonicInstant?
        var isComplete = true
        while let entry = inbox.next(now: desk.now) {
            var bytes = entry.bytes
            if entry.position.id.run == desk.run, let own = own.confirm(counter: entry.position.id.counter) {
                settled += own.bytes.count
                bytes = own.bytes
                // The commands of one turn are one append.
                if own.appendedAt != appendedAt {
                    desk.effects.append(.confirmed(after: desk.now.duration(since: own.appendedAt)))
                }
                appendedAt = own.appendedAt
            }
            guard let bytes else {
                isComplete = false
                break
            }
            entries.append(CommandEntry(session: id, position: entry.position, time: entry.time, bytes: bytes))
        }
        heardAt = desk.now
        if let last = entries.last {
            desk.noteSettled(byteCount: settled)
            desk.note(logTime: last.time)
            desk.report(.confirmed(entries), id)
        }
        // An entry of this run whose bytes are not here is of an earlier opening.
        if !isComplete { return drop(because: "a command of this node is not known") }
        answerCatchUps(&desk)
    }

    // MARK: - Gaps

    /// Asks for the entries that are missing (LOG-33).
    mutating func fill(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard isFollowed, isVerified, !isFilling, link.isReady else { return }
        isFilling = true
        let missing = inbox.missing
        link.send(.fill(follow, from: missing.first, through: missing.last), &desk)
    }

    mutating func filled(
        from first: UInt64, _ filling: ShardAnswer.Filling, _ link: inout ShardLink, _ desk: inout LogDesk
    ) {
        isFilling = false
        switch filling {
        case .entries(let entries, let stored):
            if isVerified { filled(from: first, entries, stored, &link, &desk) }
        case .refused(let refusal):
            // A later tick asks again.
            inbox.gapRemains(now: desk.now)
            note(refusal, &link, &desk)
        }
    }

    private mutating func filled(
        from first: UInt64, _ entries: [CommandEntry], _ stored: StoredMark, _ link: inout ShardLink,
        _ desk: inout LogDesk
    ) {
        guard stored.generation == inbox.generation || inbox.generation.isEmpty else {
            return drop(because: "it was removed while entries were read")
        }
        let lastNumber = stored.number ?? 0
        if lastNumber >= first, entries.first?.position.number != first, inbox.number < first {
            // Trimmed: a snapshot has replaced the entries.
            return drop(because: "missing entries were trimmed")
        }
        inbox.gapIsFilled()
        receive(
            entries.map { ChannelEntry(position: $0.position, time: $0.time, bytes: $0.bytes) },
            stored.generation ?? "",
            &link, &desk)
        if inbox.number < lastNumber, entries.count == ShardCall.rangeCount { fill(&link, &desk) }
        proceed(&link, &desk)
    }

    // MARK: - Catching up

    mutating func askForCatchUps(_ link: inout ShardLink, _ desk: inout LogDesk) {
        for index in catchUps.indices {
            guard case .unsent = catchUps[index] else { continue }
            catchUps[index] = .sent
            link.send(.catchUp(follow), &desk)
        }
    }

    mutating func caughtUp(_ reading: ShardAnswer.Reading, _ link: inout ShardLink, _ desk: inout LogDesk) {
        let sent = catchUps.firstIndex { if case .sent = $0 { true } else { false } }
        switch reading {
        case .mark(let stored): caughtUp(sent, stored, &desk)
        case .refused(let refusal):
            // A later tick asks again.
            if let sent { catchUps[sent] = .unsent }
            note(refusal, &link, &desk)
        }
    }

    private mutating func caughtUp(_ sent: Int?, _ stored: StoredMark, _ desk: inout LogDesk) {
        if let generation = stored.generation, !inbox.adopt(generation: generation) {
            return drop(because: "another one has begun")
        }
        // Without a generation, the log did not have the session then. Entries may have arrived since, on the other
        // connection.
        let lastNumber = stored.number ?? 0
        if let sent { catchUps[sent] = .until(lastNumber) }
        inbox.note(lastNumber: lastNumber, now: desk.now)
        answerCatchUps(&desk)
    }

    private mutating func answerCatchUps(_ desk: inout LogDesk) {
        while case .until(let number)? = catchUps.first, inbox.number >= number {
            catchUps.removeFirst()
            desk.report(.caughtUp, id)
        }
    }
}
