import DequeModule
import SignalingCore
import SignalingProtocol

/// An ended session that is removed after a while, if nobody begins it again.
struct Removal {
    let session: SessionID
    let generation: String
    let position: LogPosition
    let dueAt: MonotonicInstant
}

/// Appending commands, and bringing all nodes' commands into their order.
extension RedisShard {
    private static let rangeCount = 1_000
    /// Online-only signals are dropped when Redis has not answered for this long.
    private static let relayPatience = Duration.seconds(1)

    func append(_ commands: [CommandAppend]) {
        var touched: [FollowedSession] = []
        let now = loop.now()
        for command in commands {
            guard let session = sessions[command.session], command.id.run == owner.run else {
                // The engine has been told that the session, or the run, is not continued.
                owner.noteSettled(byteCount: command.bytes.count)
                continue
            }
            session.own.append(
                counter: command.id.counter, bytes: command.bytes, freesMemory: command.freesMemory, now: now)
            if touched.last !== session { touched.append(session) }
        }
        for session in touched { sendOwn(session) }
        link?.flush()
    }

    /// Sends the commands that were not sent yet.
    func sendOwn(_ session: FollowedSession) {
        guard isServing, session.isVerified, session.phase == .followed, session.sendsAgainAt == nil else { return }
        while let commands = session.own.takeForSending(), let first = commands.first {
            session.appendCount += 1
            // A full Redis takes what empties it, and refuses the rest.
            var command = RedisCommand(
                session.own.freesMemory ? .appendFreeing : .append, key: session.key,
                caller + [
                    session.feed.generation, Hexadecimal.text(UInt64.random(in: .min ... .max)), String(first.counter),
                ], extraCount: commands.count)
            for one in commands { command.add(one.bytes) }
            link?.send(command) { [weak self] reply in self?.appended(session, reply) }
        }
    }

    private func appended(_ session: FollowedSession, _ reply: RedisReply) {
        session.appendCount -= 1
        guard session.phase != .ended else { return }
        switch reply[0].text {
        case "ok":
            refusedSince = nil
            confirmed(session, reply)
        case "repeated":
            guard session.feed.adopt(generation: reply[1].text ?? "") else {
                return drop(session, because: "another one has begun")
            }
            fill(session)
        case "gone": drop(session, because: "Redis has no such order for its commands")
        case "gap":
            // Redis does not know of a command that it has confirmed, and no repetition closes this gap.
            if let last = reply[1].logNumber, let first = session.own.firstCounter, last + 1 < first {
                return drop(session, because: "Redis has forgotten commands of this node")
            }
            sendAgain(session, after: .zero)
        case "unvouched":
            session.isVerified = false
            sendAgain(session, after: .zero)
        default:
            sendAgain(session, after: times.retry)
            if !isRefused(reply, session) { refused(reply, session) }
        }
    }

    private func sendAgain(_ session: FollowedSession, after pause: Duration) {
        session.sendsAgainAt = loop.now().advanced(by: pause)
        noteAttention(session)
    }

    private func confirmed(_ session: FollowedSession, _ reply: RedisReply) {
        guard let generation = reply[1].text, let first = reply[2].logNumber, let counter = reply[3].logNumber,
            let count = reply[4].logNumber, count <= OwnCommands.callCommandCount,
            let time = reply[5].text.flatMap({ MonotonicInstant(microseconds: $0) })
        else {
            refused(reply, session)
            return
        }
        let entries = (0..<count).map { index in
            FeedEntry(
                position: LogPosition(
                    number: first + index, id: CommandID(run: owner.run, counter: counter + index)),
                time: time, bytes: nil)
        }
        receive(entries, generation, session)
    }

    // MARK: - Order

