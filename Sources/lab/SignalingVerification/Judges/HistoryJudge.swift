import SignalingProtocol

/// The history of a session, as its pages show it (H1, H2, H3, section 16 of `docs/PROTOCOL.md`).
struct HistoryJudge: Judge {
    private static let pageMessageLimit = 200
    /// The bytes of a page's messages, and room for the members around them (HIS-6).
    private static let pageByteLimit = 49_152 + 512

    /// Something that only an erasure can explain, which may pass later.
    private struct Doubt {
        var session: String
        var seq: Int
        /// Of the sender, as a page says.
        var user: WireOrder.User?
        var text: String
    }

    /// Messages that a page lacks, or has as erased.
    private var doubts: [Doubt] = []
    private var files = FileJudge()
    private var changes = ChangeJudge()
    private let reactions = ReactionJudge()

    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        files.hear(passage, record, &found)
        changes.hear(passage, record, &found)
        reactions.hear(passage, record, &found)
        if case .signal(let signal, _, to: .all)? = passage.placed?.event, let seq = passage.placed?.seq {
            judgePlace(of: signal, at: seq, of: passage.session, record, &found)
        }
        switch passage.kind {
        case .connected(_, let socket, _): judgeConnected(passage, socket, record, &found)
        case .signal, .changed, .told: judgeReplay(passage, record, &found)
        case .page(let index, let messages): hearPage(passage, index, messages, record, &found)
        default: break
        }
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        for (number, socket) in record.socketsInOrder where isSettled && socket.isOpen {
            guard let request = socket.pageRequests.first else { continue }
            found.add(.h3, .missing, "the request \(request.id) for a page on socket \(number) has no answer")
        }
        var rest = self
        rest.judgeWhatIsKept(record, &found)
        reactions.conclude(record, isSettled: isSettled, &found)
        for epoch in record.orders.indices { ChangeJudge.judge(Int32(epoch), record, &found) }
    }

    /// What pages have said is judged by what has passed until now.
    mutating func judgeWhatIsKept(_ record: WireRecord, _ found: inout Findings) {
        for doubt in doubts where !record.mayBeErased(doubt.seq, of: doubt.user, in: doubt.session) {
            found.add(.h1, .missing, doubt.text)
        }
        doubts = []
        changes.judgeDoubts(record, &found)
        files.judgeExtents(record, &found)
    }

    /// A server starts, after its files may have been removed.
    mutating func serverStarted(_ record: WireRecord, _ found: inout Findings) {
        if record.historyRemovedAt != nil { files.judgeExtents(record, &found) }
    }

    // MARK: - Events

    /// A seq names one message of a history for ever (H2).
    private func judgePlace(
        of signal: Int32, at seq: Int, of session: String, _ record: WireRecord, _ found: inout Findings
    ) {
        let sending = record.sending(signal)
        guard record.keeps(sending) else { return }
        if let other = record.histories[session]?.message(at: seq)?.signal, other != signal {
            found.add(.h2, .duplicate, "signals \(other) and \(signal) of one session have the seq \(seq) (HIS-3)")
        }
        files.judgeNewness(of: sending, at: seq, of: session, record, &found)
    }

    /// A replay has nothing that was erased before its client connected (HIS-9).
    private func judgeReplay(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let (event, seq) = passage.placed, let (message, _) = record.content(of: event, at: seq),
            let connection = passage.connection, let socket = record.sockets[passage.number],
            record.histories[socket.session]?.isErased(message, before: socket.openedAt) == true
        else { return }
        let data = passage.line.text("data") ?? ""
        found.add(
            .h1, .wrong,
            "\(record.id(connection)) got \(data) at \(seq), which was erased before it connected (HIS-9)")
    }

    private func judgeConnected(
        _ passage: Passage, _ socket: WireRecord.Socket, _ record: WireRecord, _ found: inout Findings
    ) {
        let isTold = passage.line.isTrue("history")
        if let claims = socket.claims, record.terms.history != nil, isTold != claims.mayReadHistory {
            found.add(.h3, .wrong, "socket \(passage.number) was told `history` \(isTold), against its token (HIS-8)")
        }
        if let ended = record.epochEnded(by: passage), !record.isNeeded(ended),
            record.histories[passage.session]?.isEmpty == false
        {
            let epoch = passage.line.text("epoch") ?? ""
            found.add(
                .h2, .missing, "the session has the new epoch \(epoch), although it has a history (HIS-3)")
        }
    }

    // MARK: - Pages

    private mutating func hearPage(
        _ passage: Passage, _ index: Int?, _ messages: [Passage.Message], _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let socket = record.sockets[passage.number], let name = socket.connection.map(record.id) else { return }
        guard let index else { return found.add(.h3, .wrong, "\(name) got a page that it has not asked for") }
        if index > 0 {
            found.add(
                .h3, .reordered, "\(name) got a page before the one that it had asked for earlier (HIS-7)")
        }
        if socket.claims?.mayReadHistory == false {
            found.add(.h3, .wrong, "\(name) got a page, and its token does not permit it (HIS-8)")
        }
        // A page that could not be read (HIS-5). The client may ask again.
        if passage.line.member("error") != nil { return }
        let reader = Reader(name: name, session: socket.session, position: socket.position)
        judge(passage.line, messages, for: socket.pageRequests[index], by: reader, record, &found)
    }

    /// The connection that gets a page, and its session.
    struct Reader {
        var name: String
        var session: String
        /// Of the client when it gets the page.
        var position: Int
    }

    mutating func judge(
        _ page: WireLine, _ messages: [Passage.Message], for request: WireRecord.PageRequest, by reader: Reader,
        _ record: WireRecord, _ found: inout Findings
    ) {
        let name = reader.name
        let seqs = messages.compactMap(\.seq)
        let list: Int? = if case .changedAfter(let seq) = request.position { seq } else { nil }
        if list == nil, seqs.count != messages.count || zip(seqs, seqs.dropFirst()).contains(where: { $0 >= $1 }) {
            found.add(.h3, .reordered, "\(name) got a page whose messages are not in the order of their seqs: \(seqs)")
        }
        if messages.count > max(1, min(request.limit, Self.pageMessageLimit))
            || (messages.count > 1 && page.byteCount > Self.pageByteLimit)
        {
            found.add(.g5, .wrong, "\(name) got a page of \(messages.count) messages, \(page.byteCount) bytes (HIS-6)")
        }
        if let stray = seqs.first(where: { !request.admits($0) }) {
            let end = request.end < .max ? " up to \(request.end)" : ""
            found.add(
                .h3, .wrong, "\(name) asked for messages \(request.position)\(end), and got the one at \(stray) (HIS-6)"
            )
        }
        let (first, last) = (page.position("first"), page.position("last"))
        if list == nil, let low = seqs.first, let high = seqs.last, low < first ?? .max || high > last ?? 0 {
            found.add(.h3, .wrong, "\(name) got a page that is not within its `first` and `last` (HIS-6)")
        }
        for message in messages { judge(message, in: request, by: reader, record, &found) }
        if let list {
            return changes.judge(list: page, messages, after: list, for: request, by: reader, record, &found)
        }
        judgeCompleteness(of: Set(seqs), first, page.isTrue("more"), for: request, by: reader, record)
        files.noteExtent(first, last, by: reader, record)
    }

    /// A message is the one that its clients have received as an event at this seq (H1, H2).
    mutating func judge(
        _ message: Passage.Message, in request: WireRecord.PageRequest, by reader: Reader, _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let seq = message.seq else { return }
        let what = "\(reader.name) got the message at \(seq)"
        if message.line.number("time") == nil { found.add(.h1, .missing, "\(what) without its time (HIS-6)") }
        let known = record.histories[reader.session]
        if known?.isRemoved(seq, before: request.askedAt, orUpTo: reader.position) == true {
            found.add(.h1, .wrong, "\(what), and nothing should be left of it (HIS-9)")
        }
        if message.line.isTrue("erased") {
            if message.line.text("data") != nil || message.line.text("type") != nil || message.changed != nil
                || message.line.list("reactions") != nil
            {
                found.add(
                    .h1, .wrong, "\(reader.name) got the content of the erased message at \(seq) (HIS-9)")
            }
            // No client may have got it before its erasure.
            if known?.mayBeErased(seq, of: message.user) != true {
                doubts.append(
                    Doubt(
                        session: reader.session, seq: seq, user: message.user,
                        text: "\(what) as erased, and nobody has erased it"))
            }
            return
        }
        if known?.isErased(seq, before: request.askedAt, orUpTo: reader.position) == true {
            found.add(.h1, .wrong, "\(what) after its erasure (HIS-9)")
        }
        changes.judge(message, at: seq, in: request, by: reader, record, &found)
        reactions.judge(message, at: seq, in: request, by: reader, record, &found)
        // Of a message that nobody has got before it was edited, the rest is not known.
        if message.changed != nil, known?.message(at: seq) == nil { return }
        guard let signal = message.changed == nil ? message.signal : known?.message(at: seq)?.signal else {
            return found.add(.h1, .wrong, "\(what), and nobody has sent what it says")
        }
        judgeContent(message.line, of: signal, at: seq, what, record, &found)
        judgePlace(of: signal, at: seq, of: reader.session, record, &found)
    }

    /// The members are those of the `signal` line (HIS-6, SIG-7, SIG-9).
    private func judgeContent(
        _ message: WireLine, of signal: Int32, at seq: Int, _ what: String, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let sending = record.sending(signal)
        if sending.seq >= 0, sending.seq != seq {
            found.add(.h2, .wrong, "\(what), signal \(signal), and it is the event at \(sending.seq)")
        }
        if sending.isOnlineOnly || sending.to != .all || record.terms.history?.keeps(sending.type) == false {
            found.add(.h1, .wrong, "\(what), which no history keeps (HIS-1)")
        }
        let from = sending.from.map(record.id)
        if message.text("type") != sending.type || message.text("from") != from {
            found.add(.h1, .wrong, "\(what) with another type or sender than its event")
        }
        let told = message.member("connection")
        if told == nil, let from {
            found.add(.h1, .missing, "\(what) without its sender \(from) (HIS-6)")
        } else if told?.text("connectionId") != from {
            found.add(.h1, .wrong, "\(what) with a connection that did not send it")
        }
    }

    /// A page has every message of its span (H1): up to the moment of a connect, and from there on the client gets
    /// events (H3).
    private mutating func judgeCompleteness(
        of seqs: Set<Int>, _ first: Int?, _ more: Bool, for request: WireRecord.PageRequest, by reader: Reader,
        _ record: WireRecord
    ) {
        guard let kept = record.terms.history, let known = record.histories[reader.session],
            var span = request.span(from: seqs.min() ?? 0, through: seqs.max() ?? 0, more: more)
        else { return }
        // Whether what is older may be trimmed is judged at the end.
        if kept.bound != nil, let first {
            guard first <= span.upperBound else { return }
            span = max(first, span.lowerBound)...span.upperBound
        }
        for message in known.due(in: span) where !seqs.contains(message.seq) {
            let text =
                "\(reader.name) got a page without the message at \(message.seq), and it is in \(span) (HIS-4)"
            doubts.append(Doubt(session: reader.session, seq: message.seq, text: text))
        }
    }
}
