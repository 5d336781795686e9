import SignalingProtocol

/// The actions of moderators and REST (MOD-1 to MOD-9).
extension SessionState {
    /// Carries out an action: checks it in the order of MOD-1, appends it to the log, and then what follows from it
    /// (MOD-8).
    ///
    /// The action has the date of its entry, so that the ``Restriction/until`` that people read is the end that holds.
    mutating func moderate(
        _ request: ModerationRequest, by sender: CommandSender, _ acceptance: Acceptance, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        let time = acceptance.date(at: now)
        let (author, measure): (Roster.Member?, Measure)
        do throws(SignalingError) {
            author = try self.author(of: sender)
            measure = try self.measure(for: request, by: author, now)
        } catch { return .refused(error) }
        let by = author.map { Moderator(connectionId: $0.connection.connectionId, user: $0.connection.user) }
        restrictions.removeEnded(at: now)
        switch measure {
        case .restrict(let subject, let kind, let terms):
            guard restrictions.hasRoom(for: subject.key(kind)) else {
                return .refused(
                    SignalingError(
                        .invalidParameter,
                        "the session has \(Limits.restrictionCount) restrictions; lift one of them first"))
            }
            let restriction = Restriction(kind, until: terms.end(from: time), reason: terms.reason)
            let action = note(request, until: restriction.until, by, time, now)
            restrictions.add(
                Restrictions.Entry(
                    key: subject.key(kind),
                    record: RestrictionRecord(
                        ref: action.seq, subject: subject.recorded, restriction: restriction, time: time, by: by),
                    until: terms.seconds.map { now.advanced(by: .seconds($0)) }, otherTokens: subject.otherTokens))
            switch kind {
            case .mute, .freeze:
                tell(subject.recorded, now) { .restricted($0, restriction) }
            case .ban:
                if rules >= .newerTokens, case .guest(let id, _) = subject {
                    forceOut(id, because: restriction, now, effects: &effects)
                }
                endBanned(now, effects: &effects)
                if case .ban(_, _, erasesMessages: true) = request, case .user(let user) = subject, keepsMessages {
                    eraseMessages(.user(user), now)
                }
            }
            return .moderated(action, of: subject.recorded)
        case .lift(let entry):
            restrictions.lift(entry.key)
            let action = note(request, until: nil, by, time, now)
            let (subject, kind) = (entry.record.subject, entry.record.restriction.kind)
            switch kind {
            case .mute, .freeze: tell(subject, now) { .unrestricted($0, kind) }
            // No connection is there to be told.
            case .ban: break
            }
            return .moderated(action, of: subject)
        }
    }

    /// The restrictions that hold, for a moderator (MOD-6).
    func readRestrictions(_ binding: SocketBinding, _ now: MonotonicInstant) -> SessionOutcome {
        do throws(SignalingError) { _ = try author(of: .connection(binding, nil)) } catch { return .refused(error) }
        return .restrictions(restrictions.records(at: now))
    }

    // MARK: - Checks

    /// The moderator who acts; `nil` for REST.
    private func author(of sender: CommandSender) throws(SignalingError) -> Roster.Member? {
        switch sender {
        case .server:
            // Whoever has joined has left an event.
            guard log.lastSeq > .zero else {
                throw SignalingError(.notFound, "there is no such session; nobody has joined it, or it has ended")
            }
            return nil
        case .connection(let binding, _):
            guard let member = roster[binding.connectionId], member.isAttached(to: binding.socket) else {
                throw SignalingError(.notConnectedToModerate, "not connected to the session; connect first")
            }
            guard member.role.mayModerate else {
                throw SignalingError(
                    .permissionDenied, "only a moderator may do this; use a token with the role moderator")
            }
            return member
        }
    }

    private func measure(
        for request: ModerationRequest, by author: Roster.Member?, _ now: MonotonicInstant
    ) throws(SignalingError) -> Measure {
        switch request {
        case .mute(let subject, let terms):
            let concerned = try concerned(subject, author)
            guard case .user = concerned else {
                throw SignalingError(
                    .invalidParameter, "the connection has no user, so it cannot be muted; ban it instead")
            }
            return .restrict(concerned, .mute, terms)
        case .ban(let subject, let terms, _): return .restrict(try concerned(subject, author), .ban, terms)
        case .freeze(let terms): return .restrict(.session, .freeze, terms)
        case .unmute(let lifted): return .lift(try held(.mute, lifted, author, now))
        case .unban(let lifted): return .lift(try held(.ban, lifted, author, now))
        case .unfreeze:
            guard let entry = restrictions.held(.freeze, at: now) else { throw .restrictionNotFound }
            return .lift(entry)
        }
    }

    private func concerned(
        _ subject: ModerationRequest.Subject, _ author: Roster.Member?
    ) throws(SignalingError) -> Measure.Subject {
        switch subject {
        case .user(let user):
            if user == author?.connection.user { throw .actionOnOneself }
            return .user(user)
        case .connection(let id):
            if id == author?.connection.connectionId { throw .actionOnOneself }
            guard let member = roster[id] else {
                throw SignalingError(.notFound, "the connection is not in the session; it may have left")
            }
            if let user = member.connection.user {
                if user == author?.connection.user { throw .actionOnOneself }
                return .user(user)
            }
            let tokens = tokens(ofGuest: member)
            if tokens.isEmpty {
                throw SignalingError(.invalidParameter, "the connection has neither a user nor a token")
            }
            if author?.tokens.contains(where: tokens.contains) ?? false { throw .actionOnOneself }
            return .guest(id, tokens)
        }
    }

