import SignalingProtocol

/// The outbox of a component: the messages that have not been sent, and the search for those of unknown fate.
struct OutboxState {
    var contents: OutboxContents
    /// The contents that were written last, or could not be.
    private var written: OutboxContents
    /// The greatest seq of an answer: later messages have greater ones.
    fileprivate var lastSeq = Seq(0)
    fileprivate(set) var inquiry: OutboxInquiry?
    fileprivate var inquiryCount = 0

    init(_ contents: OutboxContents) {
        self.contents = contents
        written = contents
    }

    /// The bytes to write now; nil: those in the storage are right.
    mutating func unsaved() -> [UInt8]? {
        if contents == written { return nil }
        written = contents
        return contents.encoded()
    }

    mutating func settle(_ localID: LocalID, seq: Seq?) {
        if let seq { lastSeq = max(lastSeq, seq) }
        contents.remove(localID)
    }
}

extension ChatRules {
    /// Takes up the messages of an earlier run.
    mutating func takeUp(_ contents: OutboxContents, now: WallTime) -> ChatOutcome {
        outbox = OutboxState(contents)
        var changes: [TimelineChange] = []
        for entry in contents.entries where timeline.ownMessage(entry.localID) == nil {
            changes += timeline.appendPending(entry.message, now: now)
            switch entry.state {
            case .waiting: queue.append(entry.localID)
            case .stopped: queue.appendPassedOver(entry.localID)
            case .handedOver(let attempt):
                echoes.note(attempt.connection)
                if wireForm == .bareText { echoes.expectBare(entry.localID, text: entry.text) }
                queue.append(entry.localID)
                queue.doubt(entry.localID)
            }
        }
        return ChatOutcome(changes: changes)
    }

    /// The message leaves once this is stored.
    mutating func handOver(_ localID: LocalID, to channel: any SignalChannel, _ connection: ConnectionID) {
        guard let known = outbox else { return }
        let claim = channel.claim
        let attempt = OutboxContents.Attempt(
            connection: connection, epoch: channel.epoch,
            after: max(reader.lastSeq, known.lastSeq, claim?.seq ?? Seq(0)), oldest: reader.oldest)
        outbox?.contents.former = claim
        outbox?.contents.set(localID, .handedOver(attempt))
    }

    /// The same connection has another secret.
    mutating func renewClaim() {
        guard let former = outbox?.contents.former, let claim = channel?.claim,
            former.connectionId == claim.connectionId, former.secret != claim.secret
        else { return }
        outbox?.contents.former = claim
    }

    // MARK: Messages of unknown fate

    /// Looks for the messages of unknown fate, if that can be done now.
    mutating func inquire() -> OutboxInquiry.Step? {
        guard let outbox, outbox.inquiry == nil, !isReturning, isUp, let channel,
            let connection = channel.connectionId
        else { return nil }
        let subjects = outbox.contents.entries.compactMap { entry -> OutboxInquiry.Subject? in
            guard case .handedOver(let attempt) = entry.state, queue.isDoubted(entry.localID) else { return nil }
            return .init(localID: entry.localID, text: entry.text, attempt: attempt)
        }
        guard let inquiry = OutboxInquiry(subjects, epoch: channel.epoch, number: outbox.inquiryCount + 1) else {
            return nil
        }
        guard channel.hasHistory else { return .done(inquiry.unknown) }
        for former in Set(subjects.map(\.attempt.connection)) where former != connection {
            switch channel.isMember(former) {
            case false: break
            // It ends soon, and `connectionDestroyed` says so.
            case true: return nil
            case nil: return .done(inquiry.unknown)
            }
        }
        self.outbox?.inquiryCount += 1
        self.outbox?.inquiry = inquiry
        return .read(inquiry.request)
    }

    /// The channel has another connection, or none: an inquiry begins anew.
    mutating func stopInquiry() { outbox?.inquiry = nil }

    /// The answer to an inquiry. It may come too late.
    mutating func answered(
        _ inquiry: OutboxInquiry, _ answer: Result<HistoryPage, SignalingError>
    ) -> OutboxInquiry.Step? {
        guard outbox?.inquiry?.number == inquiry.number else { return nil }
        switch answer {
        case .success(let page):
            let step = outbox?.inquiry?.answer(page)
            if case .done = step { stopInquiry() }
            return step
        case .failure(let error):
            // A later event asks again. A history that may not be read answers no question.
            stopInquiry()
            return error.code == .permissionDenied || error.code == .notFound ? .done(inquiry.unknown) : nil
        }
    }

    mutating func decide(_ verdicts: [OutboxInquiry.Verdict]) -> ChatOutcome {
        var outcome = ChatOutcome()
        for verdict in verdicts {
            switch verdict {
            case .arrived(let localID, let seq):
                let connection = outbox?.contents.connection(of: localID)
                outcome.changes += settle(
                    localID, seq: seq, ChatMessage.Stamp(connection: connection, form: wireForm), user: channel?.user)
            case .absent(let localID) where queue.isDoubted(localID):
                queue.resume(localID)
                outbox?.contents.set(localID, .waiting)
            case .unknown(let localID) where queue.isDoubted(localID):
                queue.pass(localID)
                outbox?.contents.set(localID, .stopped)
                outcome.changes += timeline.fail(localID, .interrupted)
            case .absent, .unknown: break
            }
        }
        return outcome
    }
}
