import SignalingProtocol

/// The outbox of a component, and what it does with messages whose fate is not known.
struct OutboxState {
    let storage: any OutboxStorage
    var contents: OutboxContents
    /// Why the last write failed; nil after a success.
    var fault: String?
    /// The greatest seq of an answer: later messages have greater ones.
    var lastSeq = Seq(0)
    var inquiry: OutboxInquiry?
    var inquiryCount = 0

    /// - Returns: whether the contents are stored.
    mutating func save() -> Bool {
        do {
            try storage.write(contents.encoded())
            fault = nil
        } catch {
            fault = "\(error)"
        }
        return fault == nil
    }
}

extension TextChatComponent {
    /// Keeps the user's messages in an outbox from now on, so that they survive the end of the program, and takes up
    /// those of an earlier run. Call it once, before the ``channel`` has a connection.
    ///
    /// With an outbox the user can write without a connection. A message stays in the outbox until the session has it,
    /// or until it is discarded. It is sent once and in order, also if the program is killed at any moment:
    /// - A message of which no byte has left is sent after the next connect.
    /// - A message that was given to a connection without an answer may have arrived. When that connection is gone, the
    ///   component looks for it in the session's history, and sends it again only if it is not there.
    /// - If the session keeps no history, or the history does not reach back so far, the message has failed with
    ///   ``ChatMessage/Failure/interrupted``, and the user decides. It holds back nothing.
    ///
    /// Connect with ``formerConnection``, so that the server ends the connection of the earlier run at once. Otherwise
    /// the component waits until the server ends it.
    ///
    /// - Parameters:
    ///   - storage: where the outbox lies, such as a file.
    ///   - room: names the room, such as its session ID. An outbox of another room is set aside.
    ///   - now: the date of messages that have none.
    ///   - isolation: the actor of the component, on which it sends.
    /// - Throws: the error of the storage, which then is not used.
    @discardableResult
    public func openOutbox(
        _ storage: some OutboxStorage, room: String, now: WallTime, isolation: isolated (any Actor)? = #isolation
    ) throws -> OutboxOpening {
        if let isolation { sending.actor = isolation }
        var contents = OutboxContents(room: room)
        var damage: String?
        if let bytes = try storage.read() {
            do throws(OutboxContents.Damage) {
                let stored = try OutboxContents(decoding: bytes)
                if stored.room == room { contents = stored } else { damage = "it belongs to another room" }
            } catch {
                damage = error.reason
            }
        }
        if damage != nil { try storage.setAside() }
        outbox = OutboxState(storage: storage, contents: contents)
        takeUp(contents, now: now)
        return damage.map { .setAside(reason: $0) } ?? .opened(count: contents.entries.count)
    }

    /// The connection of an earlier run to which a message was given. Pass it to `Session.connect`, which replaces it.
    public var formerConnection: ConnectionClaim? { outbox?.contents.former }

    /// Why the outbox could not be stored; nil after a success, and without an outbox. Messages are then shown and kept
    /// in memory only, and none is sent: without its mark in the outbox it could be sent twice.
    public var outboxError: String? { outbox?.fault }

    private func takeUp(_ contents: OutboxContents, now: WallTime) {
        var changes: [TimelineChange] = []
        for entry in contents.entries where timeline.ownMessage(entry.localID) == nil {
            changes += timeline.appendPending(entry.message, now: now)
            switch entry.state {
            case .waiting: sending.queue.append(entry.localID)
            case .stopped: sending.queue.appendPassedOver(entry.localID)
            case .handedOver(let attempt):
                echoes.note(attempt.connection)
                if wireForm == .bareText { echoes.expectBare(entry.localID, text: entry.text) }
                sending.queue.append(entry.localID)
                sending.queue.doubt(entry.localID)
            }
        }
        tell(changes)
        inquire()
        startNext()
    }

    // MARK: What happens to a message

    /// A new message is in the queue.
    func keep(_ message: ChatMessage) {
        guard outbox != nil, let entry = OutboxContents.Entry(message) else { return }
        outbox?.contents.append(entry)
        saveOutbox()
    }

    /// Stores that the message leaves now, before it does.
    ///
    /// - Returns: whether it may leave.
    func handOver(_ localID: LocalID, to channel: any SignalChannel) -> Bool {
        guard let known = outbox, let connection = channel.connectionId else { return true }
        let claim = channel.claim
        let attempt = OutboxContents.Attempt(
            connection: connection, epoch: channel.epoch,
            after: max(reader.lastSeq, known.lastSeq, claim?.seq ?? Seq(0)), oldest: reader.oldest)
        outbox?.contents.former = claim
        _ = outbox?.contents.set(localID, .handedOver(attempt))
        guard saveOutbox() else {
            // The stored form still says that it has not left, which stays true.
            _ = outbox?.contents.set(localID, .waiting)
            return false
        }
        return true
    }

