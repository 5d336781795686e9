import SignalingProtocol

/// Each request has its answer, in its turn, and what was acknowledged is in the order (G2).
struct AnswerJudge: Judge {
    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard passage.isAnswer, let id = passage.line.id else { return }
        guard let request = passage.request else {
            return found.add(
                .g2, .wrong, "socket \(passage.number) got an answer to request \(id), which has no answer due")
        }
        if request.id != id {
            found.add(
                .g2, .reordered,
                "socket \(passage.number) got the answer to request \(id) before that to request \(request.id) (WIRE-8)"
            )
        }
        guard case .ack = passage.kind else { return }
        if let signal = request.signal { judgeAck(of: signal, passage, record, &found) }
        if case (.changed, let seq)? = passage.placed { judgeAck(at: seq, passage, record, &found) }
    }

    private func judgeAck(of signal: Int32, _ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let connection = passage.connection else { return }
        let (sending, id) = (record.sending(signal), record.id(connection))
        guard let (_, seq) = passage.placed else {
            if !sending.isOnlineOnly {
                found.add(.g2, .wrong, "signal \(signal) of \(id) was acknowledged without a seq")
            }
            return
        }
        guard sending.to == .all || sending.to == .connection(connection) else { return }
        judgeAck(at: seq, passage, record, &found)
    }

    /// The client has the event before the ack, unless it is erased.
    private func judgeAck(at seq: Int, _ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let event = passage.placed?.event, let socket = record.sockets[passage.number], seq > socket.start,
            socket.lastReceived.map({ $0 < seq }) ?? true, !record.mayBeErased(event, at: seq, in: socket.epoch)
        else { return }
        let id = passage.connection.map(record.id) ?? ""
        let isChange = if case .changed = event { true } else { false }
        found.add(
            isChange ? .c1 : .g2, .reordered, "\(id) got the ack of \(record.text(event)) at \(seq) before it (SIG-6)")
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        guard isSettled else { return }
        for (number, socket) in record.socketsInOrder where socket.isOpen {
            guard let request = socket.nextRequest else { continue }
            found.add(.g2, .missing, "the request \(request.id) (\(request.op)) on socket \(number) has no answer")
        }
        judgeRESTSignals(record, at: now, isSettled: true, &found)
    }

    /// REST-2: a signal with the status 204 is in the order. Only an event that no client has seen can be such a signal.
    ///
    /// - Parameter isSettled: the connected clients had the time to receive everything. Otherwise only a signal is judged
    ///   after which a client read for the tolerance.
    func judgeRESTSignals(
        _ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings
    ) {
        var waiting: [Int32: Int] = [:]
        for sending in record.sendings
        where sending.restEpoch >= 0 && sending.seq < 0 && record.isKept(sending.restEpoch)
            && (isSettled || wasHeardLater(sending, record, at: now))
        {
            waiting[sending.restEpoch, default: 0] += 1
        }
        let watched = Set(record.sockets.values.filter { $0.isOpen && $0.connection != nil }.map(\.epoch))
        for (epoch, count) in waiting.sorted(by: { $0.key < $1.key }) where !isSettled || watched.contains(epoch) {
            let unseen = record.orders[Int(epoch)].unseenCount
            guard count > unseen else { continue }
            found.add(
                .g2, .missing,
                "REST acknowledged \(count) signals that no client received, and \(unseen) events are unseen")
        }
    }

    /// Whether a client of the epoch read for the tolerance after the signal was acknowledged.
    private func wasHeardLater(
        _ sending: WireRecord.Sending, _ record: WireRecord, at now: MonotonicInstant
    ) -> Bool {
        guard let acknowledgedAt = sending.acknowledgedAt else { return false }
        return record.sockets.values.contains { socket in
            guard socket.epoch == sending.restEpoch, !socket.isImpaired, let connectedAt = socket.connectedAt else {
                return false
            }
            let end = socket.closedAt ?? now
            return end > max(acknowledgedAt, connectedAt).advanced(by: record.terms.tolerance)
        }
    }
}
