import SignalingProtocol

/// What can be judged only when everything has passed: an event may be known from another client later.
extension WireJudge {
    private static let reportsPerSocket = 3

    /// All violations.
    ///
    /// - Parameter isSettled: every client that is connected had the time to receive everything.
    public mutating func violations(at now: MonotonicInstant, isSettled: Bool) -> [Violation] {
        for number in sockets.keys.sorted() {
            if let socket = sockets[number], let connection = socket.connection {
                judgeCompleteness(of: number, socket, connection, isSettled: isSettled)
                judgeList(socket, connection, isSettled: isSettled)
            }
            if isSettled, let socket = sockets[number], socket.isOpen, socket.answeredCount < socket.requests.count {
                let request = socket.requests[socket.answeredCount]
                report(.g2, .missing, "the request \(request.id) (\(request.op)) on socket \(number) has no answer")
            }
        }
        judgePageRequests(isSettled: isSettled)
        judgeDoubts()
        judgeExtents()
        for index in orders.indices { judgePresence(orders[index], ofEpoch: Int32(index)) }
        judgeModeration(isSettled: isSettled)
        judgeEarlyDepartures()
        for (number, name) in unexplainedForcedCloses
        where connections[name]?.end != .forceDisconnected && !forceTargets.contains(name) && !mayBeBanned(name) {
            report(.g7, .wrong, "socket \(number) was closed with 4502, and no client asked for a forced disconnect")
        }
        if isSettled {
            judgeDepartures(at: now)
            judgeUnfinishedAbsences(at: now)
            judgeForcedDisconnects(at: now)
            judgeRESTSignals(at: now, isSettled: true)
        }
        return found
    }

    /// Each socket got every event that is meant for its connection, from its start to where it ended.
    private mutating func judgeCompleteness(
        of number: SocketNumber, _ socket: Socket, _ connection: Name, isSettled: Bool
    ) {
        guard let reader = reader(number) else { return }
        let order = orders[Int(socket.epoch)]
        var through = max(socket.claimed, socket.lastReceived ?? 0)
        if socket.isOpen, isSettled { through = order.lastSeq }
        // Beyond the known events there is nothing to miss, whatever the server claims.
        through = min(through, order.lastSeq)
        let start = max(socket.start, order.base)
        guard through > start else { return }
        var received = socket.received[...]
        var missing = 0
        for seq in (start + 1)...through {
            while let first = received.first, socket.seq(of: first) < seq { received.removeFirst() }
            guard let event = order[seq] else { continue }
            let audience = audience(of: event, at: seq, in: order)
            let isMeant = event.isMeant(for: reader, audience: audience)
            if let first = received.first, socket.seq(of: first) == seq {
                if audience != nil, isMeant == false {
                    report(.g8, .wrong, "\(id(connection)) got \(text(event)) at \(seq), which is not meant for it")
                }
                continue
            }
            guard isMeant == true, seq > socket.onlyBroadcastsThrough || event.isBroadcast,
                !order.isErased(seq, user: { details[$0]?.user })
            else { continue }
            missing += 1
            if missing <= Self.reportsPerSocket {
                report(.g3, .missing, "\(id(connection)) misses \(text(event)) at \(seq), without notice")
            }
        }
        if missing > Self.reportsPerSocket {
            report(.g3, .missing, "\(id(connection)) misses \(missing - Self.reportsPerSocket) more events")
        }
    }

    /// CON-5: the list of connections is that of the moment of joining.
    private mutating func judgeList(_ socket: Socket, _ connection: Name, isSettled: Bool) {
        guard let others = socket.others, !socket.suppressesPresence else { return }
        guard socket.listRest <= 0 else {
            // Otherwise the rest was lost with the socket.
            if isSettled, socket.isOpen {
                report(.g7, .missing, "\(id(connection)) lacks \(socket.listRest) connections of its list (CON-11)")
            }
            return
        }
        let order = orders[Int(socket.epoch)]
        let joined = max(socket.start, socket.onlyBroadcastsThrough)
        guard order.isComplete(through: joined) else { return }
        var expected: Set<Name> = []
        for seq in 1...max(joined, 1) {
            switch order[seq] {
            case .created(let name): expected.insert(name)
            case .destroyed(let name): expected.remove(name)
            case .signal, .erased, .moderated, .restricted, .unrestricted, nil: break
            }
        }
        expected.remove(connection)
        let listed = Set(others).subtracting([connection])
        for name in listed.subtracting(expected).sorted() {
            report(.g7, .wrong, "\(id(connection)) was told of \(id(name)), which was not in the session at \(joined)")
        }
        if socket.isListCut { return }
        for name in expected.subtracting(listed).sorted() {
            report(
                .g7, .missing, "\(id(connection)) was not told of \(id(name)), which was in the session at \(joined)")
        }
    }

