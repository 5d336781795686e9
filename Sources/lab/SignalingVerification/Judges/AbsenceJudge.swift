import SignalingProtocol

/// A client that asked for it is told which connections are away, in time, and no other one is (PRES-4).
struct AbsenceJudge: Judge {
    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        let now = passage.at
        switch passage.kind {
        case .connected(let name, let socket, _):
            // A connection was resumed: each attentive client was told of its absence in time.
            if socket.outcome == "resumed", let known = record.connections[name], let lostAt = known.lostAt {
                for (_, hearer) in record.socketsInOrder where hearer.isOpen {
                    judgeUntold(absenceOf: name, known, since: lostAt, to: hearer, record, at: now, &found)
                }
            }
            judgeList(passage.line.texts("away"), of: name, socket, record, at: now, &found)
        case .away(let name):
            if let socket = hearer(passage, of: "is away", name, record, &found) {
                judgeAway(name, told: socket, record, at: now, &found)
            }
        case .back(let name):
            if let socket = hearer(passage, of: "is back", name, record, &found) {
                judgeBack(name, told: socket, record, &found)
            }
        case .departure(let name):
            // An absence before it was told there in time.
            guard let socket = record.sockets[passage.number], socket.getsAbsences,
                let connection = record.connections[name], let lostAt = connection.lostAt, connection.end == nil
            else { return }
            judgeUntold(absenceOf: name, connection, since: lostAt, to: socket, record, at: now, &found)
        default: break
        }
    }

    /// At the end, a client that was told of an absence knows whether it is over.
    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        for (_, socket) in record.socketsInOrder where socket.isOpen && socket.isAttentive {
            for name in socket.told.away.keys.sorted() {
                guard let connection = record.connections[name], connection.lostAt == nil,
                    let backAt = connection.lastAbsence?.backAt, now.duration(since: backAt) > record.terms.tolerance
                else { continue }
                found.add(
                    .g7, .missing, "\(record.id(name)) is back, and \(told(socket, record)) was not told (PRES-4)")
            }
        }
    }

    private func told(_ socket: WireRecord.Socket, _ record: WireRecord) -> String {
        socket.connection.map(record.id) ?? ""
    }

    /// `connected` lists the connections that are away: if the client asked for them, and only then.
    private func judgeList(
        _ list: [String]?, of name: Passage.Name, _ socket: WireRecord.Socket, _ record: WireRecord,
        at now: MonotonicInstant, _ found: inout Findings
    ) {
        let id = record.id(name)
        switch (list, socket.hearsAbsences) {
        case (nil, true): found.add(.g7, .missing, "\(id) got no list `away`, and asked for it (PRES-4)")
        case (.some, false): found.add(.g7, .wrong, "\(id) got the list `away`, and did not ask for it (PRES-4)")
        case (nil, false): break
        case (let list?, true):
            var socket = socket
            for away in list.compactMap(record.knownName) {
                judgeAway(away, told: socket, record, at: now, &found)
                socket.told.away[away] = now
            }
        }
    }

    private func judgeAway(
        _ name: Passage.Name, told socket: WireRecord.Socket, _ record: WireRecord, at now: MonotonicInstant,
        _ found: inout Findings
    ) {
        let (id, told) = (record.id(name), told(socket, record))
        if socket.told.away[name] != nil {
            found.add(.g7, .duplicate, "\(told) was told twice that \(id) is away (PRES-4)")
        }
        if name == socket.connection || socket.told.departed.contains(name) {
            found.add(.g7, .wrong, "\(told) was told that \(id) is away, its own connection or one that left")
        }
        // The lines of an impaired client pass late.
        guard !socket.isImpaired, let connection = record.connections[name], !connection.isSought else { return }
        if !wasAway(connection, record, at: now) {
            found.add(.g7, .wrong, "\(told) was told that \(id) is away, and it was not for so long (PRES-4)")
        }
    }

    private func judgeBack(
        _ name: Passage.Name, told socket: WireRecord.Socket, _ record: WireRecord, _ found: inout Findings
    ) {
        let (id, told) = (record.id(name), told(socket, record))
        guard let toldAt = socket.told.away[name] else {
            return found.add(.g7, .wrong, "\(told) was told that \(id) is back, and not that it was away")
        }
        guard let connection = record.connections[name], !connection.isSought, connection.lostAt != nil else { return }
        let backAt = connection.lastAbsence?.backAt
        if backAt.map({ $0.advanced(by: record.terms.tolerance) < toldAt }) ?? true {
            found.add(.g7, .wrong, "\(told) was told that \(id) is back, and it has no socket (PRES-4)")
        }
    }

    /// The socket, if it may get lines about absences.
    private func hearer(
        _ passage: Passage, of what: String, _ name: Passage.Name, _ record: WireRecord, _ found: inout Findings
    ) -> WireRecord.Socket? {
        guard let socket = record.sockets[passage.number], socket.connection != nil else { return nil }
        if socket.hearsAbsences { return socket }
        found.add(
            .g7, .wrong,
            "\(told(socket, record)) was told that \(record.id(name)) \(what), and did not ask for it (PRES-4)")
        return nil
    }

    /// Whether the connection has just been without a socket for long enough.
    private func wasAway(
        _ connection: WireRecord.Connection, _ record: WireRecord, at now: MonotonicInstant
    ) -> Bool {
        let least = record.terms.awayDelay - record.terms.allowedEarliness
        func lasted(from lostAt: MonotonicInstant, to end: MonotonicInstant) -> Bool {
            end.duration(since: max(lostAt, record.startedAt)) >= least
        }
        if let lostAt = connection.lostAt, lasted(from: lostAt, to: now) { return true }
        // The line may have passed a little later than the resume.
        guard let last = connection.lastAbsence else { return false }
        return last.backAt.advanced(by: record.terms.tolerance) >= now && lasted(from: last.lostAt, to: last.backAt)
    }

    private func judgeUntold(
        absenceOf name: Passage.Name, _ connection: WireRecord.Connection, since lostAt: MonotonicInstant,
        to socket: WireRecord.Socket, _ record: WireRecord, at now: MonotonicInstant, _ found: inout Findings
    ) {
        guard socket.isAttentive, socket.connection != name, socket.epoch == connection.epoch,
            let connectedAt = socket.connectedAt, socket.told.away[name] == nil,
            socket.told.back[name].map({ $0 < lostAt }) ?? true
        else { return }
        let silence = connection.isSilent || record.startedAt > lostAt ? record.terms.heartbeat * 2 : .zero
        let begin = max(lostAt, record.startedAt, connectedAt)
        guard now.duration(since: begin) > record.terms.awayDelay + silence + record.terms.tolerance else { return }
        found.add(
            .g7, .missing,
            "\(record.id(name)) was away for \(now.duration(since: lostAt)), and \(told(socket, record)) was not told "
                + "(PRES-4)")
    }
}
