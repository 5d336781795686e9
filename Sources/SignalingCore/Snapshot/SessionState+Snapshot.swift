import DequeModule
import SignalingProtocol

extension SessionState {
    /// What has to be kept of this session. Whoever has a socket loses it now.
    func snapshot(at now: MonotonicInstant) -> SessionSnapshot {
        SessionSnapshot(
            id: id, epoch: epoch, lastSeq: log.lastSeq, lastCreationTime: lastCreationTime,
            members: members.members.map { member in
                let lostAt =
                    switch member.presence {
                    case .attached: now
                    case .detached(let at, _): at
                    }
                return SessionSnapshot.Member(
                    ticket: member.ticket, creationTime: member.connection.creationTime, lostAt: lostAt,
                    answers: member.answers, signalAllowance: member.signalAllowance,
                    onlineOnlyAllowance: member.onlineOnlyAllowance)
            },
            departed: departed.tickets, forceDisconnected: forceDisconnected.tickets, entries: log.entries)
    }

    /// The session goes on where it was, by today's bounds: what they do not allow is gone, and who needed it is told (G4).
    init(_ snapshot: SessionSnapshot, bounds: Bounds) {
        self.init(id: snapshot.id, epoch: snapshot.epoch, bounds: bounds)
        lastCreationTime = snapshot.lastCreationTime
        log = SessionLog(bounds: bounds.log, lastSeq: snapshot.lastSeq, entries: snapshot.entries)
        for member in snapshot.members { members.append(Roster.Member(member, bounds: bounds)) }
        for member in snapshot.members.sorted(by: { $0.lostAt < $1.lostAt }) {
            detachments.append(
                Detachment(
                    connectionId: member.ticket.connectionId, until: member.lostAt.advanced(by: bounds.resumeWindow)))
        }
        for each in snapshot.departed { departed.append(each.ticket, since: each.since) }
        for each in snapshot.forceDisconnected { forceDisconnected.append(each.ticket, since: each.since) }
    }
}

extension Roster.Member {
    fileprivate init(_ kept: SessionSnapshot.Member, bounds: SessionState.Bounds) {
        let connection = Connection(
            connectionId: kept.ticket.connectionId, creationTime: kept.creationTime, data: kept.ticket.data)
        self.init(
            connection: connection, role: kept.ticket.role, encodedConnection: EncodedLine.encode(connection),
            presence: .detached(at: kept.lostAt, until: kept.lostAt.advanced(by: bounds.resumeWindow)),
            ticket: kept.ticket, answers: kept.answers, signalAllowance: kept.signalAllowance,
            onlineOnlyAllowance: kept.onlineOnlyAllowance)
        signalAllowance.adapt(to: bounds.signalRate, usedAt: kept.lostAt)
        onlineOnlyAllowance.adapt(to: bounds.onlineOnlyRate, usedAt: kept.lostAt)
    }
}
