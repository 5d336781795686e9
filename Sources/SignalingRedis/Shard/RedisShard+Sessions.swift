import DequeModule
import Logging
import SignalingCore
import SignalingProtocol

/// Opening, following and closing sessions.
extension RedisShard {
    /// How many sessions are taken up in one turn of the loop after a reconnection.
    private static let resumeCount = 2_000

    func open(_ id: SessionID) {
        if let session = sessions[id], session.phase == .opening { return }
        if let old = sessions[id] { end(old) }
        let session = FollowedSession(id: id, now: loop.now())
        sessions[id] = session
        if checked.insert(id).inserted { toCheck.append(id) }
        let name = channelName(of: id)
        let channel = channels[name] ?? Channel()
        channels[name] = channel
        channel.session = session
        if link?.isReady == true, let action = channel.subscription.want(true) { perform(action, name) }
        proceed(session)
        link?.flush()
    }

    func close(_ id: SessionID) {
        guard let session = sessions[id] else { return }
        forget(session)
        link?.flush()
    }

    /// Drops the session, and tells the engine. Its clients come back.
    func drop(_ session: FollowedSession, because reason: String) {
        guard session.phase != .ended else { return }
        logger.notice("a session is dropped: \(reason)", metadata: ["session": "\(session.id)"])
        forget(session)
        owner.dropped(session.id)
    }

    /// Forgets all sessions without telling the engine: this node continues as another run.
    func forgetAll() {
        for session in Array(sessions.values) { forget(session) }
        removals = []
    }

    private func forget(_ session: FollowedSession) {
        end(session)
        sessions[session.id] = nil
        let name = channelName(of: session.id)
        if let channel = channels[name] {
            channel.session = nil
            if link?.isReady == true, let action = channel.subscription.want(false) { perform(action, name) }
            if link?.isReady != true || channel.subscription.phase == .none { channels[name] = nil }
        }
        link?.send(
            RedisCommand(.close, key: session.key, [owner.run.hexadecimal])
        ) { _ in }
    }

    private func end(_ session: FollowedSession) {
        session.phase = .ended
        owner.noteSettled(byteCount: session.own.byteCount)
        session.own = OwnCommands()
        attention.remove(session.id)
    }

    // MARK: - Channels

    private func perform(_ action: ChannelSubscription.Action, _ name: String) {
        switch action {
        case .subscribe: link?.subscribe([name])
        case .unsubscribe: link?.unsubscribe([name])
        }
    }

    func subscriptionConfirmed(_ name: String, _ isSubscribed: Bool) {
        guard let channel = channels[name] else { return }
        if let action = channel.subscription.confirmed(isSubscribed) { perform(action, name) }
        if channel.session == nil, channel.subscription.phase == .none {
            channels[name] = nil
        } else if isSubscribed, let session = channel.session {
            proceed(session)
        }
        link?.flush()
    }

    func received(_ message: UnsafeRawBufferPointer, on name: String) {
        if name == nodesChannel { return receivedFromNodes(String(decoding: message, as: UTF8.self)) }
        guard let session = channels[name]?.session,
            let message = ChannelMessage(message, reader: owner.run, omitsOwn: !session.own.isEmpty)
        else { return }
        switch message {
        case .entries(let generation, let entries): receive(entries, generation, session)
        case .removed(let generation):
            if session.phase == .opening {
                session.forget(generation: generation)
            } else if session.feed.generation == generation {
                drop(session, because: "it was removed")
            }
        case .relayed(let sender, let bytes):
            if sender != owner.run, session.phase == .followed { owner.relayed(bytes, of: session.id) }
        }
        link?.flush()
    }

    // MARK: - After a reconnection

    func resumeSessions() {
        toResume.removeAll(keepingCapacity: true)
        toResume.append(contentsOf: sessions.keys)
        resumeMore()
    }

    func resumeMore() {
        guard !toResume.isEmpty else { return }
        var names: [String] = []
        for _ in 0..<min(Self.resumeCount, toResume.count) {
            guard let session = toResume.popFirst().flatMap({ sessions[$0] }) else { continue }
            let name = channelName(of: session.id)
            if channels[name]?.subscription.want(true) == .subscribe { names.append(name) }
            proceed(session)
        }
        link?.subscribe(names)
        link?.flush()
    }

