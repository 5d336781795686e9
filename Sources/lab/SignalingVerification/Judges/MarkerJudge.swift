import SignalingProtocol

/// How far users have read (READ-1 to READ-4, section 21 of `docs/PROTOCOL.md`).
struct MarkerJudge: Judge {
    private struct Owner: Hashable {
        var session: String
        var user: WireOrder.User
    }

    /// What a socket was told, in `connected` and later.
    private var onSocket: [WireRecord.SocketNumber: [WireOrder.User: Int]] = [:]
    /// The greatest marker that any client was told.
    private var told: [Owner: Int] = [:]
    /// Those that a server which still runs has acknowledged, the greatest last.
    private var acknowledged: [Owner: [(through: Int, at: MonotonicInstant)]] = [:]
    /// Acknowledgements of a server that is gone may still pass.
    private var unsureUntil = MonotonicInstant.unknown
    /// What its user's devices and others know when a socket is opened.
    private var knownBefore: [WireRecord.SocketNumber: Int] = [:]

    mutating func opened(_ number: WireRecord.SocketNumber, _ record: WireRecord) {
        guard let socket = record.sockets[number], let user = socket.claims?.user else { return }
        let owner = Owner(session: socket.session, user: user)
        // A marker waits for a second, and is told a client that is connected only if that is not behind.
        let kept = acknowledged[owner]?.last { $0.at.advanced(by: .seconds(2)) <= socket.openedAt }?.through
        knownBefore[number] = [told[owner], kept].compactMap(\.self).max()
    }

    /// A server that dies takes the markers of its last second (READ-1).
    mutating func serverDied(at now: MonotonicInstant) {
        (acknowledged, unsureUntil) = ([:], now.advanced(by: .seconds(2)))
    }
    mutating func serverLostSessions() { (told, acknowledged, knownBefore) = ([:], [:], [:]) }

    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        switch passage.kind {
        case .connected(let name, let socket, let isNewEpoch):
            if isNewEpoch {
                // A session that has ended takes its markers along.
                told = told.filter { $0.key.session != socket.session }
                acknowledged = acknowledged.filter { $0.key.session != socket.session }
            }
            let own = record.user(of: name) ?? passage.described.first { $0.name == name }?.details.user
            hearConnected(passage, own, isNewEpoch, record, &found)
        case .read(let user):
            let own = record.user(of: passage.connection)
            hear(passage.line.position("through") ?? -1, of: user, own, passage, record, &found)
        case .ack:
            guard passage.at > unsureUntil, let through = passage.request?.mark,
                let user = record.user(of: passage.connection)
            else { return }
            let owner = Owner(session: passage.session, user: user)
            if acknowledged[owner]?.last.map({ $0.through < through }) ?? true {
                acknowledged[owner, default: []].append((through, passage.at))
            }
        default: break
        }
    }

    private mutating func hearConnected(
        _ passage: Passage, _ own: WireOrder.User?, _ isNewEpoch: Bool, _ record: WireRecord, _ found: inout Findings
    ) {
        let read = passage.line.member("read")
        if read != nil, record.terms.history?.markers == "off" {
            found.add(.read1, .wrong, "socket \(passage.number) was told of markers, against the setting (READ-4)")
        }
        for reader in read?.list("readers") ?? [] {
            guard let user = reader.text("user").flatMap({ record.knownUser($0) }) else { continue }
            hear(reader.position("through") ?? -1, of: user, own, passage, record, &found)
        }
        guard let own else { return }
        let through = read?.position("through")
        if let through { hear(through, of: own, own, passage, record, &found) }
        if let least = knownBefore[passage.number], through ?? 0 < least, !isNewEpoch,
            record.histories[passage.session]?.mayErase(own) != true
        {
            found.add(
                .read1, .missing,
                "socket \(passage.number) was told that its user has read up to \(through ?? 0), and others know "
                    + "\(least) (READ-3)")
        }
    }

    private mutating func hear(
        _ through: Int, of user: WireOrder.User, _ own: WireOrder.User?, _ passage: Passage, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let what = "socket \(passage.number) was told that \(record.userID(user)) has read up to \(through)"
        if let markers = record.terms.history?.markers, markers == "off" || markers == "own" && user != own {
            found.add(.read1, .wrong, "\(what), against the setting `\(markers)` (READ-4)")
        }
        if through > record.marks[user] ?? -1 { found.add(.read1, .wrong, "\(what), and it has not said so (READ-1)") }
        let isErased = record.histories[passage.session]?.mayErase(user) == true
        if let before = onSocket[passage.number]?[user], through < before, !isErased {
            found.add(.read1, .wrong, "\(what), and before that it had read up to \(before) (READ-1)")
        }
        onSocket[passage.number, default: [:]][user] = through
        let owner = Owner(session: passage.session, user: user)
        told[owner] = max(told[owner] ?? 0, through)
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        var claimed: [Int32: Int] = [:]
        for socket in record.sockets.values where isSettled {
            claimed[socket.epoch] = max(claimed[socket.epoch] ?? 0, socket.claimed)
        }
        for (number, socket) in record.socketsInOrder where isSettled && socket.isOpen {
            guard let order = record.order(socket.epoch) else { continue }
            // The last event may be one that no client gets.
            let last = max(order.lastSeq, claimed[socket.epoch] ?? 0)
            if let (reader, through) = onSocket[number]?.first(where: { $0.value > last }) {
                found.add(
                    .read1, .wrong,
                    "\(record.userID(reader)) has read up to \(through), and the last event is at \(last)")
            }
        }
    }
}
