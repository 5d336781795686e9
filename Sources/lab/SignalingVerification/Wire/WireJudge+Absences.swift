import SignalingProtocol

/// Which connections are away, as the server tells a client that asked for it (PRES-4).
extension WireJudge {
    /// The absences that one socket has been told, each with the time of the line.
    struct ToldAbsences: Sendable {
        var away: [Name: MonotonicInstant] = [:]
        /// When `connectionBack` ended the newest absence of a connection. This line may pass before the `connected` of
        /// the client that is back.
        var back: [Name: MonotonicInstant] = [:]
        /// The connections whose end has been told on this socket.
        var departed: Set<Name> = []
    }

    /// An absence of a connection that is over, or that still lasts.
    struct Absence: Sendable {
        var lostAt: MonotonicInstant
        /// When the connection had a socket again; nil while it has none.
        var backAt: MonotonicInstant?
    }

    /// `connected` lists the connections that are away: if the client asked for them, and only then.
    mutating func noteAwayList(_ list: [Name]?, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], let connection = socket.connection else { return }
        let isAsked = socket.getsAbsences && !socket.suppressesPresence
        guard let list else {
            if isAsked { report(.g7, .missing, "\(id(connection)) got no list `away`, and asked for it (PRES-4)") }
            return
        }
        guard isAsked else {
            return report(.g7, .wrong, "\(id(connection)) got the list `away`, and did not ask for it (PRES-4)")
        }
        for name in list { noteAway(name, on: number, at: now) }
    }

    mutating func noteAway(_ name: Name, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], let told = hearerOfAbsences(number, of: "is away", name) else { return }
        if socket.told.away[name] != nil {
            report(.g7, .duplicate, "\(id(told)) was told twice that \(id(name)) is away (PRES-4)")
        }
        if name == told || socket.told.departed.contains(name) {
            report(.g7, .wrong, "\(id(told)) was told that \(id(name)) is away, its own connection or one that left")
        }
        sockets[number]?.told.away[name] = now
        // The lines of an impaired client pass late.
        guard !socket.isImpaired, let connection = connections[name], !connection.isSought else { return }
        if !wasAway(connection, at: now) {
            report(.g7, .wrong, "\(id(told)) was told that \(id(name)) is away, and it was not for so long (PRES-4)")
        }
    }

    mutating func noteBack(_ name: Name, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], let told = hearerOfAbsences(number, of: "is back", name) else { return }
        guard let toldAt = socket.told.away[name] else {
            return report(.g7, .wrong, "\(id(told)) was told that \(id(name)) is back, and not that it was away")
        }
        sockets[number]?.told.away[name] = nil
        sockets[number]?.told.back[name] = now
        guard let connection = connections[name], !connection.isSought, connection.lostAt != nil else { return }
        let backAt = connection.lastAbsence?.backAt
        if backAt.map({ $0.advanced(by: terms.tolerance) < toldAt }) ?? true {
            report(.g7, .wrong, "\(id(told)) was told that \(id(name)) is back, and it has no socket (PRES-4)")
        }
    }

    /// The connection of a socket that may get lines about absences.
    private mutating func hearerOfAbsences(_ number: SocketNumber, of what: String, _ name: Name) -> Name? {
        guard let socket = sockets[number], let connection = socket.connection else { return nil }
        if socket.getsAbsences, !socket.suppressesPresence { return connection }
        report(.g7, .wrong, "\(id(connection)) was told that \(id(name)) \(what), and did not ask for it (PRES-4)")
        return nil
    }

    /// Whether the connection has just been without a socket for long enough.
    private func wasAway(_ connection: Connection, at now: MonotonicInstant) -> Bool {
        let least = terms.awayDelay - terms.allowedEarliness
        if let lostAt = connection.lostAt, now.duration(since: max(lostAt, startedAt)) >= least { return true }
        guard let last = connection.lastAbsence, let backAt = last.backAt else { return false }
        // The line may have passed a little later than the resume.
        return backAt.advanced(by: terms.tolerance) >= now
            && backAt.duration(since: max(last.lostAt, startedAt)) >= least
    }

    /// A connection was resumed: each attentive client was told of its absence in time.
    mutating func judgeAbsence(of name: Name, since lostAt: MonotonicInstant, isSilent: Bool, at now: MonotonicInstant)
    {
        for number in sockets.keys.sorted() where sockets[number]?.isOpen == true {
            judgeAbsence(of: name, since: lostAt, isSilent: isSilent, on: number, at: now)
        }
    }

    /// The departure of a connection passes on a socket: an absence before it was told there in time.
    mutating func noteDeparture(of name: Name, on number: SocketNumber, at now: MonotonicInstant) {
        guard sockets[number]?.getsAbsences == true else { return }
        if let connection = connections[name], let lostAt = connection.lostAt, connection.end == nil {
            judgeAbsence(of: name, since: lostAt, isSilent: connection.isSilent, on: number, at: now)
        }
        sockets[number]?.told.away[name] = nil
        sockets[number]?.told.departed.insert(name)
    }

    private mutating func judgeAbsence(
        of name: Name, since lostAt: MonotonicInstant, isSilent: Bool, on number: SocketNumber,
        at now: MonotonicInstant
    ) {
        guard let socket = sockets[number], socket.isAttentive, let told = socket.connection, told != name,
            socket.epoch == connections[name]?.epoch, let connectedAt = socket.connectedAt,
            socket.told.away[name] == nil, socket.told.back[name].map({ $0 < lostAt }) ?? true
        else { return }
        let silence = isSilent || startedAt > lostAt ? terms.heartbeat * 2 : .zero
        let begin = max(lostAt, startedAt, connectedAt)
        guard now.duration(since: begin) > terms.awayDelay + silence + terms.tolerance else { return }
        report(
            .g7, .missing,
            "\(id(name)) was away for \(now.duration(since: lostAt)), and \(id(told)) was not told (PRES-4)")
    }

    /// At the end, a client that was told of an absence knows whether it is over.
    mutating func judgeUnfinishedAbsences(at now: MonotonicInstant) {
        for number in sockets.keys.sorted() {
            guard let socket = sockets[number], socket.isOpen, socket.isAttentive, let told = socket.connection else {
                continue
            }
            for name in socket.told.away.keys.sorted() {
                guard let connection = connections[name], connection.lostAt == nil, let last = connection.lastAbsence,
                    let backAt = last.backAt, now.duration(since: backAt) > terms.tolerance
                else { continue }
                report(.g7, .missing, "\(id(name)) is back, and \(id(told)) was not told (PRES-4)")
            }
        }
    }
}

extension WireJudge.Socket {
    /// The client asked for absences, and its lines pass when the server sends them.
    fileprivate var isAttentive: Bool { getsAbsences && !suppressesPresence && !isImpaired && connection != nil }
}
