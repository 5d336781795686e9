import SignalingProtocol

// What an engine asks of a command before it carries it out.

extension SessionCommand {
    /// Whether the command can move a session's next deadline to an earlier moment.
    var movesDeadlines: Bool {
        switch self {
        // An empty session may end when its tokens have their allowances again.
        case .join, .leave, .detach, .forceDisconnect, .moderate, .react, .erase: true
        case .heard, .signal, .refreshToken, .change, .streams, .restrictions, .reactors, .read: false
        }
    }

    /// Whether the command can change what lasts, so that it belongs into the log.
    var isLogged: Bool {
        switch self {
        case .join, .leave, .detach, .heard, .forceDisconnect, .change, .react, .erase, .moderate, .streams,
            .refreshToken:
            true
        case .signal(_, let request): !request.isOnlineOnly
        case .restrictions, .reactors, .read: false
        }
    }

    /// Whether a client goes with it.
    var endsSocket: Bool {
        switch self {
        case .leave, .detach: true
        case .join, .heard, .signal, .forceDisconnect, .change, .react, .reactors, .read, .erase, .moderate, .streams,
            .restrictions, .refreshToken:
            false
        }
    }

    /// Whether the command wakes a session that sleeps (HIS-1, HIS-3, MOD-9). Any other can have no effect on it: it has no
    /// connection.
    var wakesSession: Bool {
        switch self {
        case .join, .erase(.server, _), .moderate(.server, _, _): true
        case .signal(.server, let request): !request.isOnlineOnly
        case .signal, .change, .react, .reactors, .read, .erase, .moderate, .leave, .detach, .heard, .forceDisconnect,
            .streams, .refreshToken, .restrictions:
            false
        }
    }
}

extension SessionCommand {
    /// The command, accepted at this time of the log.
    func accepted(at time: MonotonicInstant) -> SessionCommand {
        guard case .moderate(let sender, let request, var acceptance) = self else { return self }
        acceptance.moment = time
        return .moderate(sender, request, acceptance)
    }
}

extension LoggedCommand {
    /// Whether the command can move the session's next deadline to an earlier moment.
    var movesDeadlines: Bool {
        switch self {
        case .session(let command): command.movesDeadlines
        case .marked: false
        case .begin, .advance, .changeLimits, .nodeLost, .told, .archived, .end: true
        }
    }
}
