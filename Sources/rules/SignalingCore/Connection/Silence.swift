import SignalingProtocol

/// How long a connected client has sent no line, and when it counts as lost (HB-3).
///
/// A server that was suspended (a stopped process, a paused virtual machine) has read nothing meanwhile. The lines that
/// came are still in the system's buffers when its timers fire, so it must not judge a client by that time.
enum Silence: Sendable {
    /// The last line came then. Next: `excused`.
    case since(MonotonicInstant)
    /// The server was suspended, and listens until then. Next: `since`. There is no second excuse before a line: a
    /// server that is late all the time would keep dead clients for ever.
    case excused(until: MonotonicInstant)

    /// When the client counts as lost.
    func limit(heartbeat: Duration) -> MonotonicInstant {
        switch self {
        case .since(let moment): moment.advanced(by: heartbeat.doubled)
        case .excused(let until): until
        }
    }

    /// Excuses a silence if the server itself is late: with its next ping, or with its judgement.
    ///
    /// - Parameter pingDue: when the server's next ping was or is due.
    mutating func excuse(pingDue: MonotonicInstant, heartbeat: Duration, now: MonotonicInstant) {
        let limit = limit(heartbeat: heartbeat)
        let listensUntil = now.advanced(by: heartbeat)
        guard now.duration(since: min(pingDue, limit)) >= heartbeat / 10, limit < listensUntil else { return }
        switch self {
        case .since: self = .excused(until: listensUntil)
        case .excused: break
        }
    }
}
