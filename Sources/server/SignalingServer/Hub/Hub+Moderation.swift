import Logging
import SignalingCore
import SignalingProtocol

/// The actions of moderators and REST, for operators.
extension Hub {
    /// Counts and logs an action that this node has submitted. The line has no reason, which is a text for a user.
    func noteModeration(_ outcome: SessionOutcome, in session: SessionID) {
        guard case .moderated(let action, let subject) = outcome else { return }
        let name = action.event.action.name
        statistics.noteModerated(name)
        var metadata: Logger.Metadata = ["action": "\(name)", "session": "\(session)"]
        switch subject {
        case .user(let user): metadata["user"] = "\(user)"
        case .guest(let connection): metadata["connection"] = "\(connection)"
        case .session: break
        }
        if let author = action.event.by {
            metadata["by"] = "\(author.user?.rawValue ?? author.connectionId.rawValue)"
        } else {
            metadata["by"] = "REST"
        }
        logger.notice("moderated a session", metadata: metadata)
    }
}
