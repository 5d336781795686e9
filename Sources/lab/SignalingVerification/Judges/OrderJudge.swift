import SignalingProtocol

/// All clients see one order (G1), and each of them gets every event that is meant for it, once (G3).
struct OrderJudge: Judge {
    private static let reportsPerSocket = 3

    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        if let (event, seq) = passage.placed { judge(event, at: seq, in: passage.epoch, record, &found) }
        if let (event, seq) = passage.received { judgeReception(of: event, at: seq, passage, record, &found) }
    }

    /// An event has one place, and a signal one seq.
    func judge(
        _ event: WireOrder.Event, at seq: Int, in epoch: Int32, _ record: WireRecord, _ found: inout Findings
    ) {
        guard let order = record.order(epoch) else { return }
        guard order.canHave(seq) else {
            return found.add(.g1, .wrong, "the event at \(seq) is far from the others, which end at \(order.lastSeq)")
        }
        if let known = order[seq], known != event {
            found.add(
                .g1, .reordered,
                "the event at \(seq) is \(record.text(known)) for one client and \(record.text(event)) for another")
        }
        guard case .signal(let signal, _, _) = event else { return }
        let sending = record.sending(signal)
        if sending.isOnlineOnly { found.add(.g6, .wrong, "online-only signal \(signal) has the seq \(seq)") }
        if sending.seq >= 0, sending.seq != seq || sending.epoch != epoch {
            found.add(.g3, .duplicate, "signal \(signal) is in the order twice, at \(sending.seq) and \(seq)")
        }
    }

    private func judgeReception(
        of event: WireOrder.Event, at seq: Int, _ passage: Passage, _ record: WireRecord, _ found: inout Findings
    ) {
        guard let socket = record.sockets[passage.number], let reader = record.reader(socket) else { return }
        let id = record.id(reader.name)
        if seq <= socket.start {
            found.add(
                .g3, .duplicate, "\(id) got the event at \(seq), and its socket starts after \(socket.start) (CON-6)")
        } else if let last = socket.lastReceived, seq <= last {
            found.add(
                seq == last ? .g3 : .g1, seq == last ? .duplicate : .reordered,
                "\(id) got the event at \(seq) after the one at \(last)")
        }
        if event.isMeant(for: reader) == false {
            found.add(.g8, .wrong, "\(id) got the event at \(seq), which is not meant for it")
        }
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        for (_, socket) in record.socketsInOrder { judgeCompleteness(of: socket, record, isSettled, &found) }
    }

    /// Each socket got every event that is meant for its connection, from its start to where it ended.
    private func judgeCompleteness(
        of socket: WireRecord.Socket, _ record: WireRecord, _ isSettled: Bool, _ found: inout Findings
    ) {
        guard let reader = record.reader(socket), let order = record.order(socket.epoch) else { return }
        let id = record.id(reader.name)
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
            let audience = record.audience(of: event, at: seq, in: order)
            let isMeant = event.isMeant(for: reader, audience: audience)
            if let first = received.first, socket.seq(of: first) == seq {
                if audience != nil, isMeant == false {
                    found.add(.g8, .wrong, "\(id) got \(record.text(event)) at \(seq), which is not meant for it")
                }
                continue
            }
            guard isMeant == true, seq > socket.onlyBroadcastsThrough || event.isBroadcast,
                !record.isErased(event, at: seq, in: order)
            else { continue }
            missing += 1
            if missing <= Self.reportsPerSocket {
                found.add(.g3, .missing, "\(id) misses \(record.text(event)) at \(seq), without notice")
            }
        }
        if missing > Self.reportsPerSocket {
            found.add(.g3, .missing, "\(id) misses \(missing - Self.reportsPerSocket) more events")
        }
    }
}
