import SignalingProtocol

extension SessionState {
    /// Checks a signal in the order of SIG-5 (rate, role, restrictions, data, to, type, presence of the target) and
    /// appends it to the log.
    mutating func signal(
        _ request: SignalRequest, from sender: CommandSender, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        let from: (id: ConnectionID, encoded: [UInt8])?
        switch sender {
        case .server: from = nil
        case .connection(let binding, _):
            switch standing(of: binding, for: request.isOnlineOnly ? .onlineOnlySignal : .signal, now) {
            case .refused(let error): return .refused(error)
            case .permitted(let encodedConnection): from = (binding.connectionId, encodedConnection)
            }
            if !restrictions.isEmpty, let entry = silencing(binding.connectionId, now) {
                return .refused(SignalingError(.permissionDenied, because: entry, now))
            }
        }
        do { try request.validate() } catch { return .refused(error) }
        let isKept = request.to == nil && !request.isOnlineOnly && bounds.history?.contains(request.type) == true
        if isKept, unarchived.isFull { return .refused(.historyBehind) }
        if let to = request.to {
            guard roster.contains(to) else {
                return .refused(
                    SignalingError(.notFound, "the target connection is not in the session; it may have left"))
            }
        } else if roster.isEmpty, !isKept {
            return .refused(SignalingError(.notFound, "the session has no connections"))
        }

        let audience = request.to.map(Audience.only) ?? .everyone
        func line(_ seq: Seq?) -> EncodedLine {
            EncodedLine(
                SignalEvent(
                    seq: seq, from: from?.id, type: request.type, data: request.data, isJSON: request.isJSON,
                    to: request.to),
                encodedSender: from?.encoded)
        }
        if request.isOnlineOnly {
            let isWithinRate = from.map { from in
                roster.update(from.id) { $0.onlineOnlyAllowance.consume(bounds.onlineOnlyRate, now: now) } ?? true
            }
            guard isWithinRate ?? true else {
                effects.append(.onlineOnlyDropped(.tooOften))
                return .signalled(nil)
            }
            if audience == .everyone, roster.count > bounds.onlineOnlyConnectionCount {
                effects.append(.onlineOnlyDropped(.tooManyConnections))
                return .signalled(nil)
            }
            effects.append(
                .onlineOnly(
                    OnlineOnlySignal(
                        after: log.lastSeq, from: from?.id, type: request.type,
                        audience: audience, line: line(nil))))
            return .signalled(nil)
        }
        let entry = log.append(audience: audience, kind: .signal, now: now, line: line)
        if isKept {
            unarchived.keep(entry)
            absentees.messageKept(now)
            noteKept(entry.seq, from: from?.id, type: request.type)
        }
        return .signalled(entry.seq)
    }
}

extension SessionState {
    /// The restriction because of which a connection may not signal (MOD-4).
    func silencing(_ connection: ConnectionID, _ now: MonotonicInstant) -> Restrictions.Entry? {
        roster[connection].flatMap { restrictions.silencing($0.connection.user, $0.role, at: now) }
    }
}

/// What a member may do if its rate and its role permit it.
enum Permit {
    case signal, onlineOnlySignal, streams
}

/// Whether a member may do so now, before the request itself is checked.
enum Standing {
    /// With the sender's encoded connection (SIG-9).
    case permitted(encodedConnection: [UInt8])
    case refused(SignalingError)
}

extension SessionState {
    mutating func standing(of binding: SocketBinding, for permit: Permit, _ now: MonotonicInstant) -> Standing {
        let sharesAllowances = rules >= .tokenAllowances
        return roster.update(binding.connectionId) { member in
            member.standing(
                for: permit, on: binding.socket, bounds.signalRate, &signalAllowances,
                sharesAllowance: sharesAllowances, now)
        } ?? .refused(.notInSession)
    }
}

extension Roster.Member {
    fileprivate mutating func standing(
        for permit: Permit, on socket: SocketID, _ rate: RateLimit?, _ allowances: inout TokenAllowances,
        sharesAllowance: Bool, _ now: MonotonicInstant
    ) -> Standing {
        guard isAttached(to: socket) else { return .refused(.notInSession) }
        // The rate comes first: a refusal costs as much as relaying to one receiver, so it needs a limit, too.
        let sharing = sharesAllowance ? token : nil
        guard
            permit == .onlineOnlySignal || allowances.consume(with: &signalAllowance, of: sharing, rate, now: now)
        else {
            return .refused(SignalingError(.rateLimited, "too many signals; wait before you send more"))
        }
        switch permit {
        case .signal, .onlineOnlySignal:
            if role.maySignal { break }
            return .refused(
                SignalingError(
                    .permissionDenied, "the role \(role.rawValue) may not signal; use a token with another role"))
        case .streams:
            if role.capabilities.publish { break }
            return .refused(
                SignalingError(
                    .unableToPublish, "the role \(role.rawValue) may not publish; use a token with another role"))
        }
        return .permitted(encodedConnection: encodedConnection)
    }
}
