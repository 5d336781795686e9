import SignalingProtocol

/// Reactions to messages (CHG-11 to CHG-15).
extension SessionState {
    /// Sets a user's reactions to a message. The checks are those of CHG-5, but any author's message can be reacted to.
    mutating func react(
        _ request: ReactRequest, by sender: CommandSender, _ now: MonotonicInstant
    ) -> SessionOutcome {
        let ref = request.ref
        do throws(SignalingError) {
            let judged = try judge(.react, of: request.ref, by: sender, now) { () throws(SignalingError) in
                try request.validate()
            }
            guard let user = judged.user else { throw .noReactionsOfGuests }
            if ref <= reactions.closedThrough { throw .messageNotFound }
            if unarchived.isFull { throw .historyBehind }
            if try reactions.set(request.keys, of: user, on: ref) { tellOwn(user, ref, now) }
        } catch { return .refused(error) }
        tellReactions(now)
        return .reacted
    }

    /// Tells the counts that have changed, if it is time (CHG-12).
    mutating func tellReactions(_ now: MonotonicInstant) {
        tell(reactions.takeDue(at: now), now)
    }

    /// Tells what the erasure of a user has changed, so that the archive forgets the user's keys with its messages.
    mutating func tellErasedReactions(_ now: MonotonicInstant) {
        tell(reactions.takeDue(SessionReactions.toldBehindErasure, now), now)
    }

    private mutating func tell(_ messages: [SessionReactions.MessageReactions], _ now: MonotonicInstant) {
        for message in messages {
            let (ref, counts) = (message.ref, message.counts)
            let entry = log.append(audience: .everyone, kind: .reactions(to: ref, of: nil), now: now) { seq in
                EncodedLine(.reactions(ReactionsEvent(seq: seq, ref: ref, counts: counts)))
            }
            unarchived.react(ref, counts, at: entry.seq, replacing: changeables.version(of: ref), now)
            changeables.note(entry.seq, of: ref)
        }
    }

    /// The user's other connections learn of its reactions. Where there are very many connections, nobody looks for them.
    private mutating func tellOwn(_ user: UserID, _ ref: Seq, _ now: MonotonicInstant) {
        guard roster.count <= Limits.readerCount,
            roster.members.lazy.filter({ $0.connection.user == user }).prefix(2).count > 1
        else { return }
        let own = OwnReactions(ref: ref, keys: reactions.keys(of: user, on: ref))
        log.append(audience: .everyone, kind: .reactions(to: ref, of: user), now: now) { seq in
            EncodedLine(.reacted(seq, own))
        }
    }

    /// The reactions of a connection's user to some messages (CHG-13).
    func ownReactions(of connection: ConnectionID, to refs: [Seq]) -> [OwnReactions] {
        guard let user = roster[connection]?.connection.user, reactions.has(user) else { return [] }
        return refs.compactMap { ref in
            let keys = reactions.keys(of: user, on: ref)
            return keys.isEmpty ? nil : OwnReactions(ref: ref, keys: keys)
        }
    }

    /// Who has reacted to a message (CHG-14).
    func readReactors(_ request: ReactorsRequest, for binding: SocketBinding) -> SessionOutcome {
        guard isAttached(binding) else { return .refused(.notInSession) }
        return .reactors(request.ref, reactions.reactors(of: request.ref, key: request.key))
    }

    /// Takes away what was said of erased messages, and what an erased user has said of others (CHG-15). Call it while
    /// the messages' authors are known.
    ///
    /// - Parameter erasure: concerns no later message.
    mutating func eraseReactions(_ erasure: Erasure) {
        let changeables = changeables
        func isErased(_ ref: Seq) -> Bool {
            switch erasure {
            case .message(let erased): ref == erased
            case .through(let last): ref <= last
            case .user(let user): changeables.message(ref)?.author == .user(user)
            }
        }
        if case .message(let ref) = erasure { reactions.erase(ref) } else { reactions.erase(where: isErased) }
        var untold: Set<Seq> = []
        log.erase { entry in
            guard case .reactions(let ref, let owner) = entry.kind else { return false }
            if isErased(ref) { return true }
            guard case .user(let user) = erasure, owner == nil || owner == user else { return false }
            // The user's keys may be among them, even if it has taken them back since.
            if owner == nil { untold.insert(ref) }
            return true
        }
        if case .user(let user) = erasure { reactions.erase(user) }
        for ref in untold.sorted() where ref > reactions.closedThrough && changeables.message(ref) != nil {
            reactions.noteDue(ref)
        }
        // What is due behind the erasure of a user is told at once. Otherwise pages have the old counts until then.
        let isOfUser = if case .user = erasure { true } else { false }
        unarchived.forgetReactions { [reactions] ref in isErased(ref) || isOfUser && reactions.isDue(ref) }
    }
}