    /// The tokens by which a ban recognizes a guest (MOD-3): those that its connection has shown, then those of the other
    /// connections that show one of them.
    private func tokens(ofGuest guest: Roster.Member) -> [TokenFingerprint] {
        var tokens = guest.tokens
        if rules < .newerTokens { return tokens }
        var knownCount = 0
        while knownCount < tokens.count, tokens.count < Restrictions.Entry.tokenLimit {
            knownCount = tokens.count
            for member in roster.members where member.connection.user == nil {
                let own = member.tokens
                if own.count > 1, own.contains(where: tokens.contains) {
                    tokens += own.filter { !tokens.contains($0) }
                }
            }
        }
        return Array(tokens.prefix(Restrictions.Entry.tokenLimit))
    }

    private func held(
        _ kind: Restriction.Kind, _ lifted: ModerationRequest.Lifted, _ author: Roster.Member?, _ now: MonotonicInstant
    ) throws(SignalingError) -> Restrictions.Entry {
        let entry: Restrictions.Entry?
        switch lifted {
        case .user(let user):
            if user == author?.connection.user { throw .actionOnOneself }
            entry = restrictions.held(Measure.Subject.user(user).key(kind), at: now)
        case .ref(let seq):
            entry = restrictions.held(seq, at: now)
            if case .user(let user)? = entry?.record.subject, user == author?.connection.user { throw .actionOnOneself }
        }
        guard let entry, entry.record.restriction.kind == kind else { throw .restrictionNotFound }
        return entry
    }

    // MARK: - Consequences

    /// Appends an action to the log, for moderators, and records it.
    private mutating func note(
        _ request: ModerationRequest, until: WallTime?, _ by: Moderator?, _ time: WallTime, _ now: MonotonicInstant
    ) -> ModerationRecord {
        let event = ModerationEvent(action: request.withoutSeconds, until: until, by: by)
        let entry = log.append(audience: .everyone, kind: .moderation(for: .moderators), now: now) { seq in
            EncodedLine(.moderated(seq, event))
        }
        announce(.moderated(entry.seq, event), now)
        let action = ModerationRecord(seq: entry.seq, time: time, event: event)
        restrictions.note(action)
        return action
    }

    /// Tells the connections concerned (MOD-5).
    private mutating func tell(
        _ subject: RestrictionRecord.Subject, _ now: MonotonicInstant, _ message: (Seq) -> ServerMessage
    ) {
        let audience: LogEntry.Concerned
        switch subject {
        case .user(let user): audience = .user(user)
        case .session: audience = .everyone
        // A guest can only be banned.
        case .guest: return
        }
        log.append(audience: .everyone, kind: .moderation(for: audience), now: now) { EncodedLine(message($0)) }
    }
}

/// What an action does to the restrictions of a session.
private enum Measure {
    case restrict(Subject, Restriction.Kind, ModerationRequest.Terms)
    case lift(Restrictions.Entry)

    enum Subject {
        case user(UserID)
        /// The connections that have shown one of these tokens, of which there is one at least. One of them is named.
        case guest(ConnectionID, [TokenFingerprint])
        case session

        var otherTokens: [TokenFingerprint] {
            switch self {
            case .user, .session: []
            case .guest(_, let tokens): Array(tokens.dropFirst())
            }
        }

        func key(_ kind: Restriction.Kind) -> Restrictions.Key {
            switch self {
            case .user(let user): kind == .mute ? .mute(user) : .ban(user)
            case .guest(_, let tokens): .guestBan(tokens[0])
            case .session: .freeze
            }
        }

        var recorded: RestrictionRecord.Subject {
            switch self {
            case .user(let user): .user(user)
            case .guest(let connection, _): .guest(connection)
            case .session: .session
            }
        }
    }
}

extension ModerationRequest {
    /// Moderators are told the end of a restriction in the place of its length (MOD-6).
    fileprivate var withoutSeconds: ModerationRequest {
        switch self {
        case .mute(let subject, let terms): .mute(subject, Terms(reason: terms.reason))
        case .ban(let subject, let terms, let erases):
            .ban(subject, Terms(reason: terms.reason), erasesMessages: erases)
        case .freeze(let terms): .freeze(Terms(reason: terms.reason))
        case .unmute, .unban, .unfreeze: self
        }
    }
}

extension ModerationRequest.Terms {
    fileprivate func end(from time: WallTime) -> WallTime? {
        seconds.map { WallTime(milliseconds: time.milliseconds &+ Int64($0) &* 1_000) }
    }
}

extension Role {
    /// Whether clients with this role may act as moderators (MOD-1), and learn of the actions of others (MOD-6).
    public var mayModerate: Bool { mayForceDisconnect }
}

extension SignalingError {
    fileprivate static var actionOnOneself: SignalingError {
        SignalingError(.invalidParameter, "a moderator cannot act on their own user or token")
    }

    fileprivate static var restrictionNotFound: SignalingError {
        SignalingError(.notFound, "there is no such restriction; it may have ended")
    }

    /// A signal, or a connect, that a restriction forbids (MOD-3, MOD-4).
    init(_ code: Code, because entry: Restrictions.Entry, _ now: MonotonicInstant) {
        let text =
            switch entry.record.restriction.kind {
            case .mute: "a moderator has muted you"
            case .ban: "a moderator has banned you from this session"
            case .freeze: "a moderator has frozen the session: only moderators may send"
            }
        // Whole milliseconds, rounded up: after this time the request is not refused for the same reason.
        let wait = entry.until.map {
            Duration.milliseconds(($0.duration(since: now) + .nanoseconds(999_999)).wholeMilliseconds)
        }
        self.init(code, text, restriction: entry.record.restriction, retryAfter: wait)
    }
}
