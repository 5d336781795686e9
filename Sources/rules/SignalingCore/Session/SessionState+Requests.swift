import SignalingProtocol

extension SessionState {
    /// Carries out a request and records its answer. A repeated request gets its first answer instead (RES-9).
    ///
    /// - Parameter isRepeatable: whether clients repeat such requests after a resume.
    mutating func answering(
        _ sender: CommandSender, isRepeatable: Bool, _ now: MonotonicInstant,
        _ carryOut: (inout SessionState) -> SessionOutcome
    ) -> SessionOutcome {
        if isBanned(sender, now) { return .refused(.notInSession) }
        guard case .connection(let binding, let request?) = sender, isRepeatable, bounds.resumeWindow > .zero,
            let known = roster.update(
                binding.connectionId,
                { $0.isAttached(to: binding.socket) ? $0.answers.recall(request) : nil }) ?? nil
        else { return carryOut(&self) }
        switch known {
        case .new: break
        case .answered(let answer): return answer.outcome
        case .forgotten: return .refused(.answerForgotten)
        }
        let outcome = carryOut(&self)
        if let answer = AnswerBook.Answer(outcome) {
            roster.update(binding.connectionId) { $0.answers.record(request, answer) }
        }
        return outcome
    }
}

extension AnswerBook.Answer {
    /// `nil` for an outcome that needs no record, since its request can be repeated without harm.
    fileprivate init?(_ outcome: SessionOutcome) {
        switch outcome {
        case .signalled(let seq?): self = .signalled(seq)
        case .forceDisconnected: self = .forceDisconnected
        // They have a seq, as an acknowledged signal has.
        case .changed(let seq), .erased(let seq): self = .signalled(seq)
        case .moderated(let action, _): self = .signalled(action.seq)
        case .announced(let seq): self = .signalled(seq)
        case .refused(let error): self = .refused(error)
        case .signalled(nil), .joined, .wasForceDisconnected, .superseded, .done, .reacted, .marked, .reactors,
            .restrictions,
            .refreshed,
            .unavailable:
            return nil
        }
    }

    fileprivate var outcome: SessionOutcome {
        switch self {
        case .signalled(let seq): .signalled(seq)
        case .forceDisconnected: .forceDisconnected
        case .refused(let error): .refused(error)
        }
    }
}

extension SignalingError {
    /// The connection is not in the session, or uses another socket.
    static var notInSession: SignalingError { SignalingError(.notConnected, "not connected to the session") }

    /// The token's dates permit to resume a connection, and the client cannot resume (RES-7). The server says which of
    /// the dates it is.
    static var untimely: SignalingError {
        SignalingError(.authenticationError, "the token is refused: it has expired, or is not valid yet")
    }

    /// A repeated request that is older than the recorded answers (RES-9). To repeat it once more cannot help.
    static var answerForgotten: SignalingError {
        SignalingError(
            .illegalState,
            "the answer to this repeated request is no longer kept; the server may have carried the request out")
    }
}