    /// The message has failed for good, or waits for the user.
    func stop(_ localID: LocalID) {
        if outbox?.contents.set(localID, .stopped) == true { saveOutbox() }
    }

    /// The user tries again.
    func resume(_ localID: LocalID) {
        if outbox?.contents.set(localID, .waiting) == true { saveOutbox() }
    }

    /// The session has the message, or the user has discarded it.
    func release(_ localID: LocalID, seq: Seq?) {
        guard let known = outbox else { return }
        if let seq { outbox?.lastSeq = max(known.lastSeq, seq) }
        guard known.contents.contains(localID) else { return }
        outbox?.contents.remove(localID)
        saveOutbox()
    }

    @discardableResult
    private func saveOutbox() -> Bool {
        let before = outboxError
        let isSaved = outbox?.save() ?? true
        if before != outboxError { onActivity?(.outboxChanged) }
        return isSaved
    }

    /// The same connection has another secret.
    func renewClaim() {
        guard let former = outbox?.contents.former, let claim = channel?.claim,
            former.connectionId == claim.connectionId, former.secret != claim.secret
        else { return }
        outbox?.contents.former = claim
        saveOutbox()
    }

    // MARK: Messages of unknown fate

    /// The connection was lost before the answer: the message may have arrived.
    func doubt(_ localID: LocalID) {
        sending.queue.doubt(localID)
        inquire()
    }

    /// Looks for the messages of unknown fate, if that can be done now.
    func inquire() {
        guard let outbox, outbox.inquiry == nil, !sending.queue.isPaused, let channel, isConnected,
            let connection = channel.connectionId
        else {
            return
        }
        let subjects = outbox.contents.entries.compactMap { entry -> OutboxInquiry.Subject? in
            guard case .handedOver(let attempt) = entry.state, sending.queue.isDoubted(entry.localID) else {
                return nil
            }
            return .init(localID: entry.localID, text: entry.text, attempt: attempt)
        }
        guard !subjects.isEmpty else { return }
        guard channel.hasHistory else { return decide(subjects.map { .unknown($0.localID) }) }
        for former in Set(subjects.map(\.attempt.connection)) where former != connection {
            switch channel.isMember(former) {
            case false: break
            // It ends soon, and `connectionDestroyed` says so.
            case true: return
            case nil: return decide(subjects.map { .unknown($0.localID) })
            }
        }
        guard let inquiry = OutboxInquiry(subjects, epoch: channel.epoch, number: outbox.inquiryCount + 1),
            let actor = sending.actor
        else { return }
        self.outbox?.inquiryCount += 1
        self.outbox?.inquiry = inquiry
        read(inquiry, from: channel, on: actor)
    }

    /// The channel has another connection, or none: an inquiry begins anew.
    func stopInquiry() { outbox?.inquiry = nil }

    /// The caller is on the component's actor already, but cannot name it.
    private func read(_ inquiry: OutboxInquiry, from channel: any SignalChannel, on actor: some Actor) {
        nonisolated(unsafe) let component = self
        actor.assumeIsolated { actor in component.read(inquiry, from: channel, isolation: actor) }
    }

    private func read(
        _ inquiry: OutboxInquiry, from channel: any SignalChannel, isolation: isolated any Actor
    ) {
        Task { [weak self] in
            _ = isolation
            do throws(SignalingError) {
                self?.answer(inquiry.number, try await channel.history(inquiry.request))
            } catch {
                // The next connect asks again. A history that may not be read answers no question.
                self?.fail(inquiry.number, error)
            }
        }
    }

    private func answer(_ number: Int, _ page: HistoryPage) {
        guard outbox?.inquiry?.number == number, let step = outbox?.inquiry?.answer(page) else { return }
        switch step {
        case .read:
            guard let inquiry = outbox?.inquiry, let channel, let actor = sending.actor else { return }
            read(inquiry, from: channel, on: actor)
        case .done(let verdicts):
            stopInquiry()
            decide(verdicts)
        }
    }

    private func fail(_ number: Int, _ error: SignalingError) {
        guard let inquiry = outbox?.inquiry, inquiry.number == number else { return }
        stopInquiry()
        if error.code == .permissionDenied || error.code == .notFound { decide(inquiry.unknown) }
    }

    private func decide(_ verdicts: [OutboxInquiry.Verdict]) {
        for verdict in verdicts {
            switch verdict {
            case .arrived(let localID, let seq): settle(localID, seq: seq)
            case .absent(let localID):
                if sending.queue.isDoubted(localID) {
                    sending.queue.resume(localID)
                    resume(localID)
                }
            case .unknown(let localID):
                guard sending.queue.isDoubted(localID) else { break }
                sending.queue.pass(localID)
                stop(localID)
                tell(timeline.fail(localID, .interrupted))
                wakeWaiters(localID)
            }
        }
        startNext()
    }
}
