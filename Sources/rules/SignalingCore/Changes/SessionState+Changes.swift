import SignalingProtocol

/// Messages that change (section 20 of docs/PROTOCOL.md): their authors edit and delete them.
extension SessionState {
    /// What the session permits; `nil` if it keeps no history (CHG-3).
    var permittedChanges: [ChangeKind]? {
        rules >= .changes && bounds.history != nil ? ChangeKind.allCases.filter(bounds.changes.contains) : nil
    }

    /// A message is in the history. Its author may change it, if the session permits anything.
    mutating func noteKept(_ seq: Seq, from connection: ConnectionID?, type: String?) {
        if bounds.changes.isEmpty || rules < .changes { return }
        changeables.keep(seq, by: author(connection), type: type)
        if changeables.count == Changeables.limit, reactions.count > 0, let first = changeables.first {
            reactions.settle(through: first.previous)
        }
    }

    /// Changes a message. The checks are those of CHG-5, in their order.
    mutating func change(
        _ request: ChangeRequest, by sender: CommandSender, _ now: MonotonicInstant
    ) -> SessionOutcome {
        let judged: JudgedChange
        do throws(SignalingError) {
            judged = try judge(request.change.kind, of: request.ref, by: sender, now) { () throws(SignalingError) in
                try request.validate()
            }
        } catch { return .refused(error) }
        if unarchived.isFull { return .refused(.historyBehind) }
        let ref = request.ref
        let entry = log.append(audience: .everyone, kind: .change(of: ref), now: now) { seq in
            EncodedLine(
                ChangeEvent(seq: seq, ref: ref, from: judged.from, change: request.change),
                encodedSender: judged.encodedSender)
        }
        switch request.change {
        case .edit(let data, let isJSON):
            let form = EncodedLine(
                SignalEvent(seq: ref, from: judged.from, type: judged.type, data: data, isJSON: isJSON),
                encodedSender: judged.encodedSender)
            unarchived.change(ref, to: form, at: entry.seq, replacing: changeables.version(of: ref), now)
        }
        changeables.note(entry.seq, of: ref)
        return .changed(entry.seq)
    }

    /// Whether the author of a message may erase it now (CHG-6).
    mutating func judgeErasure(
        of ref: Seq, by sender: CommandSender, _ now: MonotonicInstant
    ) throws(SignalingError) {
        _ = try judge(.erase, of: ref, by: sender, now) { () throws(SignalingError) in }
    }

    /// A change of a message that its sender may make, or a reaction to it.
    struct JudgedChange {
        let type: String?
        let from: ConnectionID?
        let encodedSender: [UInt8]?
        /// `nil` for a guest.
        let user: UserID?
    }

    mutating func judge(
        _ kind: ChangeKind, of ref: Seq, by sender: CommandSender, _ now: MonotonicInstant,
        _ validate: () throws(SignalingError) -> Void
    ) throws(SignalingError) -> JudgedChange {
        let from: ConnectionID?
        var encodedSender: [UInt8]?
        switch sender {
        case .server: from = nil
        case .connection(let binding, _):
            from = binding.connectionId
            switch standing(of: binding, for: .signal, now) {
            case .refused(let error): throw error
            case .permitted(let encoded): encodedSender = encoded
            }
            if let entry = silencing(binding.connectionId, now) {
                throw SignalingError(.permissionDenied, because: entry, now)
            }
        }
        guard keepsMessages else { throw .noHistory }
        guard bounds.changes.contains(kind) else { throw .changeNotPermitted(kind) }
        let user = from.flatMap { roster[$0]?.connection.user }
        if kind == .react, user == nil { throw .noReactionsOfGuests }
        try validate()
        guard let message = changeables.message(ref) else { throw .messageNotFound }
        guard kind == .react || message.author == author(from) else { throw .notTheAuthor }
        return JudgedChange(type: message.type, from: from, encodedSender: encodedSender, user: user)
    }

    private func author(_ connection: ConnectionID?) -> Changeables.Author {
        guard let connection else { return .server }
        return roster[connection]?.connection.user.map { .user($0) } ?? .guest(connection)
    }
}

extension SignalingError {
    fileprivate static func changeNotPermitted(_ kind: ChangeKind) -> SignalingError {
        switch kind {
        case .edit: SignalingError(.permissionDenied, "this session does not permit to edit messages")
        case .react: SignalingError(.permissionDenied, "this session does not permit to react to messages")
        case .erase:
            SignalingError(
                .permissionDenied,
                "only a moderator may erase messages in this session; use a token with the role moderator")
        }
    }

    static var messageNotFound: SignalingError {
        SignalingError(.notFound, "there is no such message that can be changed; it may be erased or too old")
    }

    static var noReactionsOfGuests: SignalingError {
        SignalingError(.permissionDenied, "only users may react to messages; use a token that names a user")
    }

    fileprivate static var notTheAuthor: SignalingError {
        SignalingError(.permissionDenied, "only the author of a message may change it")
    }
}
