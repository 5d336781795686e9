import SignalingProtocol

/// A session that a log has kept: its snapshot, and the commands since then carried out once more.
struct SessionReplay {
    /// `nil` if the commands end the session, or do not begin it.
    private(set) var state: SessionState?
    /// Of the last command; `nil` without a command and a snapshot.
    private(set) var position: LogPosition?
    /// Whether a command has erased content that the commands before it may have.
    private(set) var hasErased = false

    /// - Throws: ``CodingFault`` if bytes cannot be decoded, or a number is missing or repeated (LOG-2).
    init(_ kept: KeptCommands.Session) throws(CodingFault) {
        if let snapshot = kept.snapshot {
            state = try SessionState(decoding: snapshot.bytes)
            position = snapshot.position
        }
        for entry in kept.entries {
            guard entry.position.isNext(after: position) else { throw .malformed }
            position = entry.position
            let command = try LoggedCommand(decoding: entry.bytes)
            var effects: [SessionEffect] = []
            if command.carryOut(on: &state, as: entry, effects: &effects).hasErased { hasErased = true }
        }
    }
}

extension LogPosition {
    /// Whether this is the position of the command that follows the one at `other`. `nil` is before the first.
    func isNext(after other: LogPosition?) -> Bool { number == (other?.number ?? 0) + 1 }
}

extension LoggedCommand {
    /// Carries out a command on its session, as an entry of the log.
    ///
    /// - Parameter state: `nil` before the session begins and after it has ended.
    /// - Returns: the outcome; `nil` for a command without one, and without a session. And whether content was erased that
    ///   earlier commands may have: a refused command has erased nothing.
    @discardableResult
    func carryOut(
        on state: inout SessionState?, as entry: CommandEntry, effects: inout [SessionEffect]
    ) -> (outcome: SessionOutcome?, hasErased: Bool) {
        let mayErase = mayErase(state)
        let outcome = outcome(on: &state, as: entry, effects: &effects)
        return (outcome, mayErase && outcome?.hasErased ?? false)
    }

    private func outcome(
        on state: inout SessionState?, as entry: CommandEntry, effects: inout [SessionEffect]
    ) -> SessionOutcome? {
        let rules = LoggedCommand.rules(of: entry.bytes)
        state?.beginCommand(at: entry.position, by: rules)
        switch self {
        case .begin(let epoch, let bounds, let seq):
            if state != nil { break }
            var new = SessionState(id: entry.session, epoch: epoch, after: seq, bounds: bounds, rules: rules)
            new.beginCommand(at: entry.position, by: rules)
            state = new
        case .session(let command): return state?.handle(command, now: entry.time, effects: &effects)
        case .advance: state?.advance(to: entry.time, effects: &effects)
        case .changeLimits(let bounds): state?.changeLimits(to: bounds, now: entry.time)
        case .nodeLost(let run, let moment): state?.nodeLost(run, at: moment, now: entry.time)
        case .told(let number): state?.told(through: number)
        case .archived(let seq): state?.archived(through: seq)
        case .marked(let markers): state?.mark(markers, effects: &effects)
        case .end:
            guard state?.isNeeded == false else { break }
            if state?.mustSleep(at: entry.time) == true { state?.sleep() } else { state = nil }
        }
        return nil
    }
}

extension SessionOutcome {
    /// Whether a command that erases has taken effect.
    fileprivate var hasErased: Bool {
        switch self {
        case .erased, .moderated: true
        case .joined, .signalled, .changed, .reacted, .marked, .reactors, .announced, .forceDisconnected, .restrictions,
            .refreshed, .refused, .done,
            .wasForceDisconnected, .superseded, .unavailable:
            false
        }
    }
}
