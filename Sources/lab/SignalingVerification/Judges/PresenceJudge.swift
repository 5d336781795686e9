import SignalingProtocol

/// Each connection comes once and ends once, in time, and everybody who asks is told (G7).
struct PresenceJudge: Judge {
    private static let significantLogEventCount = 64

    /// Sockets that were closed with 4502 before any line named the forced disconnect.
    private var unexplainedForcedCloses: [(socket: WireRecord.SocketNumber, connection: Passage.Name)] = []

    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        judgePages(passage, record, &found)
        AbsenceJudge().hear(passage, record, &found)
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        for (_, socket) in record.socketsInOrder { judgeList(socket, record, isSettled, &found) }
        for index in record.orders.indices { judgePresence(ofEpoch: Int32(index), record, &found) }
        judgeEarlyDepartures(record, &found)
        for (number, name) in unexplainedForcedCloses
        where record.connections[name]?.end != .forceDisconnected && !record.forceTargets.contains(name)
            && !mayBeBanned(name, record)
        {
            found.add(.g7, .wrong, "socket \(number) was closed with 4502, and no client asked for a forced disconnect")
        }
        guard isSettled else { return }
        judgeDepartures(record, at: now, &found)
        AbsenceJudge().conclude(record, at: now, isSettled: isSettled, &found)
        judgeForcedDisconnects(record, at: now, &found)
    }

    // MARK: - Close codes

    /// A close frame from the server: its code must have a reason (CLOSE-1).
    mutating func serverClosed(
        _ number: WireRecord.SocketNumber, code: Int?, _ record: WireRecord, _ found: inout Findings
    ) {
        guard let socket = record.sockets[number], socket.isOpen else { return }
        let end = socket.connection.flatMap { record.connections[$0]?.end }
        switch code {
        case 4502 where end != .forceDisconnected:
            // The server need not announce it to a full socket (LEAVE-4), and its confirmation may pass later.
            if let name = socket.connection { unexplainedForcedCloses.append((number, name)) }
        case 1000 where socket.connection != nil && end != .left && !socket.hasAskedToLeave && !socket.isLeft:
            found.add(.g7, .wrong, "socket \(number) was closed with 1000, and its client had not disconnected")
        // A log of a few events is overrun between two writes, however fast the client reads.
        case 4002 where !socket.isImpaired && record.terms.logEventCount >= Self.significantLogEventCount:
            found.add(.g5, .wrong, "socket \(number) was closed with 4002, and its client read all the time")
        case 1003, 1007, 1009, 4503:
            found.add(.g5, .wrong, "socket \(number) was closed with \(code ?? 0), and its client kept the protocol")
        default: break
        }
    }

    /// Whether somebody asked to ban the connection's user: its socket may then close with 4502 (MOD-3).
    private func mayBeBanned(_ name: Passage.Name, _ record: WireRecord) -> Bool {
        let subject = record.person(name).subject
        func isBan(_ action: WireAction) -> Bool {
            action.kind == .ban && record.subject(of: action.target) == subject
        }
        return record.orders.contains { $0.actions.values.contains { isBan($0.action) } }
            || record.asked.contains { isBan($0.action) }
    }

    // MARK: - The list

    /// CON-11: the pages of a list follow each other, and each says how many connections are still to come.
    private func judgePages(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let due = record.sockets[passage.number]?.listRest else { return }
        switch passage.kind {
        case .disconnected: break
        case .list(let page):
            if let rest = passage.line.number("rest"), rest != due - page.count {
                found.add(
                    .g7, .wrong,
                    "socket \(passage.number) is due \(due - page.count) connections, and `rest` is \(rest) (CON-11)")
            }
        default:
            if due > 0 {
                let event = passage.line.ev ?? ""
                found.add(.g7, .missing, "socket \(passage.number) got `\(event)` in the middle of its list (CON-11)")
            }
        }
    }

    /// CON-5: the list of connections is that of the moment of joining.
    private func judgeList(
        _ socket: WireRecord.Socket, _ record: WireRecord, _ isSettled: Bool, _ found: inout Findings
    ) {
        guard let connection = socket.connection, let others = socket.others, !socket.suppressesPresence else { return }
        let id = record.id(connection)
        guard socket.listRest <= 0 else {
            // Otherwise the rest was lost with the socket.
            if isSettled, socket.isOpen {
                found.add(.g7, .missing, "\(id) lacks \(socket.listRest) connections of its list (CON-11)")
            }
            return
        }
        let order = record.orders[Int(socket.epoch)]
        let joined = max(socket.start, socket.onlyBroadcastsThrough)
        guard order.isComplete(through: joined) else { return }
        var expected: Set<Passage.Name> = []
        for seq in 1...max(joined, 1) {
            switch order[seq] {
            case .created(let name): expected.insert(name)
            case .destroyed(let name): expected.remove(name)
            case .signal, .erased, .changed, .told, .moderated, .restricted, .unrestricted, nil: break
            }
        }
        expected.remove(connection)
        let listed = Set(others).subtracting([connection])
        for other in listed.subtracting(expected).sorted().map(record.id) {
            found.add(.g7, .wrong, "\(id) was told of \(other), which was not in the session at \(joined)")
        }
        if socket.isListCut { return }
        for other in expected.subtracting(listed).sorted().map(record.id) {
            found.add(.g7, .missing, "\(id) was not told of \(other), which was in the session at \(joined)")
        }
    }

    // MARK: - The order

    /// Each connection is created once and destroyed once, and nothing comes from it after that (PRES-3).
    func judgePresence(ofEpoch epoch: Int32, _ record: WireRecord, _ found: inout Findings) {
        let order = record.orders[Int(epoch)]
        var came: [Passage.Name: Int] = [:]
        var left: [Passage.Name: Int] = [:]
        for seq in order.seqs {
            switch order[seq] {
            case .created(let name):
                if let before = came.updateValue(seq, forKey: name) {
                    found.add(.g7, .duplicate, "\(record.id(name)) was created at \(before) and at \(seq)")
                }
            case .destroyed(let name):
                if let before = left.updateValue(seq, forKey: name) {
                    found.add(.g7, .duplicate, "\(record.id(name)) was destroyed at \(before) and at \(seq)")
                }
            case .signal, .changed:
                if let from = order[seq].flatMap({ record.content(of: $0, at: seq)?.by }), let gone = left[from] {
                    found.add(
                        .g7, .reordered,
                        "the event at \(seq) is from \(record.id(from)), which left at \(gone) (PRES-3)")
                }
            case .erased, .told, .moderated, .restricted, .unrestricted, nil: break
            }
        }
        for (name, seq) in left.sorted(by: { $0.key < $1.key }) {
            if let connection = record.connections[name], connection.epoch == epoch, connection.end == nil,
                record.sockets[connection.socket]?.isOpen == true
            {
                found.add(.g7, .wrong, "\(record.id(name)) is connected, and others were told of its end at \(seq)")
            }
        }
    }

    // MARK: - Departures

    /// No connection was told as gone while its client could still resume it.
    private func judgeEarlyDepartures(_ record: WireRecord, _ found: inout Findings) {
        for (name, connection) in record.connectionsInOrder where connection.end == nil && !connection.isSought {
            let order = record.orders[Int(connection.epoch)]
            guard order.networkLosses.contains(name), let told = order.departures[name], let lostAt = connection.lostAt
            else { continue }
            let elapsed = told.duration(since: lostAt)
            if elapsed < record.terms.resumeWindow - record.terms.allowedEarliness {
                found.add(
                    .g7, .wrong,
                    "the end of \(record.id(name)) was told \(elapsed) after its loss, within its window")
            }
        }
    }

    /// The end of every connection that is gone was told, and in time.
    func judgeDepartures(_ record: WireRecord, at now: MonotonicInstant, _ found: inout Findings) {
        var observers: [Int32: [WireRecord.Socket]] = [:]
        for socket in record.sockets.values where socket.connectedAt != nil && !socket.suppressesPresence {
            observers[socket.epoch, default: []].append(socket)
        }
        for (name, connection) in record.connectionsInOrder
        where record.isKept(connection.epoch) && !connection.isSought {
            guard let lostAt = connection.lostAt else { continue }
            let due = departureDue(connection, lostAt: lostAt, record)
            let told = record.orders[Int(connection.epoch)].departures[name]
            if let told, told <= due { continue }
            // One client that read all the time from the loss until then is enough: the others may have been away.
            let isObserved = observers[connection.epoch]?.contains { socket in
                !socket.isImpaired && socket.connection != name && (socket.connectedAt ?? now) < lostAt
                    && (socket.closedAt ?? now) > due
            }
            guard isObserved == true else { continue }
            let id = record.id(name)
            if let told {
                found.add(.g7, .wrong, "the end of \(id) was told \(told.duration(since: lostAt)) after its loss")
            } else {
                found.add(.g7, .missing, "\(id) is gone since \(now.duration(since: lostAt)), and nobody was told")
            }
        }
    }

    /// By when the others must know of the end: at once if the server knows that it is final, and else after the window.
    private func departureDue(
        _ connection: WireRecord.Connection, lostAt: MonotonicInstant, _ record: WireRecord
    ) -> MonotonicInstant {
        let (terms, startedAt) = (record.terms, record.startedAt)
        // A stopping server may not have read the last line of the client, and its successor counts on.
        let isRestarted = startedAt > lostAt
        if terms.earliness == nil {
            // Without an exact clock, the observer's own delays count, too.
            let patience = (terms.heartbeat * 2 + terms.resumeWindow + terms.tolerance) * 2
            return max(lostAt.advanced(by: patience), startedAt.advanced(by: terms.tolerance + patience))
        }
        let isFinal = connection.isEndConfirmed && !isRestarted
        let silence = connection.isSilent || isRestarted ? terms.heartbeat * 2 : .zero
        let patience = isFinal ? silence + terms.tolerance : silence + terms.resumeWindow + terms.tolerance
        return max(lostAt.advanced(by: patience), startedAt.advanced(by: terms.tolerance))
    }

    /// A connection whose forced disconnect was confirmed has no socket (LEAVE-3).
    private func judgeForcedDisconnects(_ record: WireRecord, at now: MonotonicInstant, _ found: inout Findings) {
        for (name, connection) in record.connectionsInOrder where record.isKept(connection.epoch) {
            guard let forcedAt = connection.forcedAt, record.sockets[connection.socket]?.isOpen == true,
                now.duration(since: forcedAt) > record.terms.tolerance
            else { continue }
            found.add(.g7, .wrong, "\(record.id(name)) was force-disconnected, and its socket is still open")
        }
    }
}
