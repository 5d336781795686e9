import SignalingProtocol

/// Messages that their authors edit and erase (C1, C2, C3, section 20 of `docs/PROTOCOL.md`). It folds what has passed:
/// a page has the content of the last change that its version names.
struct ChangeJudge: Sendable {
    private struct Place: Hashable {
        var session: String
        var message: Int
    }

    /// Something that only what passes later can explain.
    private struct Doubt {
        enum Question {
            /// A version that no client has got yet.
            case edition(version: Int, WireChange.Content)
            /// A list of changes up to a seq lacks the message.
            case unlisted(through: Int)
            /// The author could not change its message.
            case refused
        }

        var place: Place
        var question: Question
        var text: String
    }

    /// The version of each message that a page had which has every change up to a seq.
    private var shown: [Place: (version: Int, through: Int)] = [:]
    private var doubts: [Doubt] = []

    // MARK: - Lines

    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        if case (.changed(let number), let seq)? = passage.placed {
            let message = record.changes[number].message
            if let page = shown[Place(session: passage.session, message: message)], page.version < seq,
                seq <= page.through
            {
                found.add(.c1, .missing, "a page had the message at \(message) without its edit at \(seq) (CHG-8)")
            }
        }
        switch passage.kind {
        case .connected(_, let socket, let isNewEpoch):
            if isNewEpoch { shown = shown.filter { $0.key.session != passage.session } }
            guard let kept = record.terms.history, let permitted = kept.changes else { return }
            if passage.line.texts("changes").map({ Set($0) }) != permitted {
                let told = passage.line.texts("changes").map { "\($0)" } ?? "nothing"
                found.add(
                    .c3, .wrong, "socket \(passage.number) of \(socket.session) was offered \(told) (CHG-3, CHG-4)")
            }
        case .ack: if let asked = asked(in: passage, record) { judgeAck(passage, of: asked, record, &found) }
        case .error: if let asked = asked(in: passage, record) { judgeRefusal(passage, of: asked, record) }
        default: break
        }
    }

    private func asked(in passage: Passage, _ record: WireRecord) -> WireRecord.AskedChange? {
        passage.request?.change.map { record.askedChanges[$0] }
    }

    private func judgeAck(
        _ passage: Passage, of asked: WireRecord.AskedChange, _ record: WireRecord, _ found: inout Findings
    ) {
        let id = record.id(asked.by)
        if passage.line.seq == nil {
            found.add(.c1, .missing, "\(id) got the ack of its change of \(asked.message) without a seq (CHG-1)")
        }
        if !(asked.edit == nil && asked.isModerator), let permitted = record.terms.history?.changes,
            !permitted.contains(asked.kind)
        {
            found.add(.c3, .wrong, "\(id) may not \(asked.kind), and got an ack for \(asked.message) (CHG-4)")
        }
    }

    /// The author of a kept message may change it, unless it is erased or the author is restricted (CHG-5).
    private mutating func judgeRefusal(
        _ passage: Passage, of asked: WireRecord.AskedChange, _ record: WireRecord
    ) {
        let code = passage.line.number("code")
        guard code == 403 || code == 404, passage.line.member("restriction") == nil,
            // Of a repeated request, the server repeats the code and the name of the error only (RES-9).
            asked.socket == passage.number, record.sockets[passage.number]?.claims?.role != "publisheronly",
            record.terms.history?.changes?.contains(asked.kind) == true,
            case .signal(let signal, _, .all)? = record.order(passage.epoch)?[asked.message],
            record.keeps(record.sending(signal)), record.isAuthor(asked.by, of: signal)
        else { return }
        let place = Place(session: passage.session, message: asked.message)
        let text = "\(record.id(asked.by)) was refused to \(asked.kind) its message at \(asked.message) (CHG-5)"
        doubts.append(Doubt(place: place, question: .refused, text: text))
    }

    // MARK: - Pages

    /// A page has what its reader, and every acknowledged change, says of the message (C1), and all pages the same (C2).
    mutating func judge(
        _ message: Passage.Message, at seq: Int, in request: WireRecord.PageRequest,
        by reader: HistoryJudge.Reader, _ record: WireRecord, _ found: inout Findings
    ) {
        let (place, known) = (Place(session: reader.session, message: seq), record.histories[reader.session])
        let (version, what) = (message.changed ?? 0, "\(reader.name) got the message at \(seq)")
        if (message.line.number("edited") != nil) != (version > 0) {
            found.add(.c2, .wrong, "\(what) with one of `changed` and `edited` (CHG-8)")
        }
        if let least = known?.edition(of: seq, through: request.boundary)?.version, version < least {
            found.add(.c1, .missing, "\(what) as of \(version), and its edit at \(least) came before (CHG-8)")
        }
        if request.boundary >= shown[place]?.through ?? 0 { shown[place] = (version, request.boundary) }
        guard version > 0 else { return }
        let content = message.line.content
        let text = "\(what) as of \(version), and nobody has made that change (CHG-8)"
        if let edition = known?.edition(of: seq, through: version), edition.version == version {
            judge(content, is: edition, what, record, &found)
        } else {
            doubts.append(Doubt(place: place, question: .edition(version: version, content), text: text))
        }
    }

    private func judge(
        _ content: WireChange.Content, is edition: WireHistory.Edition, _ what: String, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let due = record.changes[edition.change].content
        guard content != due else { return }
        found.add(
            .c2, .wrong,
            "\(what) with \(content.data ?? "no data"), and its edit at \(edition.version) says "
                + "\(due.data ?? "nothing") (CHG-8)")
    }

    /// A list of changes has each message once that has changed since a seq, in its present form (CHG-9).
    mutating func judge(
        list page: WireLine, _ messages: [Passage.Message], after start: Int, for request: WireRecord.PageRequest,
        by reader: HistoryJudge.Reader, _ record: WireRecord, _ found: inout Findings
    ) {
        let what = "\(reader.name) asked for the changes after \(start)"
        guard let through = page.position("changedThrough"), through >= start else {
            return found.add(.c1, .missing, "\(what), and was not told up to which seq it got them (CHG-9)")
        }
        let history = record.histories[reader.session] ?? WireHistory()
        if page.isTrue("all") {
            if !messages.isEmpty { found.add(.c1, .wrong, "\(what), and got some as `all` (CHG-9)") }
            return
        }
        let end = max(start, request.boundary)
        if history.erasesMany(in: start + 1..<end + 1) {
            found.add(.c1, .missing, "\(what), and was not told that many messages were erased (CHG-9)")
        }
        // A message that has changed once more since then is there as it is now, and comes again.
        let versions = messages.compactMap(\.version).filter { $0 <= through }
        if zip([start] + versions, versions).contains(where: { $0 >= $1 })
            || messages.contains(where: { $0.version == nil && !$0.line.isTrue("erased") })
        {
            found.add(.c1, .wrong, "\(what), and got those of \(versions) in this order (CHG-9)")
        }
        let last = history.lastChange(through: request.boundary)
        if !page.isTrue("more"), through < last {
            found.add(.c1, .missing, "\(what), and got those up to \(through), without that at \(last) (CHG-9)")
        }
        let (listed, first) = (Set(messages.compactMap(\.seq)), page.position("first") ?? .max)
        for message in history.changed(in: start + 1..<min(through, end) + 1)
        where !listed.contains(message) {
            // A trimmed one is not in the list.
            if record.terms.history?.bound != nil, message < first { continue }
            let place = Place(session: reader.session, message: message)
            let text = "\(what), and got those up to \(through) without the message at \(message) (CHG-9)"
            doubts.append(Doubt(place: place, question: .unlisted(through: through), text: text))
        }
    }

    // MARK: - The verdict

    /// What pages and answers have said is judged by what has passed until now.
    mutating func judgeDoubts(_ record: WireRecord, _ found: inout Findings) {
        for doubt in doubts {
            let (message, known) = (doubt.place.message, record.histories[doubt.place.session])
            switch doubt.question {
            case .edition(let version, let content):
                if let edition = known?.edition(of: message, through: version), edition.version == version {
                    judge(content, is: edition, "a client got the message at \(message)", record, &found)
                } else if !record.askedChanges.contains(where: { asked in
                    asked.message == message && asked.session == doubt.place.session && !asked.isRefused
                        && asked.edit.map { record.changes[$0].content } == content
                }) {
                    found.add(.c2, .wrong, doubt.text)
                }
            case .unlisted(let through):
                if let last = known?.lastChange(of: message), last <= through { found.add(.c1, .missing, doubt.text) }
            case .refused:
                if !record.mayBeErased(message, in: doubt.place.session) { found.add(.c3, .wrong, doubt.text) }
            }
        }
        (doubts, shown) = ([], [:])
    }

    /// Nobody changes what is another's, or erased, or behind a restriction, and a refused change has no effect (C3).
    static func judge(_ epoch: Int32, _ record: WireRecord, _ found: inout Findings) {
        let (order, bench) = (record.orders[Int(epoch)], RestrictionBench(record: record))
        var made: [(seq: Int, by: Passage.Name?, message: Int, edit: Int32?)] = []
        for seq in order.seqs {
            guard case .changed(let number)? = order[seq] else { continue }
            made.append((seq, record.changes[number].by, record.changes[number].message, number))
        }
        var asked: [Int32: WireRecord.AskedChange] = [:]
        for each in record.askedChanges {
            if let edit = each.edit { asked[edit] = each }
            guard let place = each.place, place.epoch == epoch, each.edit == nil, !each.isModerator else { continue }
            made.append((place.seq, each.by, each.message, nil))
        }
        if made.isEmpty { return }
        let places = bench.places(in: order)
        var seqs: [Int32: Int] = [:]
        for (seq, name, message, edit) in made {
            let what = "the change of the message at \(message) by \(name.map(record.id) ?? "REST") is at \(seq)"
            if let edit {
                if let before = seqs.updateValue(seq, forKey: edit) {
                    found.add(.g3, .duplicate, "\(what) and at \(before)")
                }
                if asked[edit]?.isRefused ?? true {
                    found.add(.c3, .wrong, "\(what), and was \(asked[edit] == nil ? "not asked for" : "refused")")
                }
            }
            if let event = order[message] ?? record.message(at: message, before: epoch) {
                guard case .signal(let signal, _, .all) = event, record.keeps(record.sending(signal)) else {
                    found.add(.c3, .wrong, "\(what), and \(record.text(event)) is no kept message (CHG-5)")
                    continue
                }
                if !record.isAuthor(name, of: signal) {
                    found.add(.c3, .wrong, "\(what), and its author is another one (CHG-5)")
                }
            }
            if order.isErased(message, behind: message, before: seq, of: record.user(of: name)) {
                found.add(.c3, .wrong, "\(what), behind its erasure (CHG-7)")
            }
            guard let name else { continue }
            let moment = order.moment(of: seq)
            for noted in places.state(at: seq).silencing(record.person(name))
            where bench.holds(noted, at: moment) && !bench.mayHaveEnded(noted, in: order, after: .max, by: moment) {
                found.add(.c3, .wrong, "\(what), behind the \(noted.action.kind) at \(noted.seq) (MOD-8)")
            }
        }
    }
}

extension WireRecord {
    /// A message of an earlier order of the same session.
    fileprivate func message(at seq: Int, before epoch: Int32) -> WireOrder.Event? {
        let order = orders[Int(epoch)]
        guard isKept(epoch), seq <= order.base else { return nil }
        return histories[order.session]?.message(at: seq).map { .signal($0.signal, from: nil, to: .all) }
    }
}
