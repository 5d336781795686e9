import SignalingProtocol

/// What users think of messages (CHG-11 to CHG-15): the counts are those of what users have chosen, and the same for all.
struct ReactionJudge: Sendable {
    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        switch passage.kind {
        case .told(let number):
            guard let (_, seq) = passage.placed else { return }
            let (told, id) = (record.tellings[number], passage.connection.map(record.id) ?? "")
            let what = "\(id) got \(record.text(.told(number))) at \(seq)"
            if told.own != nil { return judgeOwn(told, of: passage, what, record, &found) }
            if !told.isWellFormed { found.add(.c2, .wrong, "\(what), with a key twice or without a count (CHG-12)") }
            if let socket = record.sockets[passage.number],
                record.hasErasedKey(told, at: seq, before: socket.openedAt, in: socket.session)
            {
                found.add(.c3, .wrong, "\(what), with the key of an erased user (CHG-15)")
            }
        case .ack:
            guard let asked = passage.request?.reaction.map({ record.askedReactions[$0] }) else { return }
            if asked.user == nil { found.add(.c3, .wrong, "the guest \(record.id(asked.by)) may react (CHG-11)") }
            if let permitted = record.terms.history?.changes, !permitted.contains("react") {
                found.add(.c3, .wrong, "\(record.id(asked.by)) may react, against the setting (CHG-4)")
            }
        case .page(_, _):
            for line in passage.line.list("mine") ?? [] {
                guard let mine = WireReactions(own: line) else { continue }
                judgeOwn(mine, of: passage, "a page has `mine` of \(mine.message)", record, &found)
            }
        default: break
        }
    }

    /// A user is told of its own choices, and of no other's.
    private func judgeOwn(
        _ told: WireReactions, of passage: Passage, _ what: String, _ record: WireRecord, _ found: inout Findings
    ) {
        let user = record.user(of: passage.connection)
        let isOwn = record.askedReactions.contains {
            $0.session == passage.session && $0.user == user && user != nil && $0.chosen == told && $0.fate != .refused
        }
        if !isOwn { found.add(.c3, .wrong, "\(what), which its user has not chosen (CHG-12)") }
    }

    // MARK: - Pages

    /// A page has the counts of the last event, of those of which its reader, or any acknowledgement, has said.
    func judge(
        _ message: Passage.Message, at seq: Int, in request: WireRecord.PageRequest, by reader: HistoryJudge.Reader,
        _ record: WireRecord, _ found: inout Findings
    ) {
        let (history, reacted) = (record.histories[reader.session], message.line.position("reacted") ?? 0)
        let (told, what) = (WireReactions(seq, in: message.line), "\(reader.name) got the message at \(seq)")
        if !told.isWellFormed || reacted == 0 && !told.counts.isEmpty {
            found.add(.c2, .wrong, "\(what) with malformed reactions \(told.text) (CHG-13)")
        }
        guard let known = history?.tellings[seq] else { return }
        if let least = known.last(where: { $0.seq <= request.boundary })?.seq, reacted < least {
            found.add(
                .c1, .missing, "\(what) with reactions as of \(reacted), and those at \(least) came before (CHG-13)")
        }
        if let due = known.first(where: { $0.seq == reacted }).map({ record.tellings[$0.number] }), due != told {
            found.add(
                .c2, .wrong, "\(what) with \(told.text), and its reactions at \(reacted) are \(due.text) (CHG-13)")
        }
    }

    // MARK: - The end

    /// - Parameter hasAll: the record has every event of the log.
    func conclude(_ record: WireRecord, isSettled: Bool, hasAll: Bool = false, _ found: inout Findings) {
        for (session, history) in record.histories {
            let order = record.currentEpochs[session].flatMap { record.order($0) }
            for (message, tellings) in history.tellings {
                for (seq, number) in tellings {
                    if let event = order?[seq], event != .told(number) {
                        found.add(
                            .c2, .wrong,
                            "a page had the reactions \(record.tellings[number].text) to \(message) as of \(seq), and "
                                + "there is \(record.text(event)) (CHG-13)")
                    }
                    if order?.isErased(message, behind: message, before: seq, of: history.message(at: message)?.user)
                        == true
                    {
                        found.add(.c3, .wrong, "counts of the message at \(message) are at \(seq), behind its erasure")
                    }
                }
            }
            if isSettled, record.knowsReactions { judgeCounts(of: session, history, hasAll, record, &found) }
        }
    }

    /// The last counts are those of what the users have chosen. They are known if somebody has got all events since then.
    private func judgeCounts(
        of session: String, _ history: WireHistory, _ hasAll: Bool, _ record: WireRecord, _ found: inout Findings
    ) {
        let epoch = record.currentEpochs[session]
        let start = record.sockets.values.lazy.filter { $0.isOpen && $0.epoch == epoch }.map(\.start).min() ?? .max
        var positions = history.tellings.mapValues { _ in Int.max }
        for asked in record.askedReactions where asked.session == session {
            positions[asked.chosen.message] = min(positions[asked.chosen.message] ?? .max, asked.position)
        }
        for (message, position) in positions.sorted(by: { $0.key < $1.key })
        where (hasAll || start <= position) && history.isKept(message) && !record.mayBeErased(message, in: session) {
            let told = history.tellings[message]?.last.map { record.tellings[$0.number] }
            let users = record.choices(for: message, in: session)
            for key in Set(users.joined().joined()).union(told?.counts.map(\.key) ?? []) {
                let count = told?.count(of: key) ?? 0
                let least = Int64(users.count { $0.allSatisfy { $0.contains(key) } })
                let most = Int64(users.count { $0.contains { $0.contains(key) } })
                if (least...most).contains(count) { continue }
                found.add(
                    count < least ? .c1 : .c2, count < least ? .missing : .wrong,
                    "the last count of \(String(decoding: key, as: UTF8.self)) for the message at \(message) is "
                        + "\(count), and \(least) to \(most) users have chosen it (CHG-12)")
            }
        }
    }
}
