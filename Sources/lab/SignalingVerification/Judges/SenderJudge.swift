import SignalingProtocol

/// What a client is told of its peers is true: their details, and who sent what to whom (G6, G8).
struct SenderJudge: Judge {
    func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        judge(passage.described, record, &found)
        switch passage.kind {
        case .connected(let name, let socket, _): judgeIdentity(of: name, socket, passage.line, record, &found)
        case .strangeSignal:
            guard let connection = passage.connection else { return }
            let data = passage.line.text("data") ?? ""
            found.add(.g8, .wrong, "\(record.id(connection)) got \(data), which was never sent")
        case .signal(let signal):
            guard let connection = passage.connection, let socket = record.sockets[passage.number] else { return }
            let id = record.id(connection)
            judgeSender(passage, to: id, socket, record, &found)
            judgeAddress(passage, of: record.sending(signal), to: id, record, &found)
            if passage.placed == nil { judgeOnlineOnly(signal, passage, to: id, socket, record, &found) }
        case .changed:
            guard let connection = passage.connection, let socket = record.sockets[passage.number] else { return }
            judgeSender(passage, to: record.id(connection), socket, record, &found)
        default: break
        }
    }

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {}

    /// All lines give a connection the same details.
    func judge(
        _ described: [(name: Passage.Name, details: WireRecord.Details)], _ record: WireRecord,
        _ found: inout Findings
    ) {
        for (name, told) in described {
            // The own connection is the first, and stands in the list of `connected`, too.
            let known = record.details[name] ?? described.first.flatMap { $0.name == name ? $0.details : told }
            if known == told { continue }
            found.add(
                .g8, .wrong,
                "\(record.id(name)) was told with \(told), and before with \(known ?? told): "
                    + "the details of a connection do not change (CON-5)")
        }
    }

    /// `connected` has the role, the connection data and the user of the token that its client has shown.
    private func judgeIdentity(
        of name: Passage.Name, _ socket: WireRecord.Socket, _ line: WireLine, _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let claims = socket.claims else { return }
        let id = record.id(name)
        if let role = line.text("role"), role != claims.role {
            found.add(.g8, .wrong, "\(id) has the role \(role), and its token has \(claims.role)")
        }
        let connection = line.member("connection")
        let data = connection?.text("data")
        if data != claims.data {
            found.add(.g8, .wrong, "\(id) has the data \(data ?? "(none)"), and its token has \(claims.data) (CON-5)")
        }
        let (user, named) = (connection?.text("user"), claims.user.map { record.userID($0) })
        if user.map({ Array($0.utf8) }) != named.map({ Array($0.utf8) }) {
            found.add(
                .g8, .wrong, "\(id) is user \(user ?? "(none)"), and its token names \(named ?? "(none)") (USR-2)")
        }
    }

    /// SIG-9, RES-5: a receiver that cannot know the sender from its list is told who it is.
    private func judgeSender(
        _ passage: Passage, to id: String, _ socket: WireRecord.Socket, _ record: WireRecord, _ found: inout Findings
    ) {
        let (line, data) = (passage.line, passage.line.text("data") ?? "")
        guard let told = line.member("connection") else {
            let isReplay = line.seq.map { $0 <= socket.onlyBroadcastsThrough } ?? false
            guard passage.from != nil, isReplay || socket.suppressesPresence else { return }
            let rule = isReplay ? "in a replay for a new connection (RES-5)" : "without presence (SIG-9)"
            return found.add(.g8, .missing, "\(id) got \(data) without the details of its sender, \(rule)")
        }
        if passage.from.map(record.id) != told.text("connectionId") {
            found.add(
                .g8, .wrong, "\(id) got \(data) with the details of a connection that did not send it (SIG-9)")
        }
    }

    /// SIG-7: a signal arrives from its sender, with the type and the target that it was given.
    private func judgeAddress(
        _ passage: Passage, of sending: WireRecord.Sending, to id: String, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let (line, data) = (passage.line, passage.line.text("data") ?? "")
        if line.text("type") != sending.type {
            found.add(
                .g8, .wrong,
                "\(id) got \(data) with the type \(line.text("type") ?? "(none)"), and it was sent with "
                    + "\(sending.type ?? "(none)")")
        }
        let target: String? =
            switch sending.to {
            case .all: nil
            case .connection(let name): record.id(name)
            }
        if line.text("to") != target {
            found.add(
                .g8, .wrong,
                "\(id) got \(data) as a signal to \(line.text("to") ?? "all"), and it was sent to \(target ?? "all") "
                    + "(SIG-7)")
        }
        if passage.from != sending.from {
            let (told, real) = (passage.from.map(record.id), sending.from.map(record.id))
            found.add(
                .g8, .wrong, "\(data) came from \(told ?? "the server"), and was sent by \(real ?? "REST")")
        }
    }

    /// SIG-10: an online-only signal comes once, and to nobody who came after its acknowledgement.
    private func judgeOnlineOnly(
        _ signal: Int32, _ passage: Passage, to id: String, _ socket: WireRecord.Socket, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let (sending, data) = (record.sending(signal), passage.line.text("data") ?? "")
        if !sending.isOnlineOnly { found.add(.g6, .wrong, "\(data) came to \(id) without a seq") }
        if socket.onlineOnly.contains(signal) { found.add(.g6, .duplicate, "\(id) got \(data) twice") }
        if let acknowledgedAt = sending.acknowledgedAt, acknowledgedAt < socket.openedAt {
            found.add(.g6, .wrong, "\(id) got \(data), which was acknowledged before its socket was opened")
        }
    }
}