    func receive(_ entries: [FeedEntry], _ generation: String, _ session: FollowedSession) {
        // Messages of a removed generation may still be on their way.
        if generation == session.removedGeneration { return }
        let now = loop.now()
        guard session.feed.adopt(generation: generation) else {
            // While a session is opened, entries of a former generation may still arrive.
            if session.phase == .followed, !session.isAsked { verify(session) }
            return
        }
        for entry in entries where !session.feed.receive(entry, now: now) {
            return drop(session, because: "entries contradict each other")
        }
        if session.phase == .followed { deliver(session) }
    }

    func deliver(_ session: FollowedSession) {
        let now = loop.now()
        var entries: [CommandEntry] = []
        var settled = 0
        var appendedAt: MonotonicInstant?
        var isComplete = true
        while let entry = session.feed.next(now: now) {
            var bytes = entry.bytes
            if entry.position.id.run == owner.run, let own = session.own.confirm(counter: entry.position.id.counter) {
                settled += own.bytes.count
                bytes = own.bytes
                // The commands of one turn are one append.
                if own.appendedAt != appendedAt { owner.noteConfirmed(after: now.duration(since: own.appendedAt)) }
                appendedAt = own.appendedAt
            }
            guard let bytes else {
                isComplete = false
                break
            }
            entries.append(
                CommandEntry(session: session.id, position: entry.position, time: entry.time, bytes: bytes))
        }
        session.heardAt = now
        if let last = entries.last {
            owner.noteSettled(byteCount: settled)
            owner.note(logTime: last.time)
            owner.deliver(entries)
        }
        guard session.phase != .ended else { return }
        // An entry of this run whose bytes are not here is of an earlier opening.
        if !isComplete { return drop(session, because: "a command of this node is not known") }
        answerCatchUps(session)
        noteAttention(session)
    }

    /// Asks for the entries that are missing (LOG-33).
    func fill(_ session: FollowedSession) {
        guard session.phase == .followed, session.isVerified, !session.isFilling, let link, link.isReady else { return }
        session.isFilling = true
        let missing = session.feed.missing
        let last = missing.last.map { "\($0)-0" } ?? "+"
        var found = RedisReply.null
        link.send(
            RedisCommand(
                "XRANGE", "\(session.key):log", "\(missing.first)-0", last, "COUNT", String(Self.rangeCount))
        ) { found = $0 }
        // Generations are not reused: if it is still this one, the range was of this one.
        link.send(RedisCommand("HMGET", "\(session.key):meta", "g", "n")) { [weak self] reply in
            session.isFilling = false
            guard let self, session.phase != .ended, session.isVerified else { return }
            filled(session, from: missing.first, found, generation: reply[0].text, lastNumber: reply[1].logNumber ?? 0)
        }
    }

    private func filled(
        _ session: FollowedSession, from first: UInt64, _ found: RedisReply, generation: String?, lastNumber: UInt64
    ) {
        guard let array = found.array, generation == session.feed.generation || session.feed.generation.isEmpty else {
            if generation != session.feed.generation {
                drop(session, because: "it was removed while entries were read")
            } else {
                noteAttention(session)
            }
            return
        }
        let entries = array.compactMap { CommandEntry(session.id, $0) }
        if lastNumber >= first, entries.first?.position.number != first, session.feed.number < first {
            // Trimmed: a snapshot has replaced the entries.
            return drop(session, because: "missing entries were trimmed")
        }
        session.feed.gapIsFilled()
        receive(
            entries.map { FeedEntry(position: $0.position, time: $0.time, bytes: $0.bytes) }, generation ?? "", session)
        if session.phase != .ended, session.feed.number < lastNumber, entries.count == Self.rangeCount { fill(session) }
        if session.phase != .ended { proceed(session) }
    }

    // MARK: - Catching up

    func catchUp(_ id: SessionID) {
        guard let session = sessions[id] else { return }
        session.catchUps.append(.unsent)
        proceed(session)
        link?.flush()
    }

