import SignalingProtocol

/// What an engine keeps as history, and where.
public struct EngineHistory {
    public var policy: HistoryPolicy
    /// `nil` if nothing is kept, and nothing was kept before.
    public let archive: (any MessageArchive)?

    public init(policy: HistoryPolicy, archive: (any MessageArchive)?) {
        self.policy = policy
        self.archive = archive
    }

    public static var none: EngineHistory { EngineHistory(policy: .none, archive: nil) }
}

/// Telling the archive what the sessions' states carry for it (HIS-3).
///
/// A batch is told when it is worth a transaction, when its oldest message has waited for long, when something is to be
/// erased, and when the session is needed for nothing else. The command that takes it from the state follows the
/// archive's answer, so the state and the archive may both have a message, but never none of them.
extension LoggedSessions {
    /// The messages and the bytes that are worth a transaction, and how long a message waits for them.
    private static var batchCount: Int { 64 }
    private static var batchByteCount: Int { 32_768 }
    private static var longestWait: Duration { .seconds(60) }
    /// The same if the feed tells of it: somebody waits for it, and each batch costs the archive a chunk. The batches of
    /// the ten seconds of a proof in Redis are not too many then (``ArchivingBatches/limit``).
    private static var longestWaitForFeed: Duration { .milliseconds(900) }
    /// How often erasures are told: each costs the archive what the session has. Those that wait are erased in every
    /// page already, and HIS-9 gives a minute for the files.
    private static var erasureInterval: Duration { .seconds(5) }
    private static var retryDelay: Duration { .seconds(1) }

    /// - Parameter time: of the log.
    func tellArchiveIfDue(of hosted: Session, at time: MonotonicInstant) {
        let told = hosted.toldForFeed
        guard let archive = history.archive, let state = hosted.state, let oldest = state.unarchived.first(after: told)
        else { return }
        var due = oldest.time.advanced(by: state.bounds.announces ? Self.longestWaitForFeed : Self.longestWait)
        if state.unarchived.hasErasure {
            due = min(due, hosted.lastToldErasure.map { $0.advanced(by: Self.erasureInterval) } ?? time)
        }
        // Changes are not worth one: a client that edits as fast as it may would cost the archive a chunk for each edit.
        let isWorthIt = told == nil && state.unarchived.isWorthBatch(of: Self.batchCount, Self.batchByteCount)
        guard isWorthIt || due <= time || !state.isOccupied else {
            return archiveChecks.schedule(hosted.id, at: due)
        }
        guard let (number, batch) = hosted.beginArchiving(archive.largestBatchCount, at: time) else {
            // The check that came now may have been noted before the fault.
            return archiveChecks.schedule(hosted.id, at: hosted.archiveDelay(at: time))
        }
        if state.bounds.announces, let next = state.unarchived.first(after: batch.last) {
            archiveChecks.schedule(hosted.id, at: next.time.advanced(by: Self.longestWaitForFeed))
        }
        archive.carryOut(batch.steps, of: hosted.id) { [self] in noteTold($0, of: number, to: hosted) }
    }

    private func noteTold(_ result: Result<Void, ArchiveFault>, of number: UInt64, to hosted: Session) {
        // The session may have been forgotten meanwhile: the log has the messages still.
        guard self[hosted.id] === hosted, hosted.state != nil else { return }
        switch result {
        case .success:
            if let seq = hosted.archiveAnswered(number) { append(.archived(through: seq), to: hosted) }
        case .failure:
            let moment = lastTime.advanced(by: Self.retryDelay)
            guard hosted.archiveFailed(number, tryAgainAt: moment) else { return }
            archiveChecks.schedule(hosted.id, at: moment)
        }
    }

    /// Tells the archive what has waited for long.
    ///
    /// - Parameter isOwn: whether this process tells of the session.
    func tellArchive(at time: MonotonicInstant, where isOwn: (Session) -> Bool = { _ in true }) {
        while let session = archiveChecks.popDue(by: time) {
            if let hosted = self[session], isOwn(hosted) { tellArchiveIfDue(of: hosted, at: time) }
        }
    }

    // MARK: - Lost orders

    /// Tells the archive what a state has for it that goes with its order (HIS-3), one batch after the other.
    ///
    /// - Parameter count: the most messages of a batch.
    func salvage(_ unarchived: Unarchived, of session: SessionID, atMost count: Int) {
        if history.archive == nil || unarchived.isEmpty { return }
        salvaged[session] = max(salvaged[session] ?? .zero, unarchived.mark)
        salvageBatch(unarchived, of: session, atMost: count)
    }

