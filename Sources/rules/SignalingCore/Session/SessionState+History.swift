import SignalingProtocol

/// The history of a session: what it keeps, until its archive has it, and what is erased.
extension SessionState {
    /// The distance of an order that began after a loss from the history of the one before (HIS-3).
    static let seqStep: Int64 = 1_000_000_000

    /// Whether the session's archive may have messages.
    public var hasHistory: Bool { unarchived.lastKept > .zero }

    /// The archive has the kept signals and the erasures up to this seq.
    mutating func archived(through seq: Seq) { unarchived.archived(through: seq) }

    /// Whether the session, when it is not needed, sleeps instead of ending: it has a history (HIS-3), or a restriction
    /// holds (MOD-9).
    func mustSleep(at now: MonotonicInstant) -> Bool { hasHistory || restrictions.hold(at: now) }

    /// The session has no connection, and none can come back: it waits for its next join (HIS-3). Call it only if the session
    /// is not needed.
    mutating func sleep() {
        log.removeAll()
        keeper = nil
        departures = Departures()
        isAsleep = true
    }

    /// Erases messages, for a moderator, for REST (HIS-9), or a single one for its author (CHG-6).
    mutating func erase(_ erasure: Erasure, by sender: CommandSender, _ now: MonotonicInstant) -> SessionOutcome {
        switch sender {
        case .server: break
        case .connection(let binding, _):
            guard let member = roster[binding.connectionId], member.isAttached(to: binding.socket) else {
                return .refused(.notInSession)
            }
            if member.role.mayForceDisconnect { break }
            guard case .message(let ref) = erasure, rules >= .changes else {
                return .refused(
                    SignalingError(
                        .permissionDenied, "only a moderator may erase messages; use a token with the role moderator"))
            }
            do throws(SignalingError) { try judgeErasure(of: ref, by: sender, now) } catch { return .refused(error) }
        }
        guard keepsMessages else { return .refused(.noHistory) }
        return .erased(eraseMessages(erasure, now))
    }

    /// Changes whenever the history does, except by trimming.
    var historyMark: Seq { max(unarchived.mark, changeables.lastVersion) }

    /// Whether the session keeps messages, or may have some.
    var keepsMessages: Bool { bounds.history != nil || hasHistory }

    /// Whether earlier commands may have content that this erasure takes away. What the log of events has lost may be in
    /// the log of commands still.
    func mayHaveContent(of erasure: Erasure) -> Bool {
        let scope = ErasureScope(erasure, at: log.lastSeq.next)
        if case .message(let seq) = erasure, seq > log.reachesBackTo {
            return log.entry(seq).map { $0.isErasable(by: scope) } ?? false
        }
        if case .user(let user) = erasure, reactions.has(user) { return true }
        return log.reachesBackTo > .zero || log.entries.contains { $0.isErasable(by: scope) }
    }

    /// - Returns: the seq of the erasure.
    @discardableResult
    mutating func eraseMessages(_ erasure: Erasure, _ now: MonotonicInstant) -> Seq {
        let end = log.lastSeq
        let scope = ErasureScope(erasure, at: end.next)
        eraseReactions(erasure.limited(to: end))
        log.erase { entry in
            if case .reactions = entry.kind { false } else { entry.isErasable(by: scope) }
        }
        let entry = log.append(audience: .everyone, kind: .erasure, now: now) { EncodedLine(.erased($0, erasure)) }
        unarchived.erase(erasure.limited(to: end), at: entry.seq, now)
        changeables.erase(erasure.limited(to: end), at: entry.seq)
        if case .user(let user) = erasure {
            markers.remove(user)
            tellErasedReactions(now)
        }
        return entry.seq
    }
}

extension LogEntry {
    /// Whether the entry has content that an erasure takes away.
    fileprivate func isErasable(by scope: ErasureScope) -> Bool {
        let message: Seq
        switch (kind, audience) {
        case (.signal, .everyone): message = seq
        case (.change(let ref), _): message = ref
        case (.reactions(let ref, _), _):
            // An erased user's keys may be among them.
            if case .user = scope.erasure { return true }
            message = ref
        case (.signal, .only), (.presence, _), (.erasure, _), (.moderation, _), (.erased, _): return false
        }
        return scope.covers(message, from: line.insertion?.bytes ?? [])
    }
}

extension Erasure {
    /// Without messages that are still to come.
    fileprivate func limited(to last: Seq) -> Erasure {
        switch self {
        case .message, .user: self
        case .through(let seq): .through(min(seq, last))
        }
    }
}

extension SignalingError {
    /// The archive cannot be written to, and enough messages wait for it. None may be left out of the history.
    static var historyBehind: SignalingError {
        SignalingError(.rateLimited, "the server cannot store more messages at present; wait before you send more")
    }

    public static var noHistory: SignalingError { SignalingError(.notFound, "the session keeps no history") }
}
