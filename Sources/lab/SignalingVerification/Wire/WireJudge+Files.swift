import SignalingProtocol

/// What becomes of a history over the files of a server: its bounds, its copies, and what the files still have.
extension WireJudge {
    /// Within this time no file has the content of an erased message any more (HIS-9).
    private static let forgettingTime = Duration.seconds(60)

    /// The oldest and the newest message of a session, as a page says.
    struct Extent: Sendable {
        var session: String
        var first: Int
        var last: Int
        /// The archive had everything up to this seq.
        var storedThrough: Int
        /// Who got the page.
        var name: String
    }

    /// What was done to the files of the server.
    struct FileNotes: Sendable {
        /// When the history was removed under a server that runs.
        var removedAt: MonotonicInstant?
        /// When an older copy took the place of the files.
        var putBackAt: MonotonicInstant?
        var isContinuationReported = false
    }

    // MARK: - Pages through REST

    /// A request of a backend for a page.
    public struct RESTPageRequest: Sendable {
        let session: String
        let request: PageRequest
    }

    /// A backend asks for a page (HIS-10).
    public func asksPageByREST(
        _ request: HistoryRequest, in session: String, at now: MonotonicInstant
    ) -> RESTPageRequest {
        let position: PageRequest.Position =
            switch request.position {
            case .newest: .newest
            case .before(let seq): .before(Int(seq.rawValue))
            case .after(let seq): .after(Int(seq.rawValue))
            }
        var page = PageRequest(position, limit: request.limit, askedAt: now)
        page.boundary = histories[session]?.acknowledgedThrough ?? 0
        return RESTPageRequest(session: session, request: page)
    }

    /// A backend got the page.
    public mutating func pageByREST(
        _ body: some Collection<UInt8>, for asked: RESTPageRequest, at now: MonotonicInstant
    ) {
        guard let page = WireLine(body) else {
            return report(.h3, .wrong, "a backend got a page that is no JSON object (HIS-10)")
        }
        judge(page, for: asked.request, of: asked.session, at: 0, by: "a backend", now)
    }

    // MARK: - The bounds

    mutating func noteExtent(_ first: Int?, _ last: Int?, of session: String, by name: String) {
        guard terms.history?.bound != nil, let first, let last, let known = histories[session] else { return }
        extents.append(
            Extent(session: session, first: first, last: last, storedThrough: known.storedThrough, name: name))
    }

    /// The bounds take the oldest messages, and no more than what is over (HIS-2).
    mutating func judgeExtents() {
        guard let bound = terms.history?.bound else { return }
        var reported: Set<String> = []
        for extent in extents where extent.first <= extent.last && !reported.contains(extent.session) {
            guard let known = histories[extent.session] else { continue }
            let due = known.due(in: 0...extent.last)
            if let oldest = due.suffix(bound).first, extent.first > oldest.seq {
                reported.insert(extent.session)
                report(
                    .h1, .missing,
                    "\(extent.name) was told that the oldest message is at \(extent.first), and the newest "
                        + "\(min(bound, due.count)) begin at \(oldest.seq) (HIS-2)")
            }
            let stored = due.count { $0.seq >= extent.first && $0.seq <= extent.storedThrough }
            if stored > bound {
                reported.insert(extent.session)
                report(
                    .h1, .wrong,
                    "\(extent.name) was told of \(stored) messages in the history, and its bound is \(bound) (HIS-2)")
            }
        }
        extents = []
    }

    /// The server stopped in order (SIGTERM): its archive has every message.
    public mutating func serverStopped() {
        for session in histories.keys { histories[session]?.noteStop() }
    }

    // MARK: - What the files have

    /// The data of the messages that were erased.
    public var erasedData: Set<String> {
        Set(
            signalNumbers.keys.filter { data in
                number(ofSignal: data).map { erasure(of: $0) != nil } ?? false
            })
    }

    /// Data was found in a file that the server writes.
    public mutating func foundOnDisk(_ data: String, in file: String, at now: MonotonicInstant) {
        guard let signal = number(ofSignal: data), let erased = erasure(of: signal) else { return }
        let elapsed = now.duration(since: erased.at)
        guard elapsed > Self.forgettingTime else { return }
        report(
            .h1, .wrong, "\(file) has the content of the message at \(erased.seq) \(elapsed) after its erasure (HIS-9)")
    }

    private func erasure(of signal: Int32) -> (seq: Int, at: MonotonicInstant)? {
        let sending = sendings[Int(signal)]
        guard sending.seq >= 0, orders.indices.contains(Int(sending.epoch)) else { return nil }
        return histories[orders[Int(sending.epoch)].session]?.erasedAt(sending.seq).map { (sending.seq, $0) }
    }

    // MARK: - Copies

    /// The files of the server are copied now. Everything that was acknowledged has passed.
    public mutating func stateCopied() {
        for session in histories.keys { histories[session]?.noteCopy() }
    }

    /// The server has died, and the next one continues the copy.
    ///
    /// The clients know newer events, so the sessions begin new epochs far above them (RES-3, HIS-3).
    public mutating func copyPutBack(at now: MonotonicInstant) {
        serverLostSessions(at: now)
        files.putBackAt = now
        for session in histories.keys { histories[session]?.losesWhatFollowedTheCopy() }
    }

    /// A message that is sent after a loss is above all that clients know: behind their positions nobody sees it
    /// (CHAT-10).
    mutating func judgeNewness(of sending: Sending, at seq: Int, of session: String) {
        guard let putBackAt = files.putBackAt, sending.sentAt > putBackAt, sending.sentAt < .never,
            let known = histories[session]?.knownThrough, seq <= known
        else { return }
        report(
            .h2, .wrong,
            "a message that was sent after an older copy was put back has the seq \(seq), and clients know seqs up to "
                + "\(known) (HIS-3)")
    }

    // MARK: - Removed files

    /// Somebody removed the history of the server while it runs: it must notice that at once, and end (LOG-23).
    public mutating func historyRemoved(at now: MonotonicInstant) { files.removedAt = now }

    mutating func noteAcknowledgedForHistory(
        _ sending: Sending, at seq: Int, of session: String, _ now: MonotonicInstant
    ) {
        guard sending.to == .all, terms.history?.keeps(sending.type) == true else { return }
        histories[session]?.noteAcknowledged(seq)
        guard let removedAt = files.removedAt, !files.isContinuationReported else { return }
        let elapsed = now.duration(since: removedAt)
        guard elapsed > terms.tolerance else { return }
        files.isContinuationReported = true
        report(
            .h1, .wrong,
            "the message at \(seq) was acknowledged \(elapsed) after the history had been removed (LOG-23)")
    }

    /// Another server runs. What was in a file that was removed is gone.
    mutating func noteStartForHistory() {
        guard files.removedAt != nil else { return }
        files.removedAt = nil
        judgeExtents()
        for session in histories.keys { histories[session]?.losesEverything() }
    }
}