    private func salvageBatch(_ unarchived: Unarchived, of session: SessionID, atMost count: Int) {
        guard let archive = history.archive,
            let batch = unarchived.nextBatch(
                atMost: count, announces: bounds(of: session).announces, { $0.date })
        else {
            return noteSalvaged(unarchived, of: session)
        }
        archive.carryOut(batch.steps, of: session) { [self] result in
            guard case .success = result else { return noteSalvaged(unarchived, of: session) }
            var rest = unarchived
            rest.archived(through: batch.last)
            salvageBatch(rest, of: session, atMost: count)
        }
    }

    private func noteSalvaged(_ unarchived: Unarchived, of session: SessionID) {
        if salvaged[session] == unarchived.mark { salvaged[session] = nil }
    }

    /// Whether a session that is not there may have the history of an order that was lost.
    func mayHaveHistory(_ session: SessionID) -> Bool {
        salvaged[session] != nil || history.archive?.isEmpty == false || leastStart(of: session) > .zero
    }

    /// Where a session begins of which the archive knows nothing: others may know seqs of an order that was lost.
    private func leastStart(of session: SessionID) -> Seq {
        guard let count = history.archive?.lostOrderCount, count > 0, keepsHistory(session) else { return .zero }
        return Seq.zero.advanced(by: Int64(count) * SessionState.seqStep)
    }

    /// The seq after which a session begins: far above every message that the archive has or is being told (HIS-3). A
    /// question to the archive may overtake what it is told.
    func findStart(of session: SessionID, answer: @escaping (Result<Seq, ArchiveFault>) -> Void) {
        guard let archive = history.archive else { return answer(.success(.zero)) }
        let (salvaged, least) = (salvaged[session], leastStart(of: session))
        archive.lastSeq(of: session) { result in
            answer(
                result.map { last in
                    guard let end = [last, salvaged].compactMap(\.self).max() else { return least }
                    return max(least, end.advanced(by: SessionState.seqStep))
                })
        }
    }

    // MARK: - Reading

    /// A history that the operator has switched off is not read while the session has yet to learn of it (HIS-8).
    func keepsHistory(_ session: SessionID) -> Bool {
        bounds(of: session).history != nil && self[session]?.state.map { $0.bounds.history != nil } ?? true
    }

    /// Changes with each kept signal, change and erasure; `nil` for a session that is not here.
    func historyMark(of session: SessionID) -> Seq? { self[session]?.state?.historyMark }

    /// How often a page is read again because the session has changed in a way that the page cannot follow.
    private static var rereadLimit: Int { 8 }

    /// Reads a page. What waits for the archive is taken before the archive is asked: in the other order the page would
    /// lack the messages that move meanwhile. What is erased until the archive answers is erased in the page.
    func readHistory(
        _ request: HistoryRequest, of session: SessionID, rereadCount: Int = 0,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        guard let archive = history.archive else { return answer(.failure(ArchiveFault("there is no archive"))) }
        let hosted = self[session]
        let reading = hosted?.beginReading()
        func finish(
            _ result: Result<ArchivePage, ArchiveFault>, _ complete: (ArchivePage, [ErasureScope]) -> ArchivePage
        ) {
            let erasures = reading.flatMap { hosted?.endReading($0) } ?? []
            // Another copy of the session has come: what it has erased is not known here. And of a page from which
            // everything was removed, nobody knows what follows.
            let isOutdated = self[session] !== hosted && self[session] != nil
            let isRemoved = erasures.contains { if case .through = $0.erasure { true } else { false } }
            if isOutdated || isRemoved, rereadCount < Self.rereadLimit {
                return readHistory(request, of: session, rereadCount: rereadCount + 1, answer: answer)
            }
            answer(result.map { complete($0, erasures) })
        }
        if case .changedAfter(let seq) = request.position {
            // Its messages are read one after the other, and those before may be erased meanwhile.
            let list = ChangeList(hosted?.state?.changeables, after: seq, atMost: request.limit)
            return list.read({ [self] in readHistory($0, of: session, answer: $1) }) {
                finish($0) { $0.erasing($1) }
            }
        }
        let unarchived = hosted?.state?.unarchived ?? Unarchived()
        archive.page(unarchived.archiveRequest(for: request), of: session) {
            finish($0) { unarchived.complete($0, for: request, erasing: $1) { $0.date } }
        }
    }
}

extension MonotonicInstant {
    /// The date of a moment of a log's time, which counts from 1970 (LOG-4).
    var date: WallTime { WallTime(milliseconds: nanoseconds / 1_000_000) }
}
