import SignalingProtocol

/// The server chooses the right outcome of a `connected`, and says what is lost (G4, RES-2).
struct ResumeJudge: Judge {
    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        switch passage.kind {
        case .incomplete: found.add(.g4, .wrong, "socket \(passage.number) got an incomplete connected")
        case .connected(let name, let socket, let isNewEpoch):
            let epoch = passage.line.text("epoch") ?? ""
            if !isNewEpoch, !record.isKept(passage.epoch) {
                found.add(.g4, .wrong, "a server that lost its sessions continues the epoch \(epoch)")
            }
            if let ended = record.epochEnded(by: passage), record.isNeeded(ended) {
                found.add(
                    .g4, .missing, "the session has the new epoch \(epoch), although the server kept its sessions")
            }
            judgeOutcome(name, socket, record, at: passage.at, &found)
            judgeRanges(name, socket, passage.line, record, &found)
        default: break
        }
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {}

    private func judgeOutcome(
        _ name: Passage.Name, _ socket: WireRecord.Socket, _ record: WireRecord, at now: MonotonicInstant,
        _ found: inout Findings
    ) {
        let isUsed = record.connections[name] != nil
        switch (socket.resume, socket.outcome) {
        case (let resume?, "resumed"): return judgeResumed(name, seq: socket.start, resume, record, at: now, &found)
        case (let resume?, "recovered"), (let resume?, "lost"):
            judgeReplacement(socket, resume, record, at: now, &found)
        case (nil, "new"): break
        case (nil, let outcome): found.add(.g4, .wrong, "a connect without resume got the outcome \(outcome)")
        case (_, let outcome):
            return found.add(.g4, .wrong, "a connect that would resume got the outcome \(outcome)")
        }
        if isUsed { found.add(.g7, .wrong, "the new connection \(record.id(name)) has a used id") }
    }

    /// RES-16: the range of what is missing begins after the position of the client, and ends where the replay begins.
    /// RES-4: a replay goes through everything that had been sent when the client asked.
    private func judgeRanges(
        _ name: Passage.Name, _ socket: WireRecord.Socket, _ line: WireLine, _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let resume = socket.resume else { return }
        if let missing = line.member("missing"), let old = resume.connection, let connection = record.connections[old] {
            let first = max(resume.after, connection.joinSeq) + 1
            let id = record.id(old)
            if let told = missing.number("first"), told > first {
                found.add(.g4, .missing, "\(id) misses events from \(first) on, and was told from \(told) on (RES-16)")
            }
            if let last = missing.number("last"), last != socket.start {
                found.add(
                    .g4, .wrong,
                    "\(id) was told to miss events up to \(last), and its socket starts after \(socket.start)")
            }
        }
        if socket.outcome == "resumed" || socket.outcome == "recovered", let through = line.number("replayThrough"),
            through < resume.knownThrough
        {
            found.add(
                .g4, .missing,
                "the replay of \(record.id(name)) goes through \(through), and \(resume.knownThrough) had been sent "
                    + "before (RES-4)")
        }
    }

    private func judgeResumed(
        _ name: Passage.Name, seq: Int, _ resume: WireRecord.Resume, _ record: WireRecord, at now: MonotonicInstant,
        _ found: inout Findings
    ) {
        let (id, terms) = (record.id(name), record.terms)
        guard name == resume.connection, let connection = record.connections[name] else {
            return found.add(.g3, .wrong, "a resume got the connection \(id), which is another one")
        }
        // A turn of the server may resume a connection and then end it for REST, whose answer passes at once.
        let mayBeEarlier = connection.forcedAt.map { now.duration(since: $0) <= terms.tolerance } ?? false
        if let end = connection.end, !mayBeEarlier {
            found.add(.g7, .wrong, "\(id) was resumed after its end (\(end))")
        }
        if let elapsed = connection.lostAt.map({ now.duration(since: $0) }),
            elapsed > terms.resumeWindow + terms.heartbeat * 2 + terms.tolerance
        {
            found.add(.g7, .wrong, "\(id) was resumed \(elapsed) after its loss: the server never gave it up")
        }
        if seq > max(resume.after, connection.joinSeq) {
            found.add(.g4, .missing, "\(id) resumed after \(resume.after), and the server went on after \(seq)")
        } else if seq < resume.after {
            found.add(.g3, .duplicate, "\(id) resumed after \(resume.after), and the server repeats from \(seq)")
        }
    }

    /// A client gets a new connection only if it must.
    private func judgeReplacement(
        _ socket: WireRecord.Socket, _ resume: WireRecord.Resume, _ record: WireRecord, at now: MonotonicInstant,
        _ found: inout Findings
    ) {
        guard let old = record.replaced(by: socket), let connection = record.connections[old],
            record.knownEpoch(resume.epoch, of: connection.session) == connection.epoch,
            record.isKept(connection.epoch), logStillHas(resume, of: connection, record)
        else { return }
        let (id, terms) = (record.id(old), record.terms)
        let elapsed = connection.lostAt.map { now.duration(since: $0) } ?? .zero
        let retention = max(terms.resumeWindow, terms.recoveryWindow)
        guard elapsed + (terms.earliness ?? terms.heartbeat * 2 + terms.tolerance) < retention else { return }
        // A connection whose own replay was cut off can only be recovered again (RES-4).
        let isResumable = resume.after >= connection.joinSeq
        if isResumable, elapsed < terms.resumeWindow - terms.allowedEarliness {
            found.add(.g4, .wrong, "\(id) came back after \(elapsed) and could resume, and got \(socket.outcome)")
        } else if socket.outcome == "lost", elapsed < terms.recoveryWindow - terms.allowedEarliness {
            found.add(.g4, .wrong, "\(id) came back after \(elapsed) and could be recovered, and got lost")
        }
    }

    /// Whether the log certainly has everything after the client's position: well within its bounds.
    private func logStillHas(
        _ resume: WireRecord.Resume, of connection: WireRecord.Connection, _ record: WireRecord
    ) -> Bool {
        let order = record.orders[Int(connection.epoch)]
        return resume.after <= order.lastSeq && order.lastSeq - resume.after < record.terms.logEventCount * 3 / 4
            && order.byteCount(after: resume.after) < record.terms.logByteCount / 2
    }
}
