import DequeModule
import SignalingProtocol

extension SessionState {
    /// The state to save. Every connection with a socket loses it at `now`.
    func snapshot(at now: MonotonicInstant) -> SessionSnapshot {
        SessionSnapshot(
            id: id, epoch: epoch, lastSeq: log.lastSeq, lastCreationTime: lastCreationTime,
            members: roster.members.map { member in
                let lostAt =
                    switch member.attachment {
                    case .attached: now
                    case .detached(let at, _): at
                    }
                return SessionSnapshot.SavedMember(
                    ticket: member.ticket, creationTime: member.connection.creationTime,
                    suppressesPresence: member.suppressesPresence, isToldAbsences: member.isToldAbsences,
                    lostAt: lostAt, answers: member.answers, signalAllowance: member.signalAllowance,
                    onlineOnlyAllowance: member.onlineOnlyAllowance)
            },
            expiredTickets: expiredTickets.tickets, forceDisconnectedTickets: forceDisconnectedTickets.tickets,
            entries: log.entries)
    }

    /// Continues a saved session with the next server's bounds. Events over these bounds are dropped, and a client that
    /// needs one of them learns of the loss (G4). No connection is away yet: the time without a server does not count
    /// (PRES-4).
    init(_ snapshot: SessionSnapshot, bounds: Bounds, now: MonotonicInstant) {
        self.init(id: snapshot.id, epoch: snapshot.epoch, bounds: bounds)
        lastCreationTime = snapshot.lastCreationTime
        log = SessionLog(bounds: bounds.log, lastSeq: snapshot.lastSeq, entries: snapshot.entries)
        for member in snapshot.members { roster.append(Roster.Member(member, bounds: bounds)) }
        for member in snapshot.members.sorted(by: { $0.lostAt < $1.lostAt }) {
            detachments.add(
                Detachments.Loss(
                    connectionId: member.ticket.connectionId, until: member.lostAt.advanced(by: bounds.resumeWindow),
                    token: nil))
            awayDeadlines.append(
                AwayDeadline(
                    connectionId: member.ticket.connectionId, lostAt: member.lostAt,
                    moment: now.advanced(by: bounds.awayDelay)))
        }
        for each in snapshot.expiredTickets { expiredTickets.append(each.ticket, since: each.since) }
        for each in snapshot.forceDisconnectedTickets {
            forceDisconnectedTickets.append(each.ticket, since: each.since)
        }
    }
}

extension Roster.Member {
    fileprivate init(_ saved: SessionSnapshot.SavedMember, bounds: SessionState.Bounds) {
        let connection = Connection(
            connectionId: saved.ticket.connectionId, creationTime: saved.creationTime, data: saved.ticket.data)
        self.init(
            connection: connection, role: saved.ticket.role, encodedConnection: EncodedLine.encode(connection),
            suppressesPresence: saved.suppressesPresence, isToldAbsences: saved.isToldAbsences,
            attachment: .detached(at: saved.lostAt, until: saved.lostAt.advanced(by: bounds.resumeWindow)),
            ticket: saved.ticket, answers: saved.answers, signalAllowance: saved.signalAllowance,
            onlineOnlyAllowance: saved.onlineOnlyAllowance)
        signalAllowance.adapt(to: bounds.signalRate, usedAt: saved.lostAt)
        onlineOnlyAllowance.adapt(to: bounds.onlineOnlyRate, usedAt: saved.lostAt)
    }
}
