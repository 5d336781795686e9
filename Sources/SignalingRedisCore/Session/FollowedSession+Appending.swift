import SignalingCore
import SignalingProtocol

/// Appending the commands of this node, and keeping its snapshots.
extension FollowedSession {
    /// Sends the commands that were not sent yet.
    mutating func sendOwn(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard link.isServing, isVerified, isFollowed, case .flowing = sending else { return }
        while let commands = own.takeForSending() {
            appendCount += 1
            let appendix = ShardCall.Appendix(
                generation: feed.generation, newGeneration: Hexadecimal.text(desk.random.next()), commands: commands,
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
                return FeedEntry(position: LogPosition(number: first.number + index, id: id), time: time, bytes: nil)
            }
            receive(entries, generation, &link, &desk)
        case .repeated(let generation):
            guard feed.adopt(generation: generation) else { return drop(because: "another one has begun") }
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
        switch snapshot {
        case .none, .waiting: snapshot = .waiting(new)
        case .sent(let old, _): snapshot = .sent(old, next: new)
        }
        if isVerified, link.isServing { sendSnapshot(&link, &desk) }
    }

    mutating func sendSnapshot(_ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .waiting(let next) = snapshot else { return }
        snapshot = .sent(next, next: nil)
        link.send(
            .keep(link.caller(desk), follow, generation: feed.generation, next, retention: desk.times.retention), &desk)
    }

    mutating func kept(_ answer: ShardAnswer.Keeping, _ link: inout ShardLink, _ desk: inout LogDesk) {
        guard case .sent(let sent, let next) = snapshot else { return }
        snapshot = .waiting(next ?? sent)
        switch answer {
        case .kept:
            snapshot = next.map { .waiting($0) } ?? .none
            desk.report(.kept(sent.position, byteCount: sent.bytes.count), id)
        case .gone: drop(because: "Redis has no such order for its snapshot")
        case .unvouched: unvouch()
        case .refused(let refusal): note(refusal, &link, &desk)
        }
    }
}