    /// Each connection is created once and destroyed once, and nothing comes from it after that (PRES-3).
    private mutating func judgePresence(_ order: WireOrder, ofEpoch epoch: Int32) {
        var came: [Name: Int] = [:]
        var left: [Name: Int] = [:]
        for seq in order.seqs {
            switch order[seq] {
            case .created(let name):
                if let before = came.updateValue(seq, forKey: name) {
                    report(.g7, .duplicate, "\(id(name)) was created at \(before) and at \(seq)")
                }
            case .destroyed(let name):
                if let before = left.updateValue(seq, forKey: name) {
                    report(.g7, .duplicate, "\(id(name)) was destroyed at \(before) and at \(seq)")
                }
            case .signal(_, let from?, _):
                if let gone = left[from] {
                    report(.g7, .reordered, "the signal at \(seq) is from \(id(from)), which left at \(gone) (PRES-3)")
                }
            case .signal(_, nil, _), .erased, .moderated, .restricted, .unrestricted, nil: break
            }
        }
        for (name, seq) in left {
            if let connection = connections[name], connection.epoch == epoch, connection.end == nil,
                sockets[connection.socket]?.isOpen == true
            {
                report(.g7, .wrong, "\(id(name)) is connected, and others were told of its end at \(seq)")
            }
        }
    }

    /// No connection was told as gone while its client could still resume it.
    private mutating func judgeEarlyDepartures() {
        for (name, connection) in connections.sorted(by: { $0.key < $1.key }) {
            let order = orders[Int(connection.epoch)]
            guard connection.end == nil, !connection.isSought, order.networkLosses.contains(name),
                let told = order.departures[name],
                let lostAt = connection.lostAt
            else { continue }
            let elapsed = told.duration(since: lostAt)
            if elapsed < terms.resumeWindow - terms.allowedEarliness {
                report(.g7, .wrong, "the end of \(id(name)) was told \(elapsed) after its loss, within its window")
            }
        }
    }

    /// The end of every connection that is gone was told, and in time.
    mutating func judgeDepartures(at now: MonotonicInstant) {
        var observers: [Int32: [Socket]] = [:]
        for socket in sockets.values where socket.connectedAt != nil && !socket.suppressesPresence {
            observers[socket.epoch, default: []].append(socket)
        }
        for (name, connection) in connections.sorted(by: { $0.key < $1.key })
        where isKept(connection.epoch) && !connection.isSought {
            guard let lostAt = connection.lostAt else { continue }
            let due = departureDue(connection, lostAt: lostAt)
            let told = orders[Int(connection.epoch)].departures[name]
            if let told, told <= due { continue }
            // One client that read all the time from the loss until then is enough: the others may have been away.
            let isObserved = observers[connection.epoch]?.contains { socket in
                !socket.isImpaired && socket.connection != name && (socket.connectedAt ?? now) < lostAt
                    && (socket.closedAt ?? now) > due
            }
            guard isObserved == true else { continue }
            if let told {
                report(.g7, .wrong, "the end of \(id(name)) was told \(told.duration(since: lostAt)) after its loss")
            } else {
                report(.g7, .missing, "\(id(name)) is gone since \(now.duration(since: lostAt)), and nobody was told")
            }
        }
    }

    /// By when the others must know of the end: at once if the server knows that it is final, and else after the window.
    private func departureDue(_ connection: Connection, lostAt: MonotonicInstant) -> MonotonicInstant {
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
    private mutating func judgeForcedDisconnects(at now: MonotonicInstant) {
        for (name, connection) in connections.sorted(by: { $0.key < $1.key }) where isKept(connection.epoch) {
            guard let forcedAt = connection.forcedAt, sockets[connection.socket]?.isOpen == true,
                now.duration(since: forcedAt) > terms.tolerance
            else { continue }
            report(.g7, .wrong, "\(id(name)) was force-disconnected, and its socket is still open")
        }
    }

    /// REST-2: a signal with the status 204 is in the order. Only an event that no client has seen can be such a signal.
    ///
    /// - Parameter isSettled: the connected clients had the time to receive everything. Otherwise only a signal is judged
    ///   after which a client read for the tolerance.
    mutating func judgeRESTSignals(at now: MonotonicInstant, isSettled: Bool) {
        var waiting: [Int32: [Int]] = [:]
        for (signal, sending) in sendings.enumerated()
        where sending.restEpoch >= 0 && sending.seq < 0 && isKept(sending.restEpoch)
            && (isSettled || wasHeardLater(sending, at: now))
        {
            waiting[sending.restEpoch, default: []].append(signal)
        }
        let watched = Set(sockets.values.filter { $0.isOpen && $0.connection != nil }.map(\.epoch))
        for (epoch, signals) in waiting.sorted(by: { $0.key < $1.key }) where !isSettled || watched.contains(epoch) {
            let unseen = orders[Int(epoch)].unseenCount
            guard signals.count > unseen else { continue }
            report(
                .g2, .missing,
                "REST acknowledged \(signals.count) signals that no client received, and \(unseen) events are unseen")
        }
    }

    /// Whether a client of the epoch read for the tolerance after the signal was acknowledged.
    private func wasHeardLater(_ sending: Sending, at now: MonotonicInstant) -> Bool {
        guard let acknowledgedAt = sending.acknowledgedAt else { return false }
        return sockets.values.contains { socket in
            guard socket.epoch == sending.restEpoch, !socket.isImpaired, let connectedAt = socket.connectedAt else {
                return false
            }
            let end = socket.closedAt ?? now
            return end > max(acknowledgedAt, connectedAt).advanced(by: terms.tolerance)
        }
    }
}
