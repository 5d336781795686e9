import SignalingProtocol

/// What becomes of a history over the files of a server: its bounds, its copies, and what the files still have.
struct FileJudge: Sendable {
    /// Within this time no file has the content of an erased message any more (HIS-9).
    private static let forgettingTime = Duration.seconds(60)

    /// The oldest and the newest message of a session, as a page says.
    private struct Extent {
        var session: String
        var first: Int
        var last: Int
        /// The archive had everything up to this seq.
        var storedThrough: Int
        /// The connection that got the page.
        var name: String
    }

    private var extents: [Extent] = []
    /// The removal that a server has not noticed, once it is reported.
    private var reportedRemoval: MonotonicInstant?

    /// Nothing is acknowledged for a history that is gone (LOG-23).
    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard case .ack = passage.kind, let removedAt = record.historyRemovedAt, reportedRemoval != removedAt,
            case (.signal(let signal, _, _), let seq)? = passage.placed, record.keeps(record.sending(signal))
        else { return }
        let elapsed = passage.at.duration(since: removedAt)
        guard elapsed > record.terms.tolerance else { return }
        reportedRemoval = removedAt
        found.add(
            .h1, .wrong,
            "the message at \(seq) was acknowledged \(elapsed) after the history had been removed (LOG-23)")
    }

    // MARK: - Bounds

    mutating func noteExtent(_ first: Int?, _ last: Int?, by reader: HistoryJudge.Reader, _ record: WireRecord) {
        guard record.terms.history?.bound != nil, let first, let last else { return }
        let stored = record.histories[reader.session]?.storedThrough ?? 0
        extents.append(
            Extent(session: reader.session, first: first, last: last, storedThrough: stored, name: reader.name))
    }

    /// The bounds take the oldest messages, and no more than what is over (HIS-2).
    mutating func judgeExtents(_ record: WireRecord, _ found: inout Findings) {
        guard let bound = record.terms.history?.bound else { return }
        var reported: Set<String> = []
        for extent in extents where extent.first <= extent.last && !reported.contains(extent.session) {
            guard let known = record.histories[extent.session] else { continue }
            let due = known.due(in: 0...extent.last)
            if let oldest = due.suffix(bound).first, extent.first > oldest.seq {
                reported.insert(extent.session)
                found.add(
                    .h1, .missing,
                    "\(extent.name) was told that the oldest message is at \(extent.first), and the newest "
                        + "\(min(bound, due.count)) begin at \(oldest.seq) (HIS-2)")
            }
            let stored = due.count { $0.seq >= extent.first && $0.seq <= extent.storedThrough }
            if stored > bound {
                reported.insert(extent.session)
                found.add(
                    .h1, .wrong,
                    "\(extent.name) was told of \(stored) messages in the history, and its bound is \(bound) (HIS-2)")
            }
        }
        extents = []
    }

    // MARK: - Copies

    /// A message that is sent after a loss is above all that clients know: behind their positions nobody sees it
    /// (CHAT-10).
    func judgeNewness(
        of sending: WireRecord.Sending, at seq: Int, of session: String, _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let putBackAt = record.copyPutBackAt, sending.sentAt > putBackAt, sending.sentAt < .never,
            let known = record.histories[session]?.knownThrough, seq <= known
        else { return }
        found.add(
            .h2, .wrong,
            "a message that was sent after an older copy was put back has the seq \(seq), and clients know seqs up to "
                + "\(known) (HIS-3)")
    }

    // MARK: - What the files have

    /// The data of edits of messages that were erased.
    static func erasedEditions(_ record: WireRecord) -> [String: (seq: Int, at: MonotonicInstant)] {
        var found: [String: (seq: Int, at: MonotonicInstant)] = [:]
        for history in record.histories.values {
            for (message, editions) in history.editions {
                guard let erasedAt = history.erasedAt(message) else { continue }
                for data in editions.compactMap({ record.changes[$0.change].content.data }) {
                    found[data] = (message, erasedAt)
                }
            }
        }
        return found
    }

    /// Where and when the message with this data was erased; nil if it was not.
    static func erasure(of data: String, _ record: WireRecord) -> (seq: Int, at: MonotonicInstant)? {
        guard let sending = record.signals[data].map(record.sending), sending.seq >= 0,
            let order = record.order(sending.epoch)
        else { return nil }
        return record.histories[order.session]?.erasedAt(sending.seq).map { (sending.seq, $0) }
    }

    /// Data was found in a file that the server writes.
    static func judge(
        _ data: String, in file: String, _ record: WireRecord, at now: MonotonicInstant, _ found: inout Findings
    ) {
        guard let erased = erasure(of: data, record) ?? erasedEditions(record)[data] else { return }
        let elapsed = now.duration(since: erased.at)
        guard elapsed > forgettingTime else { return }
        found.add(
            .h1, .wrong, "\(file) has the content of the message at \(erased.seq) \(elapsed) after its erasure (HIS-9)")
    }
}