    /// Does what is next for a session: subscribe, then open or verify, then append.
    func proceed(_ session: FollowedSession) {
        guard session.phase != .ended, channels[channelName(of: session.id)]?.subscription.phase == .subscribed else {
            return
        }
        if session.phase == .opening || session.feed.position == nil, !session.isVerified {
            if isServing, !session.isAsked { askToOpen(session) }
        } else if !session.isVerified {
            if !session.isAsked { verify(session) }
        } else if isServing {
            askForCatchUps(session)
            sendOwn(session)
            sendSnapshot(session)
        }
        noteAttention(session)
    }

    func noteAttention(_ session: FollowedSession) {
        // The id may be of a later opening.
        if session.phase == .ended { return }
        if session.needsAttention {
            attention.insert(session.id)
        } else {
            attention.remove(session.id)
        }
    }

    // MARK: - Opening

    private func askToOpen(_ session: FollowedSession) {
        session.isAsked = true
        let arguments = caller + [isTrusted ? "1" : "0"]
        link?.send(RedisCommand(.open, key: session.key, arguments)) { [weak self] reply in
            self?.opened(session, reply)
        }
    }

    private func opened(_ session: FollowedSession, _ reply: RedisReply) {
        session.isAsked = false
        guard session.phase != .ended, !isRefused(reply, session) else { return }
        if let time = reply[1].text.flatMap({ MonotonicInstant(microseconds: $0) }) { owner.note(logTime: time) }
        switch reply[0].text {
        case "none": openedNothing(session)
        case "found":
            guard
                let stored = StoredSession(session.id, meta: reply[3], snapshot: reply[4], entries: reply[5])
            else {
                logger.error("a session is damaged in Redis and begins anew", metadata: ["session": "\(session.id)"])
                return discard(session, reply[3])
            }
            if stored.generation == session.removedGeneration { return askToOpen(session) }
            noteLosses(reply[2], namedBy: stored)
            opened(session, stored)
        default: refused(reply, session)
        }
    }

    private func openedNothing(_ session: FollowedSession) {
        session.isVerified = true
        if session.phase == .opening {
            session.phase = .followed
            owner.opened(KeptCommands.Session(id: session.id, snapshot: nil, entries: []))
            // Entries of others may have overtaken the reply, on the other connection.
            if session.phase != .ended { deliver(session) }
        }
        proceed(session)
    }

    private func opened(_ session: FollowedSession, _ stored: StoredSession) {
        session.isVerified = true
        session.heardAt = loop.now()
        if session.phase == .opening {
            session.phase = .followed
            let waiting = session.feed
            session.feed = SessionFeed(
                generation: stored.generation, position: stored.position, time: stored.time, counters: stored.counters)
            owner.opened(
                KeptCommands.Session(
                    id: session.id, snapshot: stored.snapshot, entries: stored.entries,
                    ownCounter: stored.counters[owner.run] ?? 0))
            guard session.phase != .ended else { return }
            take(waiting, session)
        } else if stored.snapshot != nil || !session.feed.adopt(generation: stored.generation) {
            // Others have begun it, and its beginning is gone.
            drop(session, because: "its beginning is missing")
        } else {
            receive(
                stored.entries.map { FeedEntry(position: $0.position, time: $0.time, bytes: $0.bytes) },
                stored.generation, session)
        }
        if session.phase != .ended { proceed(session) }
    }

    /// Entries that have arrived while the session was opened.
    private func take(_ early: SessionFeed, _ session: FollowedSession) {
        guard early.generation.isEmpty || early.generation == session.feed.generation else { return }
        receive(early.waitingEntries, session.feed.generation, session)
    }

    /// Removes a session whose keys contradict each other, and opens it once more.
    private func discard(_ session: FollowedSession, _ meta: RedisReply) {
        let fields = meta.fields
        if let generation = fields["g"]?.text {
            session.forget(generation: generation)
            // Tells the other nodes, if this much is left.
            let arguments = [generation, fields["n"]?.text ?? "", fields["id"]?.text ?? ""]
            link?.send(
                RedisCommand(.remove, key: session.key, [database, owner.run.hexadecimal] + arguments)
            ) { _ in }
        }
        link?.send(RedisCommand("DEL", "\(session.key):meta", "\(session.key):log", "\(session.key):snap")) {
            [weak self] _ in
            guard let self, session.phase != .ended else { return }
            if session.phase == .opening { proceed(session) } else { drop(session, because: "it was damaged") }
        }
    }

