import SignalingCore
import SignalingProtocol

/// Appending the commands of this node, keeping its snapshots, and forgetting what they replace.
extension FollowedSession {
    /// Sends the commands that were not sent yet.
    mutating func sendOwn(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard link.isServing, isVerified, isFollowed, case .flowing = sending else { return }
        while let commands = own.takeForSending() {
            appendCount += 1
            let appendix = ShardCall.Appendix(
                generation: inbox.generation, newGeneration: Hexadecimal.text(desk.random.next()), commands: commands,
                freesMemory: own.freesMemory)
            link.send(.append(link.caller(desk), follow, appendix), &desk)
        }
    }

    mutating func appended(_ answer: ShardAnswer.Appending, _ link: inout ShardLink, _ desk: inout LogDesk) {
        appendCount -= 1
        switch answer {
        case .ok(let generation, let first, let count, let time, let freesMemory):
            // A full Redis accepts what frees memory, and is still full.
            if !freesMemory { link.refusal = nil }
            let entries = (0..<count).map { index in
                let id = CommandID(run: first.id.run, counter: first.id.counter + index)
                return ChannelEntry(position: LogPosition(number: first.number + index, id: id), time: time, bytes: nil)
            }
            receive(entries, generation, &link, &desk)
        case .repeated(let generation):
            guard inbox.adopt(generation: generation) else { return drop(because: "another one has begun") }
            fill(&link, &desk)
        case .gone: drop(because: "Redis has no such order for its commands")
        case .gap(let last):
            // Redis does not know of a command that it has confirmed, and no repetition closes this gap.
            if let last, let first = own.firstCounter, last + 1 < first {
                return drop(because: "Redis has forgotten commands of this node")
            }
            sending = .repeating(at: desk.now)
        case .unvouched:
            unvouch()
            sending = .repeating(at: desk.now)
        case .refused(let refusal):
            sending = .repeating(at: desk.now.advanced(by: desk.times.retry))
            note(refusal, &link, &desk)
        }
    }

    // MARK: - Snapshots

    mutating func keep(_ new: KeptSnapshot, _ link: inout ShardLink, _ desk: inout LogDesk) {
        var new = new
        switch snapshot {
        case .none: snapshot = .waiting(new)
        case .waiting(let old):
            new.replacesErased = new.replacesErased || old.replacesErased
            snapshot = .waiting(new)
        case .sent(let old, let next):
            new.replacesErased = new.replacesErased || next?.replacesErased ?? false
            snapshot = .sent(old, next: new)
        }
        if isVerified, link.isServing { sendSnapshot(&link, &desk) }
    }

    mutating func sendSnapshot(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .waiting(let next) = snapshot else { return }
        snapshot = .sent(next, next: nil)
        link.send(
            .keep(link.caller(desk), follow, generation: inbox.generation, next, retention: desk.times.retention), &desk
        )
    }

    mutating func kept(_ answer: ShardAnswer.Keeping, _ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .sent(let sent, let next) = snapshot else { return }
        snapshot = .waiting(next ?? sent)
        switch answer {
        case .kept:
            snapshot = next.map { .waiting($0) } ?? .none
            if sent.replacesErased {
                erased = (sent.position.number, dueAt: desk.now.advanced(by: desk.times.retention))
            }
            desk.report(.kept(sent.position, byteCount: sent.bytes.count), id)
        case .gone: drop(because: "Redis has no such order for its snapshot")
        case .unvouched: unvouch()
        case .refused(let refusal): note(refusal, &link, &desk)
        }
    }

    // MARK: - Erased content

    /// Lets Redis forget commands with erased content (HIS-9), which it would keep for as long as nothing else happens.
    mutating func sendErased(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard let erased, desk.now >= erased.dueAt else { return }
        // Until the answer is there, which a lost link takes away.
        self.erased?.dueAt = desk.now.advanced(by: desk.times.retention)
        link.send(.forget(follow, generation: inbox.generation, through: erased.through), &desk)
    }

    mutating func forgot(
        through number: UInt64, _ refusal: ShardRefusal?, _ link: inout ShardLink, _ desk: inout LogDesk
    ) {
        if let refusal { return note(refusal, &link, &desk) }
        if erased?.through == number { erased = nil }
    }
}
