import SignalingProtocol

/// A session that a log has kept: its snapshot, and the commands since then carried out once more.
struct SessionReplay {
    /// `nil` if the commands end the session, or do not begin it.
    private(set) var state: SessionState?
    /// Of the last command; `nil` without a command and a snapshot.
    private(set) var position: LogPosition?

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
            state?.commandNumber = entry.position.number
            command.carryOut(on: &state, of: kept.id, at: entry.time, effects: &effects)
        }
    }
}

extension LogPosition {
    /// Whether this is the position of the command that follows the one at `other`. `nil` is before the first.
    func isNext(after other: LogPosition?) -> Bool { number == (other?.number ?? 0) + 1 }
}

extension LoggedCommand {
    /// Carries out an entry of the log on its session.
    ///
    /// - Parameter state: `nil` before the session begins and after it has ended.
    func carryOut(
        on state: inout SessionState?, of session: SessionID, at time: MonotonicInstant,
        effects: inout [SessionEffect]
    ) {
        switch self {
        case .begin(let epoch, let bounds):
            if state == nil { state = SessionState(id: session, epoch: epoch, bounds: bounds) }
        case .session(let command): _ = state?.handle(command, now: time, effects: &effects)
        case .advance: state?.advance(to: time, effects: &effects)
        case .changeLimits(let bounds): state?.changeLimits(to: bounds, now: time)
        case .nodeLost(let moment): state?.nodeLost(at: moment, now: time)
        case .told(let number): state?.told(through: number)
        case .end: if state?.isNeeded == false { state = nil }
        }
    }
}