    // MARK: - Verifying

    /// Tells Redis what this node has of the session.
    ///
    /// - Parameter snapshot: if Redis has asked for it.
    func verify(_ session: FollowedSession, snapshot: [UInt8]? = nil) {
        guard let position = session.feed.position else { return }
        session.isAsked = true
        let arguments =
            caller + [
                session.feed.generation, String(position.number), position.id.text, session.feed.time.microseconds,
            ]
        let counters =
            snapshot == nil
            ? [] : session.feed.counters.flatMap { [$0.key.hexadecimal, String($0.value)] }
        var command = RedisCommand(
            .restore, key: session.key, arguments, extraCount: (snapshot == nil ? 0 : 1) + counters.count)
        if let snapshot { command.add(snapshot) }
        for counter in counters { command.add(counter) }
        link?.send(command) { [weak self] reply in self?.verified(session, reply) }
    }

    private func verified(_ session: FollowedSession, _ reply: RedisReply) {
        session.isAsked = false
        guard session.phase != .ended, !isRefused(reply, session) else { return }
        switch reply[0].text {
        case "fine":
            session.isVerified = true
            session.heardAt = loop.now()
            session.verifiedAt = session.heardAt
            if let number = reply[1].logNumber, number > session.feed.number { fill(session) }
            proceed(session)
        case "wanted": restore(session, behind: LogPosition(number: reply[1], id: reply[2]))
        case "gone": drop(session, because: "Redis has another order, or has removed it")
        default: refused(reply, session)
        }
    }

    /// Redis has forgotten the session, or everything behind a position.
    private func restore(_ session: FollowedSession, behind stored: LogPosition?) {
        if let stored, !session.feed.agrees(with: stored) {
            // Redis has another order. No node may put its own back, since clients have seen both.
            let arguments = [
                database, owner.run.hexadecimal, session.feed.generation, String(stored.number), stored.id.text,
            ]
            link?.send(RedisCommand(.remove, key: session.key, arguments)) { _ in }
            return drop(session, because: "Redis has another order than this node")
        }
        guard let position = session.feed.position, let snapshot = owner.snapshot(of: session.id),
            snapshot.position == position
        else { return drop(session, because: "Redis has forgotten it, and there is no snapshot") }
        session.isAsked = true
        LoopWork.run(on: loop, snapshot.encode) { [weak self] bytes in
            guard let self, session.phase != .ended else { return }
            session.isAsked = false
            guard link?.isReady == true, session.feed.position == position else { return proceed(session) }
            verify(session, snapshot: bytes)
            link?.flush()
        }
    }

    // MARK: - Refusals

    /// Handles a reply that is the same for every function.
    func isRefused(_ reply: RedisReply, _ session: FollowedSession) -> Bool {
        if reply.error != nil {
            refused(reply, session)
            return true
        }
        switch reply[0].text {
        case "unknown", "lost", "restoring":
            greetAgain()
            noteAttention(session)
            return true
        default: return false
        }
    }

    /// A call failed, or its reply is not understood. It is repeated by a later tick.
    func refused(_ reply: RedisReply, _ session: FollowedSession) {
        let text = reply.error ?? "an answer that is not understood"
        if text.contains("Function not found") {
            loadLibrary()
        } else {
            let fault = CommandLogFault(text, from: address)
            // Another Redis has become the primary. The address leads there, or will soon.
            if fault.code == .readOnly || fault.code == .refused { link?.lose(fault) }
            if refusedSince == nil { refusedSince = (loop.now(), fault) }
        }
        noteAttention(session)
    }

    // MARK: - Ticks

    func attend(_ now: MonotonicInstant) {
        // Nothing waits for a repetition.
        if attention.isEmpty { refusedSince = nil }
        for id in attention {
            guard let session = sessions[id] else {
                attention.remove(id)
                continue
            }
            if let gapSince = session.feed.gapSince, now.duration(since: gapSince) >= times.gap { fill(session) }
            if let at = session.sendsAgainAt, now >= at, session.appendCount == 0 {
                session.sendsAgainAt = nil
                session.own.sendAgain()
            }
            proceed(session)
        }
    }
}