    func askForCatchUps(_ session: FollowedSession) {
        for index in session.catchUps.indices {
            guard case .unsent = session.catchUps[index] else { continue }
            session.catchUps[index] = .sent
            link?.send(RedisCommand("HMGET", "\(session.key):meta", "g", "n")) { [weak self] reply in
                self?.learned(session, generation: reply[0].text, lastNumber: reply[1].logNumber ?? 0)
            }
        }
    }

    private func learned(_ session: FollowedSession, generation: String?, lastNumber: UInt64) {
        guard session.phase != .ended else { return }
        if let generation, !session.feed.adopt(generation: generation) {
            return drop(session, because: "another one has begun")
        }
        // Without a generation, the log did not have the session then. Entries may have arrived since, on the other
        // connection.
        let sent = session.catchUps.firstIndex { if case .sent = $0 { true } else { false } }
        if let sent { session.catchUps[sent] = .until(lastNumber) }
        session.feed.note(lastNumber: lastNumber, now: loop.now())
        answerCatchUps(session)
        noteAttention(session)
    }

    private func answerCatchUps(_ session: FollowedSession) {
        while session.phase != .ended, case .until(let number)? = session.catchUps.first,
            session.feed.number >= number
        {
            session.catchUps.removeFirst()
            owner.caughtUp(session.id)
        }
    }

    // MARK: - Online-only signals

    func relay(_ bytes: [UInt8], of id: SessionID) {
        guard isServing, let link, sessions[id] != nil else { return }
        // Late ones are worth nothing, and would pile up.
        if let since = link.waitingSince, loop.now().duration(since: since) > Self.relayPatience { return }
        var command = RedisCommand(argumentCount: 3)
        command.add("PUBLISH")
        command.add(channelName(of: id))
        command.add(ChannelMessage.relay(bytes, from: owner.run))
        link.send(command) { _ in }
        link.flush()
    }

    // MARK: - Snapshots and removals

    func keep(_ snapshot: CommandSnapshot) {
        guard let session = sessions[snapshot.session], session.phase == .followed else { return }
        LoopWork.run(on: loop, snapshot.encode) { [weak self] bytes in
            guard let self, session.phase != .ended else { return }
            session.snapshot = (snapshot.position, bytes)
            proceed(session)
            link?.flush()
        }
    }

    func sendSnapshot(_ session: FollowedSession) {
        guard let (position, bytes) = session.snapshot, !session.isKeeping else { return }
        session.isKeeping = true
        var command = RedisCommand(
            .keep, key: session.key,
            Array(caller.dropFirst()) + [
                session.feed.generation, String(position.number), position.id.text,
                String(times.retention.wholeNanoseconds / 1_000),
            ], extraCount: 1)
        command.add(bytes)
        link?.send(command) { [weak self] reply in
            guard let self else { return }
            session.isKeeping = false
            guard session.phase != .ended, !isRefused(reply, session) else { return }
            switch reply[0].text {
            case "kept", "older":
                if session.snapshot?.position == position { session.snapshot = nil }
                noteAttention(session)
                owner.kept(position, of: session.id, byteCount: bytes.count)
            case "gone": drop(session, because: "Redis has no such order for its snapshot")
            case "unvouched":
                session.isVerified = false
                noteAttention(session)
            default: refused(reply, session)
            }
        }
    }

    func remove(_ id: SessionID, through position: LogPosition) {
        guard let session = sessions[id], !session.feed.generation.isEmpty else { return }
        removals.append(
            Removal(
                session: id, generation: session.feed.generation, position: position,
                dueAt: loop.now().advanced(by: times.removal)))
    }

    func carryOutRemovals(_ now: MonotonicInstant, all: Bool = false) {
        while let next = removals.first, all || next.dueAt <= now {
            removals.removeFirst()
            let arguments = [
                database, owner.run.hexadecimal, next.generation, String(next.position.number), next.position.id.text,
            ]
            link?.send(RedisCommand(.remove, key: "sb:{\(next.session.rawValue)}", arguments)) { _ in }
        }
    }
}
